package modelserver

import "strings"

// responsesStream collects the events of one answer and numbers them.
type responsesStream struct{ events []event }

func (s *responsesStream) add(name string, f fields) {
	f["type"] = name
	f["sequence_number"] = len(s.events)
	s.events = append(s.events, event{name: name, data: marshal(f)})
}

func (openaiResponses) stream(a answer) []event {
	var s responsesStream
	started := responsesObject(a, "in_progress", nil)
	s.add("response.created", fields{"response": started})
	s.add("response.in_progress", fields{"response": started})

	var output []any
	if item := responsesItem(a, "completed"); item != nil {
		s.add("response.output_item.added", fields{"output_index": 0, "item": responsesItem(a, "in_progress")})
		if a.call == nil {
			s.text(a, item)
		} else {
			s.arguments(item)
		}
		if a.partial {
			return s.events
		}
		s.add("response.output_item.done", fields{"output_index": 0, "item": item})
		output = append(output, item)
	}
	if !a.partial {
		s.add("response.completed", fields{"response": responsesObject(a, "completed", output)})
	}
	return s.events
}

// text adds the events between the start and the end of a message.
func (s *responsesStream) text(a answer, item fields) {
	at := func(more fields) fields {
		f := fields{"item_id": item["id"], "output_index": 0, "content_index": 0}
		for k, v := range more {
			f[k] = v
		}
		return f
	}
	s.add("response.content_part.added", at(fields{"part": responsesText("")}))
	for _, delta := range a.text {
		s.add("response.output_text.delta", at(fields{"delta": delta, "logprobs": []any{}}))
	}
	if a.partial {
		return
	}
	text := strings.Join(a.text, "")
	s.add("response.output_text.done", at(fields{"text": text, "logprobs": []any{}}))
	s.add("response.content_part.done", at(fields{"part": responsesText(text)}))
}

// arguments adds the events between the start and the end of a tool call, where the API has any.
func (s *responsesStream) arguments(item fields) {
	add := func(name, key string) {
		s.add(name+".delta", fields{"item_id": item["id"], "output_index": 0, "delta": item[key]})
		s.add(name+".done", fields{"item_id": item["id"], "output_index": 0, key: item[key]})
	}
	switch item["type"] {
	case "function_call":
		add("response.function_call_arguments", "arguments")
	case "custom_tool_call":
		add("response.custom_tool_call_input", "input")
	}
}

// responsesItem is the output item of an answer, or nil for an answer without content. With status "in_progress"
// it is still empty, as the event that opens it has it.
func responsesItem(a answer, status string) fields {
	switch {
	case a.call != nil:
		return responsesCall(a, status)
	case len(a.text) == 0:
		return nil
	}
	content := []any{}
	if status == "completed" {
		content = append(content, responsesText(strings.Join(a.text, "")))
	}
	return fields{"type": "message", "id": a.ids.make("msg"), "status": status, "role": "assistant", "content": content}
}

func responsesCall(a answer, status string) fields {
	item := fields{"call_id": a.ids.make("call"), "status": status}
	done := status == "completed"
	switch a.call.tool.kind {
	case toolShell:
		item["type"], item["id"] = "local_shell_call", a.ids.make("lsh")
		item["action"] = a.call.arguments
		return item
	case toolCustom:
		item["type"], item["id"], item["input"] = "custom_tool_call", a.ids.make("ctc"), ""
		if done {
			item["input"] = a.call.arguments["input"]
		}
	default:
		item["type"], item["id"], item["arguments"] = "function_call", a.ids.make("fc"), ""
		if done {
			item["arguments"] = string(marshal(a.call.arguments))
		}
	}
	item["name"] = a.call.tool.name
	if a.call.tool.namespace != "" {
		item["namespace"] = a.call.tool.namespace
	}
	return item
}

func responsesText(text string) fields {
	return fields{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

// responsesObject is the response itself. Usage comes with the end of it.
func responsesObject(a answer, status string, output []any) fields {
	if output == nil {
		output = []any{}
	}
	f := fields{
		"id":                  a.ids.make("resp"),
		"object":              "response",
		"created_at":          a.created,
		"status":              status,
		"error":               nil,
		"incomplete_details":  nil,
		"instructions":        nil,
		"metadata":            fields{},
		"model":               a.model,
		"output":              output,
		"parallel_tool_calls": false,
		"tool_choice":         "auto",
		"tools":               []any{},
		"usage":               nil,
	}
	if status == "completed" {
		f["usage"] = fields{
			"input_tokens":          a.usage.InputTokens,
			"input_tokens_details":  fields{"cached_tokens": a.usage.CachedTokens},
			"output_tokens":         a.usage.OutputTokens,
			"output_tokens_details": fields{"reasoning_tokens": a.usage.ReasoningTokens},
			"total_tokens":          a.usage.InputTokens + a.usage.OutputTokens,
		}
	}
	return f
}
