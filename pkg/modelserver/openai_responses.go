package modelserver

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// openaiResponses is the OpenAI Responses API: POST /v1/responses, answered with server-sent events or one object.
type openaiResponses struct{ openai }

func (openaiResponses) match(h head) endpoint {
	switch {
	case h.method == http.MethodPost && h.path == "/v1/responses":
		return endpointModel
	case h.method == http.MethodPost && h.path == "/v1/responses/input_tokens":
		return endpointCount
	case h.method == http.MethodGet && h.path == "/v1/models":
		return endpointListing
	case h.method == http.MethodGet && h.path == "/v1/responses" && strings.EqualFold(h.header.Get("Upgrade"), "websocket"):
		return endpointUpgrade
	}
	return endpointUnknown
}

// responsesTool is a tool as a request offers it. A namespace holds tools of its own.
type responsesTool struct {
	Type  string          `json:"type"`
	Name  string          `json:"name"`
	Tools []responsesTool `json:"tools"`
}

func (openaiResponses) parse(_ head, body []byte) (request, error) {
	var in struct {
		Model        string          `json:"model"`
		Stream       bool            `json:"stream"`
		Instructions json.RawMessage `json:"instructions"`
		Input        json.RawMessage `json:"input"`
		MaxTokens    int             `json:"max_output_tokens"`
		Tools        []responsesTool `json:"tools"`
	}
	// The decoder's own messages may quote the body, so they go no further.
	if err := json.Unmarshal(body, &in); err != nil {
		return request{}, errors.New("the body is not a Responses request in JSON")
	}
	if in.Model == "" || len(in.Input) == 0 {
		return request{}, errors.New("the body lacks model or input")
	}
	tools, err := responsesInputTools(in.Input)
	if err != nil {
		return request{}, err
	}
	return request{
		model:        in.Model,
		stream:       in.Stream,
		offered:      responsesOffered(append(in.Tools, tools...), ""),
		limit:        in.MaxTokens,
		instructions: plainText(in.Instructions),
	}, nil
}

// responsesInputTools returns the tools that a request offers inside its input: for some models all of them come
// as an item of the conversation, and for some more are added as it goes on.
func responsesInputTools(input json.RawMessage) ([]responsesTool, error) {
	if input[0] != '[' {
		return nil, nil // a plain string
	}
	var items []struct {
		Type  string          `json:"type"`
		Tools json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(input, &items); err != nil {
		return nil, errors.New("the input is not a list of items")
	}
	var out []responsesTool
	for _, item := range items {
		if item.Type != "additional_tools" && item.Type != "tool_search_output" || item.Tools == nil {
			continue
		}
		var tools []responsesTool
		if err := json.Unmarshal(item.Tools, &tools); err != nil {
			return nil, errors.New("an input item offers tools in an unknown form")
		}
		out = append(out, tools...)
	}
	return out, nil
}

// responsesOffered flattens a request's tools. The API's own tools have no name; their type is their name.
func responsesOffered(tools []responsesTool, namespace string) []offeredTool {
	var out []offeredTool
	for _, tool := range tools {
		switch tool.Type {
		case "namespace":
			out = append(out, responsesOffered(tool.Tools, offeredTool{name: tool.Name, namespace: namespace}.listed())...)
		case "function":
			out = append(out, offeredTool{name: tool.Name, namespace: namespace, kind: toolFunction})
		case "custom":
			out = append(out, offeredTool{name: tool.Name, namespace: namespace, kind: toolCustom})
		case "local_shell":
			out = append(out, offeredTool{name: tool.Type, namespace: namespace, kind: toolShell})
		default:
			out = append(out, offeredTool{name: tool.Type, namespace: namespace, kind: toolHosted})
		}
	}
	return out
}

func (openaiResponses) count(tokens int) []byte {
	return marshal(fields{"object": "response.input_tokens", "input_tokens": tokens})
}

func (openaiResponses) whole(a answer) []byte {
	var output []any
	if item := responsesItem(a, "completed"); item != nil {
		output = append(output, item)
	}
	return marshal(responsesObject(a, "completed", output))
}
