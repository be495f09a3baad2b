package modelserver

import (
	"strings"
	"unicode/utf8"
)

// anthropicStream collects the events of one answer.
type anthropicStream struct{ events []event }

func (s *anthropicStream) add(name string, f fields) {
	f["type"] = name
	s.events = append(s.events, event{name: name, data: marshal(f)})
}

func (anthropicMessages) stream(a answer) []event {
	var s anthropicStream
	started := anthropicMessage(a, []any{}, nil)
	started["usage"] = anthropicMessageUsage(a, 1) // the API counts the start of an answer as one token
	s.add("message_start", fields{"message": started})
	if block := anthropicBlock(a); block != nil {
		empty, deltas := fields{"type": "text", "text": ""}, []fields(nil)
		for _, text := range a.text {
			deltas = append(deltas, fields{"type": "text_delta", "text": text})
		}
		if a.call != nil {
			empty = fields{"type": "tool_use", "id": block["id"], "name": block["name"], "input": fields{}}
			deltas = nil
			for _, piece := range pieces(string(marshal(a.call.arguments))) {
				deltas = append(deltas, fields{"type": "input_json_delta", "partial_json": piece})
			}
		}
		s.add("content_block_start", fields{"index": 0, "content_block": empty})
		s.add("ping", fields{})
		for _, delta := range deltas {
			s.add("content_block_delta", fields{"index": 0, "delta": delta})
		}
		if a.partial {
			return s.events
		}
		s.add("content_block_stop", fields{"index": 0})
	}
	if a.partial {
		return s.events
	}
	s.add("message_delta", fields{
		"delta": fields{"stop_reason": anthropicStop(a), "stop_sequence": nil},
		"usage": anthropicUsage(a, a.usage.OutputTokens),
	})
	s.add("message_stop", fields{})
	return s.events
}

// pieces cuts the JSON of arguments as the API does: nothing first, then parts that are no JSON by themselves.
func pieces(text string) []string {
	half := len(text) / 2
	for half > 0 && !utf8.RuneStart(text[half]) {
		half--
	}
	return []string{"", text[:half], text[half:]}
}

func (anthropicMessages) whole(a answer) []byte {
	content := []any{}
	if block := anthropicBlock(a); block != nil {
		content = append(content, block)
	}
	return marshal(anthropicMessage(a, content, anthropicStop(a)))
}

// anthropicMessage is the message itself; stop is nil while it is not complete.
func anthropicMessage(a answer, content []any, stop any) fields {
	return fields{
		"id":            a.ids.make("msg"),
		"type":          "message",
		"role":          "assistant",
		"model":         a.model,
		"content":       content,
		"stop_reason":   stop,
		"stop_sequence": nil,
		"usage":         anthropicMessageUsage(a, a.usage.OutputTokens),
	}
}

// anthropicBlock is the content block of an answer, or nil for an answer without content.
func anthropicBlock(a answer) fields {
	switch {
	case a.call != nil:
		return fields{"type": "tool_use", "id": a.ids.make("toolu"), "name": a.call.tool.name, "input": a.call.arguments}
	case len(a.text) == 0:
		return nil
	}
	return fields{"type": "text", "text": strings.Join(a.text, "")}
}

func anthropicStop(a answer) string {
	if a.call != nil {
		return "tool_use"
	}
	return "end_turn"
}

// anthropicUsage counts cached input apart from the rest; reasoning is part of the output.
func anthropicUsage(a answer, output int) fields {
	return fields{
		"input_tokens":                max(0, a.usage.InputTokens-a.usage.CachedTokens),
		"cache_creation_input_tokens": 0,
		"cache_read_input_tokens":     a.usage.CachedTokens,
		"output_tokens":               output,
	}
}

// anthropicMessageUsage is the usage of a message; the one that closes a stream lacks how the cache was written.
func anthropicMessageUsage(a answer, output int) fields {
	usage := anthropicUsage(a, output)
	usage["cache_creation"] = fields{"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}
	usage["service_tier"] = "standard"
	return usage
}
