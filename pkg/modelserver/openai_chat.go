package modelserver

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// openaiChat is the OpenAI Chat Completions API: POST /v1/chat/completions, answered with server-sent events or one
// object. Many vendors speak it.
type openaiChat struct{ openai }

func (openaiChat) match(h head) endpoint {
	switch {
	case h.method == http.MethodPost && h.path == "/v1/chat/completions":
		return endpointModel
	case h.method == http.MethodGet && h.path == "/v1/models":
		return endpointListing
	}
	return endpointUnknown
}

func (openaiChat) parse(_ head, body []byte) (request, error) {
	var in struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Stream  bool `json:"stream"`
		Options struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
		MaxTokens           int `json:"max_tokens"`
		MaxCompletionTokens int `json:"max_completion_tokens"`
		Tools               []struct {
			Type     string `json:"type"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	// The decoder's own messages may quote the body, so they go no further.
	if err := json.Unmarshal(body, &in); err != nil {
		return request{}, errors.New("the body is not a Chat Completions request in JSON")
	}
	if in.Model == "" || len(in.Messages) == 0 {
		return request{}, errors.New("the body lacks model or messages")
	}
	req := request{model: in.Model, stream: in.Stream, streamUsage: in.Options.Usage, limit: max(in.MaxTokens, in.MaxCompletionTokens)}
	var instructions []string
	for _, message := range in.Messages {
		if message.Role == "system" || message.Role == "developer" {
			instructions = append(instructions, plainText(message.Content))
		}
	}
	req.instructions = strings.Join(instructions, "\n")
	for _, tool := range in.Tools {
		if tool.Type == "function" {
			req.offered = append(req.offered, offeredTool{name: tool.Function.Name, kind: toolFunction})
		} else {
			req.offered = append(req.offered, offeredTool{name: tool.Type})
		}
	}
	return req, nil
}

func (openaiChat) stream(a answer) []event {
	var events []event
	add := func(choices []any, usage any) {
		f := fields{"id": a.ids.make("chatcmpl"), "object": "chat.completion.chunk", "created": a.created, "model": a.model, "choices": choices}
		if a.streamUsage {
			f["usage"] = usage
		}
		events = append(events, event{data: marshal(f)})
	}
	delta := func(d fields, finish any) {
		add([]any{fields{"index": 0, "delta": d, "logprobs": nil, "finish_reason": finish}}, nil)
	}

	if a.call != nil {
		opened := chatCall(a, "")
		opened["index"] = 0
		delta(fields{"role": "assistant", "content": nil, "tool_calls": []any{opened}}, nil)
		delta(fields{"tool_calls": []any{fields{"index": 0, "function": fields{"arguments": string(marshal(a.call.arguments))}}}}, nil)
	} else {
		delta(fields{"role": "assistant", "content": ""}, nil)
		for _, text := range a.text {
			delta(fields{"content": text}, nil)
		}
	}
	if a.partial {
		return events
	}
	delta(fields{}, chatFinish(a))
	if a.streamUsage {
		add([]any{}, chatUsage(a))
	}
	return append(events, event{data: []byte("[DONE]")})
}

func (openaiChat) whole(a answer) []byte {
	message := fields{"role": "assistant", "content": strings.Join(a.text, ""), "refusal": nil}
	if a.call != nil {
		message["content"] = nil
		message["tool_calls"] = []any{chatCall(a, string(marshal(a.call.arguments)))}
	}
	return marshal(fields{
		"id":      a.ids.make("chatcmpl"),
		"object":  "chat.completion",
		"created": a.created,
		"model":   a.model,
		"choices": []any{fields{"index": 0, "message": message, "logprobs": nil, "finish_reason": chatFinish(a)}},
		"usage":   chatUsage(a),
	})
}

func chatCall(a answer, arguments string) fields {
	return fields{"id": a.ids.make("call"), "type": "function", "function": fields{"name": a.call.tool.name, "arguments": arguments}}
}

func chatFinish(a answer) string {
	if a.call != nil {
		return "tool_calls"
	}
	return "stop"
}

func chatUsage(a answer) fields {
	return fields{
		"prompt_tokens":             a.usage.InputTokens,
		"prompt_tokens_details":     fields{"cached_tokens": a.usage.CachedTokens},
		"completion_tokens":         a.usage.OutputTokens,
		"completion_tokens_details": fields{"reasoning_tokens": a.usage.ReasoningTokens},
		"total_tokens":              a.usage.InputTokens + a.usage.OutputTokens,
	}
}
