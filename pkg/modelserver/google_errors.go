package modelserver

import (
	"net/http"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// googleError is an error body. Its keys stand in the API's own order, because some CLIs print the body as it is.
type googleError struct {
	Error struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
	} `json:"error"`
}

// googleStatuses are the API's own names of what went wrong. They follow from the HTTP status.
var googleStatuses = map[int]string{
	http.StatusBadRequest:          "INVALID_ARGUMENT",
	http.StatusUnauthorized:        "UNAUTHENTICATED",
	http.StatusForbidden:           "PERMISSION_DENIED",
	http.StatusNotFound:            "NOT_FOUND",
	http.StatusConflict:            "ABORTED",
	http.StatusTooManyRequests:     "RESOURCE_EXHAUSTED",
	499:                            "CANCELLED",
	http.StatusInternalServerError: "INTERNAL",
	http.StatusNotImplemented:      "UNIMPLEMENTED",
	http.StatusServiceUnavailable:  "UNAVAILABLE",
	http.StatusGatewayTimeout:      "DEADLINE_EXCEEDED",
}

func (googleGenerate) failure(_ ids, e contract.ErrorStep) []byte {
	var body googleError
	body.Error.Code, body.Error.Message = e.Status, e.Message
	body.Error.Status = "UNKNOWN"
	if status, ok := googleStatuses[e.Status]; ok {
		body.Error.Status = status
	}
	return marshal(body)
}

func (googleGenerate) listing(model string, _ int64) []byte {
	return marshal(fields{"models": []any{fields{
		"name":                       "models/" + model,
		"version":                    "001",
		"displayName":                model,
		"description":                "",
		"inputTokenLimit":            1048576,
		"outputTokenLimit":           65536,
		"supportedGenerationMethods": []any{"generateContent", "countTokens"},
	}}})
}

func (googleGenerate) count(tokens int) []byte {
	return marshal(fields{"totalTokens": tokens})
}
