package modelserver

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// api is one model API as a client sees it: what a test needs to speak it.
type api struct {
	dialect   string
	path      func(stream bool) string
	body      func(stream bool, tools ...string) string
	aside     string // a request with a small limit and the instructions "You write titles."
	hosted    string // a tool that the vendor runs, as JSON; {name} in tools is a CLI's own
	tool      string
	requestID string

	listing, listed string // path, and the body
	count, counted  string // path and body; empty where the API counts no tokens
	failure, limit  string // bodies of the errors in TestDialectErrors
	malformed       []string
}

var apis = []api{
	{
		dialect: "anthropic-messages", requestID: "Request-Id",
		path: func(bool) string { return "/v1/messages?beta=true" },
		body: func(stream bool, tools ...string) string {
			return `{"model":"test-model","max_tokens":32000,"messages":[{"role":"user","content":"hi"}],"system":[{"type":"text","text":"You code."}],` + wantStream(stream) + `"tools":[` + strings.Join(tools, ",") + `]}`
		},
		aside:   `{"model":"small","max_tokens":1,"messages":[{}],"system":[{"type":"text","text":"Be brief."},{"type":"text","text":"You write titles."}]}`,
		tool:    `{"name":"{name}","input_schema":{}}`,
		hosted:  `{"type":"web_search_20250305","name":"run"}`,
		listing: "/v1/models", listed: `{"data":[{"created_at":"2023-11-14T22:13:20Z","display_name":"test-model","id":"test-model","type":"model"}],"first_id":"test-model","has_more":false,"last_id":"test-model"}`,
		count: "/v1/messages/count_tokens", counted: `{"input_tokens":10}`,
		failure:   `{"type":"error","error":{"type":"authentication_error","message":"No <way>."},"request_id":"req_cnry_1"}`,
		limit:     `{"type":"error","error":{"type":"rate_limit_error","message":"Slow."},"request_id":"req_cnry_2"}`,
		malformed: []string{`{`, ``, `[]`, `{"messages":[{}]}`, `{"model":"m","messages":[]}`, `{"model":1,"messages":[{}]}`, `{"model":"m","messages":[{}],"tools":[1]}`, `{"model":"m","input":"x"}`},
	},
	{
		dialect: "openai-chat", requestID: "X-Request-Id",
		path: func(bool) string { return "/v1/chat/completions" },
		body: func(stream bool, tools ...string) string {
			return `{"model":"test-model","messages":[{"role":"system","content":"You code."},{"role":"user","content":[{"type":"text","text":"You write titles."}]}],` + wantStream(stream) + `"tools":[` + strings.Join(tools, ",") + `]}`
		},
		aside:   `{"model":"small","max_completion_tokens":1,"messages":[{"role":"developer","content":"You write titles."}]}`,
		tool:    `{"type":"function","function":{"name":"{name}"}}`,
		hosted:  `{"type":"run"}`,
		listing: "/v1/models", listed: `{"data":[{"created":1700000000,"id":"test-model","object":"model","owned_by":"script"}],"object":"list"}`,
		failure:   `{"error":{"message":"No <way>.","type":"invalid_api_key","param":null,"code":"invalid_api_key"}}`,
		limit:     `{"error":{"message":"Slow.","type":"rate_limit_exceeded","param":null,"code":"rate_limit_exceeded"}}`,
		malformed: []string{`{`, ``, `[]`, `{"messages":[{"role":"user"}]}`, `{"model":"m","messages":[]}`, `{"model":"m","messages":[1]}`, `{"model":"m","messages":[{}],"tools":{}}`, `{"model":"m","input":"x"}`},
	},
	{
		dialect: "gemini-generate", requestID: "X-Request-Id",
		path: func(stream bool) string {
			if stream {
				return "/v1beta/models/test-model:streamGenerateContent?alt=sse"
			}
			return "/v1beta/models/test-model:generateContent"
		},
		body: func(_ bool, tools ...string) string {
			list := `{"googleSearch":{}}`
			if len(tools) > 0 {
				list = tools[0] // one element, as CLIs send it
			}
			return `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"systemInstruction":{"parts":[{"text":"You code."}]},"tools":[` + list + `]}`
		},
		aside:   `{"contents":[{}],"systemInstruction":{"parts":[{"text":"You write titles."}]},"generationConfig":{"maxOutputTokens":1}}`,
		tool:    `{"functionDeclarations":[{"name":"other"},{"name":"{name}"}]}`,
		hosted:  `{"run":{}}`,
		listing: "/v1beta/models", listed: `{"models":[{"description":"","displayName":"test-model","inputTokenLimit":1048576,"name":"models/test-model","outputTokenLimit":65536,"supportedGenerationMethods":["generateContent","countTokens"],"version":"001"}]}`,
		count: "/v1beta/models/test-model:countTokens", counted: `{"totalTokens":10}`,
		failure:   `{"error":{"code":401,"message":"No <way>.","status":"UNAUTHENTICATED"}}`,
		limit:     `{"error":{"code":429,"message":"Slow.","status":"RESOURCE_EXHAUSTED"}}`,
		malformed: []string{`{`, ``, `[]`, `{}`, `{"contents":[],"tools":[{"functionDeclarations":{}}]}`, `{"model":"m","messages":[{}]}`},
	},
}

func wantStream(stream bool) string {
	if stream {
		return `"stream":true,`
	}
	return ""
}

func (a api) config(steps ...contract.ScriptStep) Config {
	cfg := testConfig(steps...)
	cfg.Dialect = a.dialect
	return cfg
}

func (a api) own(name string) string { return strings.ReplaceAll(a.tool, "{name}", name) }

// eachAPI runs a test for every API, side by side.
func eachAPI(t *testing.T, test func(t *testing.T, a api)) {
	t.Helper()
	for _, a := range apis {
		t.Run(a.dialect, func(t *testing.T) {
			t.Parallel()
			test(t, a)
		})
	}
}

// send posts a body and gives the answer with as much of its body as came.
func send(t *testing.T, url, body string) (*http.Response, string, error) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return resp, string(got), err
}

// rendered is the body of a streamed answer.
func rendered(d dialect, a answer) string {
	var out strings.Builder
	for _, e := range d.stream(a) {
		if e.name != "" {
			out.WriteString("event: " + e.name + "\n")
		}
		out.WriteString("data: " + string(e.data) + "\n\n")
	}
	return out.String()
}

// Every kind of step over HTTP; what the events themselves are is in the goldens.
func TestDialectSteps(t *testing.T) {
	tests := []struct {
		name     string
		step     contract.ScriptStep
		tools    func(a api) []string
		answer   answer
		status   int
		cut      bool
		findings map[string]int
	}{
		{name: "text", step: text, answer: answer{text: text.Text}, status: 200},
		{name: "empty", step: empty, status: 200},
		{name: "drop", step: contract.ScriptStep{Drop: &contract.DropStep{Text: []string{"one "}}}, answer: answer{text: []string{"one "}, partial: true}, status: 200, cut: true},
		{name: "stall", step: contract.ScriptStep{Stall: &contract.StallStep{Text: []string{"one "}, Seconds: 1}}, answer: answer{text: []string{"one "}, partial: true}, status: 200, cut: true},
		{
			name: "the first candidate that is offered", step: tool, tools: func(a api) []string { return []string{a.own("edit"), a.own("other")} }, status: 200,
			answer: answer{call: &call{tool: offeredTool{name: "edit", kind: toolFunction}, arguments: map[string]any{"input": "list </work>"}}},
		},
		{
			name: "hosted is not callable", step: tool, tools: func(a api) []string { return []string{a.hosted} }, status: 400,
			findings: map[string]int{"tool-not-offered list-files": 1},
		},
	}
	eachAPI(t, func(t *testing.T, a api) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				s, base := start(t, a.config(tt.step))
				var tools []string
				if tt.tools != nil {
					tools = tt.tools(a)
				}
				resp, body, err := send(t, base+a.path(true), a.body(true, tools...))
				if resp.StatusCode != tt.status || (err != nil) != tt.cut || resp.Header.Get(a.requestID) != "req_cnry_1" {
					t.Errorf("status %d, cut %v, request id %q", resp.StatusCode, err, resp.Header.Get(a.requestID))
				}
				if tt.status == 200 {
					want := tt.answer
					want.ids, want.model, want.created, want.usage = s.ids(1), "test-model", 1700000000, s.cfg.Script.Usage
					if diff := cmp.Diff(rendered(dialects[a.dialect], want), body); diff != "" {
						t.Errorf("stream (-want +got):\n%s", diff)
					}
				}
				if tt.findings == nil {
					tt.findings = map[string]int{}
				}
				if diff := cmp.Diff(tt.findings, findings(s.Report())); diff != "" {
					t.Errorf("findings (-want +got):\n%s", diff)
				}
			})
		}
	})
}

func TestDialectNotStreamed(t *testing.T) {
	eachAPI(t, func(t *testing.T, a api) {
		s, base := start(t, a.config(text, contract.ScriptStep{Drop: &contract.DropStep{Text: []string{"one "}}}))
		resp, body, err := send(t, base+a.path(false), a.body(false))
		want := answer{ids: s.ids(1), model: "test-model", created: 1700000000, usage: s.cfg.Script.Usage, text: text.Text}
		if diff := cmp.Diff(string(dialects[a.dialect].whole(want)), body); diff != "" || err != nil || resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("error %v, content type %q, body (-want +got):\n%s", err, resp.Header.Get("Content-Type"), diff)
		}
		if _, body, err := send(t, base+a.path(false), a.body(false)); err == nil || json.Valid([]byte(body)) {
			t.Errorf("a dropped answer is complete: error %v", err)
		}
	})
}

func TestDialectErrors(t *testing.T) {
	eachAPI(t, func(t *testing.T, a api) {
		_, base := start(t, a.config(
			contract.ScriptStep{Error: &contract.ErrorStep{Status: 401, Type: "invalid_api_key", Message: "No <way>."}},
			contract.ScriptStep{Error: &contract.ErrorStep{Status: 429, Type: "rate_limit_exceeded", Message: "Slow.", RetryAfter: 7}}))
		for _, want := range []struct {
			status      int
			body, retry string
		}{{401, a.failure, ""}, {429, a.limit, "7"}} {
			resp, body, _ := send(t, base+a.path(true), a.body(true))
			if resp.StatusCode != want.status || resp.Header.Get("Retry-After") != want.retry || body != want.body {
				t.Errorf("status %d, Retry-After %q, body %s", resp.StatusCode, resp.Header.Get("Retry-After"), body)
			}
		}
	})
}

// Listings and counts answer beside the script.
func TestDialectBeside(t *testing.T) {
	eachAPI(t, func(t *testing.T, a api) {
		s, base := start(t, a.config(text))
		resp, err := http.Get(base + a.listing)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != a.listed {
			t.Errorf("listing %s, error %v", body, err)
		}
		beside := 1
		if a.count != "" {
			beside++
			if _, body, err := send(t, base+a.count, a.body(false)); err != nil || body != a.counted {
				t.Errorf("count %s, error %v", body, err)
			}
		}
		for _, path := range []string{a.listing + "/other", "/v1/other", "/v1beta/models/test-model:other", "/v1beta/models/:generateContent", "/v1beta/models/test-model:streamGenerateContent"} {
			if resp, _, _ := send(t, base+path, a.body(false)); resp.StatusCode != http.StatusNotFound {
				t.Errorf("POST %s: status %d", path, resp.StatusCode)
			}
		}
		if r := s.Report(); r.Side != beside || r.Requests != 0 || findings(r)["unexpected-path"] != 5 {
			t.Errorf("side %d, requests %d, findings %v", r.Side, r.Requests, findings(r))
		}
	})
}

func TestDialectMalformed(t *testing.T) {
	eachAPI(t, func(t *testing.T, a api) {
		s, base := start(t, a.config(text))
		for _, body := range a.malformed {
			if resp, answer, _ := send(t, base+a.path(true), body); resp.StatusCode != http.StatusBadRequest || !json.Valid([]byte(answer)) {
				t.Errorf("%s: status %d, answer %s", body, resp.StatusCode, answer)
			}
		}
		if r := s.Report(); r.Requests != 0 || r.Steps != 0 || findings(r)["malformed-request"] != len(a.malformed) {
			t.Errorf("requests %d, steps %d, findings %v", r.Requests, r.Steps, findings(r))
		}
	})
}

// A side request has an answer of its own in the API's own form, and takes no step of the script.
func TestDialectSideRequests(t *testing.T) {
	eachAPI(t, func(t *testing.T, a api) {
		cfg := a.config(text)
		cfg.Side = []contract.SideRequest{
			{Purpose: "another model", Model: "other", Answer: "wrong"},
			{Purpose: "too small", WithoutTools: true, MaxTokens: 1, Instructions: "You write poems.", Answer: "wrong"},
			{Purpose: "a title", WithoutTools: true, MaxTokens: 1, Instructions: "You write titles.", Answer: "A title"},
		}
		s, base := start(t, cfg)
		_, body, err := send(t, base+a.path(false), a.aside)
		want := answer{ids: ids{canary: "cnry", turn: "side1"}, model: "test-model", created: 1700000000, usage: cfg.Script.Usage, text: []string{"A title"}}
		if diff := cmp.Diff(string(dialects[a.dialect].whole(want)), body); diff != "" || err != nil {
			t.Errorf("side answer: error %v (-want +got):\n%s", err, diff)
		}
		// The conversation itself has no limit, or a large one, and other instructions.
		_, body, _ = send(t, base+a.path(false), a.body(false))
		if !strings.Contains(body, "one two") {
			t.Errorf("the conversation got %s", body)
		}
		if r := s.Report(); r.Side != 1 || r.Requests != 1 || r.Steps != 1 || len(findings(r)) > 0 {
			t.Errorf("side %d, requests %d, steps %d, findings %v", r.Side, r.Requests, r.Steps, findings(r))
		}
	})
}

func FuzzDialectsParse(f *testing.F) {
	for _, a := range apis {
		f.Add([]byte(a.body(true, a.own("run"))))
		f.Add([]byte(a.aside))
		for _, body := range a.malformed {
			f.Add([]byte(body))
		}
	}
	h := head{method: "POST", path: "/v1beta/models/m:generateContent"}
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, d := range dialects {
			if req, err := d.parse(h, body); err == nil && req.model == "" {
				t.Errorf("%s accepts a request without model", name)
			}
		}
	})
}
