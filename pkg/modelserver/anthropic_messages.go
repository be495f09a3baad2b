package modelserver

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// anthropicMessages is the Anthropic Messages API: POST /v1/messages, answered with server-sent events or one object.
type anthropicMessages struct{}

func (anthropicMessages) match(h head) endpoint {
	switch {
	case h.method == http.MethodPost && h.path == "/v1/messages":
		return endpointModel
	case h.method == http.MethodPost && h.path == "/v1/messages/count_tokens":
		return endpointCount
	case h.method == http.MethodGet && h.path == "/v1/models":
		return endpointListing
	}
	return endpointUnknown
}

func (anthropicMessages) requestID() string { return "Request-Id" }

func (anthropicMessages) parse(_ head, body []byte) (request, error) {
	var in struct {
		Model     string            `json:"model"`
		Messages  []json.RawMessage `json:"messages"`
		System    json.RawMessage   `json:"system"`
		MaxTokens int               `json:"max_tokens"`
		Stream    bool              `json:"stream"`
		Tools     []struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"tools"`
	}
	// The decoder's own messages may quote the body, so they go no further.
	if err := json.Unmarshal(body, &in); err != nil {
		return request{}, errors.New("the body is not a Messages request in JSON")
	}
	if in.Model == "" || len(in.Messages) == 0 {
		return request{}, errors.New("the body lacks model or messages")
	}
	req := request{model: in.Model, stream: in.Stream, limit: in.MaxTokens, instructions: plainText(in.System)}
	for _, tool := range in.Tools {
		switch {
		case tool.Name == "":
			req.offered = append(req.offered, offeredTool{name: tool.Type})
		case anthropicRunsInClient(tool.Type):
			req.offered = append(req.offered, offeredTool{name: tool.Name, kind: toolFunction})
		default:
			req.offered = append(req.offered, offeredTool{name: tool.Name})
		}
	}
	return req, nil
}

// anthropicRunsInClient tells tools that the CLI runs from those that the vendor runs. Besides a CLI's own tools
// these are the ones whose arguments the vendor has defined; their types end in a date.
func anthropicRunsInClient(kind string) bool {
	if kind == "" || kind == "custom" {
		return true
	}
	return slices.ContainsFunc([]string{"bash_", "text_editor_", "computer_", "memory_"}, func(prefix string) bool {
		return strings.HasPrefix(kind, prefix)
	})
}

// anthropicError is an error body. Its keys stand in the API's own order, because some CLIs print the body as it is.
type anthropicError struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	RequestID string `json:"request_id"`
}

// anthropicErrorTypes are the API's own types by status. CLIs decide by them, so a type that the API does not have
// becomes the one that belongs to the status.
var anthropicErrorTypes = map[int]string{
	http.StatusBadRequest:            "invalid_request_error",
	http.StatusUnauthorized:          "authentication_error",
	http.StatusPaymentRequired:       "billing_error",
	http.StatusForbidden:             "permission_error",
	http.StatusNotFound:              "not_found_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:       "rate_limit_error",
	http.StatusInternalServerError:   "api_error",
	http.StatusGatewayTimeout:        "timeout_error",
	529:                              "overloaded_error",
}

func anthropicErrorType(e contract.ErrorStep) string {
	for _, own := range anthropicErrorTypes {
		if e.Type == own {
			return own
		}
	}
	if own, ok := anthropicErrorTypes[e.Status]; ok {
		return own
	}
	if e.Status < http.StatusInternalServerError {
		return "invalid_request_error"
	}
	return "api_error"
}

func (anthropicMessages) failure(id ids, e contract.ErrorStep) []byte {
	body := anthropicError{Type: "error", RequestID: id.make("req")}
	body.Error.Type, body.Error.Message = anthropicErrorType(e), e.Message
	return marshal(body)
}

func (anthropicMessages) listing(model string, created int64) []byte {
	return marshal(fields{
		"data": []any{fields{
			"type":         "model",
			"id":           model,
			"display_name": model,
			"created_at":   time.Unix(created, 0).UTC().Format(time.RFC3339),
		}},
		"has_more": false,
		"first_id": model,
		"last_id":  model,
	})
}

func (anthropicMessages) count(tokens int) []byte {
	return marshal(fields{"input_tokens": tokens})
}
