package modelserver

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// googleGenerate is the Gemini API: POST /v1beta/models/MODEL:streamGenerateContent?alt=sse, answered with
// server-sent events, or :generateContent, answered with one object.
type googleGenerate struct{}

// googleModels is the path of all models; a model's method stands behind its id and a colon.
const googleModels = "/v1beta/models"

// googleMethod splits the path of a call on a model.
func googleMethod(path string) (model, method string) {
	rest, ok := strings.CutPrefix(path, googleModels+"/")
	i := strings.LastIndexByte(rest, ':')
	if !ok || i < 1 {
		return "", ""
	}
	return rest[:i], rest[i+1:]
}

func (googleGenerate) match(h head) endpoint {
	if h.method == http.MethodGet && h.path == googleModels {
		return endpointListing
	}
	if h.method != http.MethodPost {
		return endpointUnknown
	}
	_, method := googleMethod(h.path)
	switch {
	case method == "generateContent":
		return endpointModel
	// Without alt=sse the API streams the elements of a JSON array, which no known CLI asks for.
	case method == "streamGenerateContent" && h.query.Get("alt") == "sse":
		return endpointModel
	case method == "countTokens":
		return endpointCount
	}
	return endpointUnknown
}

func (googleGenerate) requestID() string { return "X-Request-Id" }

func (googleGenerate) parse(h head, body []byte) (request, error) {
	var in struct {
		Contents json.RawMessage `json:"contents"`
		System   struct {
			Parts json.RawMessage `json:"parts"`
		} `json:"systemInstruction"`
		Config struct {
			MaxOutputTokens int `json:"maxOutputTokens"`
		} `json:"generationConfig"`
		Tools []map[string]json.RawMessage `json:"tools"`
	}
	// The decoder's own messages may quote the body, so they go no further.
	if err := json.Unmarshal(body, &in); err != nil {
		return request{}, errors.New("the body is not a generateContent request in JSON")
	}
	if len(in.Contents) == 0 {
		return request{}, errors.New("the body lacks contents")
	}
	model, method := googleMethod(h.path)
	req := request{model: model, stream: method == "streamGenerateContent", limit: in.Config.MaxOutputTokens, instructions: plainText(in.System.Parts)}
	for _, tool := range in.Tools {
		// An element holds tools of one or several kinds, each under its own key.
		for _, kind := range slices.Sorted(maps.Keys(tool)) {
			if kind != "functionDeclarations" {
				req.offered = append(req.offered, offeredTool{name: kind})
				continue
			}
			var functions []struct {
				Name string `json:"name"`
			}
			if err := json.Unmarshal(tool[kind], &functions); err != nil {
				return request{}, errors.New("the function declarations have an unknown form")
			}
			for _, function := range functions {
				req.offered = append(req.offered, offeredTool{name: function.Name, kind: toolFunction})
			}
		}
	}
	return req, nil
}

func (googleGenerate) stream(a answer) []event {
	var events []event
	add := func(last bool, parts ...any) {
		events = append(events, event{data: marshal(googleResponse(a, last, parts))})
	}
	for i, text := range a.text {
		add(i == len(a.text)-1 && !a.partial, fields{"text": text})
	}
	switch {
	case a.call != nil:
		add(true, googleCall(a))
	case len(a.text) == 0 && !a.partial:
		add(true)
	}
	return events
}

func (googleGenerate) whole(a answer) []byte {
	var parts []any
	switch {
	case a.call != nil:
		parts = append(parts, googleCall(a))
	case len(a.text) > 0:
		parts = append(parts, fields{"text": strings.Join(a.text, "")})
	}
	return marshal(googleResponse(a, true, parts))
}

func googleCall(a answer) fields {
	return fields{"functionCall": fields{"id": a.ids.make("call"), "name": a.call.tool.name, "args": a.call.arguments}}
}

// googleResponse is one piece of an answer, or all of it. The last piece says why the answer ends.
func googleResponse(a answer, last bool, parts []any) fields {
	content := fields{"role": "model"}
	if len(parts) > 0 {
		content["parts"] = parts
	}
	candidate := fields{"content": content, "index": 0}
	if last {
		candidate["finishReason"] = "STOP"
	}
	return fields{
		"candidates":    []any{candidate},
		"usageMetadata": googleUsage(a.usage),
		"modelVersion":  a.model,
		"responseId":    a.ids.make("resp"),
	}
}

// googleUsage counts reasoning apart from the answer; cached input is part of the input.
func googleUsage(u contract.Usage) fields {
	f := fields{
		"promptTokenCount":     u.InputTokens,
		"candidatesTokenCount": max(0, u.OutputTokens-u.ReasoningTokens),
		"totalTokenCount":      u.InputTokens + u.OutputTokens,
	}
	// The API leaves out what is zero here.
	if u.CachedTokens > 0 {
		f["cachedContentTokenCount"] = u.CachedTokens
	}
	if u.ReasoningTokens > 0 {
		f["thoughtsTokenCount"] = u.ReasoningTokens
	}
	return f
}
