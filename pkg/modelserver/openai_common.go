package modelserver

import "github.com/open-design/agent-cli-contracts/pkg/contract"

// openai is what all of OpenAI's APIs share.
type openai struct{}

func (openai) requestID() string { return "X-Request-Id" }

// openaiError is an error body. Its keys stand in the API's own order, because some CLIs print the body as it is.
type openaiError struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	} `json:"error"`
}

func (openai) failure(_ ids, e contract.ErrorStep) []byte {
	var body openaiError
	body.Error.Message, body.Error.Type, body.Error.Code = e.Message, e.Type, e.Type
	return marshal(body)
}

func (openai) listing(model string, created int64) []byte {
	return marshal(fields{"object": "list", "data": []any{fields{
		"id":       model,
		"object":   "model",
		"created":  created,
		"owned_by": "script",
	}}})
}
