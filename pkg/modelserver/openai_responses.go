package modelserver

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// openaiResponses is the OpenAI Responses API: POST /v1/responses, answered with server-sent events or one object.
type openaiResponses struct{}

func (openaiResponses) match(method, path string, header http.Header) endpoint {
	switch {
	case method == http.MethodPost && path == "/v1/responses":
		return endpointModel
	case method == http.MethodGet && path == "/v1/models":
		return endpointListing
	case method == http.MethodGet && path == "/v1/responses" && strings.EqualFold(header.Get("Upgrade"), "websocket"):
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

func (openaiResponses) parse(_ string, body []byte) (request, error) {
	var in struct {
		Model  string          `json:"model"`
		Stream bool            `json:"stream"`
		Input  json.RawMessage `json:"input"`
		Tools  []responsesTool `json:"tools"`
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
	return request{model: in.Model, stream: in.Stream, offered: responsesOffered(append(in.Tools, tools...), "")}, nil
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

// responsesError is an error body. Its keys stand in the API's own order, because some CLIs print the body as it is.
type responsesError struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	} `json:"error"`
}

func (openaiResponses) failure(e contract.ErrorStep) []byte {
	var body responsesError
	body.Error.Message, body.Error.Type, body.Error.Code = e.Message, e.Type, e.Type
	return marshal(body)
}

func (openaiResponses) listing(model string, created int64) []byte {
	return marshal(map[string]any{"object": "list", "data": []any{map[string]any{
		"id":       model,
		"object":   "model",
		"created":  created,
		"owned_by": "script",
	}}})
}

func (openaiResponses) whole(a answer) []byte {
	var output []any
	if item := responsesItem(a, "completed"); item != nil {
		output = append(output, item)
	}
	return marshal(responsesObject(a, "completed", output))
}
