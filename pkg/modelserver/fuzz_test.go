package modelserver

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// fuzzPaths are requests below the prefix, one or more of each dialect.
var fuzzPaths = []string{
	"/v1/responses", "/v1/chat/completions", "/v1/messages?beta=true", "/v1/messages/count_tokens", "/v1/models",
	"/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent?alt=sse", "/v1beta/models/a%2Fb:countTokens", "/v1beta/models",
}

var fuzzBodies = []string{
	modelRequest(`{"type":"function","name":"run"}`, `{"type":"namespace","name":"g","tools":[{"type":"custom","name":"s"}]}`),
	`{"model":"m","input":"x","tools":[null,1]}`,
	`{"model":"m","input":[{"type":"additional_tools","tools":[{"type":"custom","name":"run"}]}]}`,
	`{"model":"m","input":null,"tools":{"type":"namespace"}}`,
	strings.Repeat(`{"model":"m","input":0,"tools":[{"type":"namespace","tools":[`, 50),
	`{"model":"m","max_tokens":1,"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":"x"}],"tools":[{"name":"Bash","input_schema":{}},{"type":"bash_20250124","name":"bash"},{"type":"web_search_1"}],"stream":true}`,
	`{"model":"m","messages":[{"role":"system","content":[{"type":"text","text":"s"}]}],"tools":[{"type":"function","function":{"name":"run"}}],"stream":true,"stream_options":{"include_usage":true}}`,
	`{"contents":[{"parts":[{"text":"x"}]}],"systemInstruction":{"parts":[{"text":"s"}]},"tools":[{"functionDeclarations":[{"name":"run"}],"googleSearch":{}}]}`,
	`null`, `{}`, `[]`, ``,
}

// FuzzParse holds of each dialect: a request that it takes names a model, its error quotes nothing of the request, and
// every answer to it is JSON, whichever of the offered tools is called.
func FuzzParse(f *testing.F) {
	names := slices.Sorted(maps.Keys(dialects))
	for i := range names {
		for j, body := range fuzzBodies {
			f.Add(byte(i), http.MethodPost, fuzzPaths[j%len(fuzzPaths)], []byte(body))
			f.Add(byte(i), http.MethodGet, fuzzPaths[(i+j)%len(fuzzPaths)], []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, method, target string, body []byte) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		d := dialects[names[int(which)%len(names)]]
		h := head{method: method, path: u.EscapedPath(), query: u.Query(), header: http.Header{}}
		switch d.match(h) {
		case endpointListing:
			isJSON(t, d.listing("m", 1))
		case endpointCount:
			counter, ok := d.(tokenCounter)
			if !ok {
				t.Fatal("the dialect counts no tokens")
			}
			isJSON(t, counter.count(1))
		}
		req, err := d.parse(h, body)
		if err != nil {
			for text := range strings.FieldsFuncSeq(string(body), func(r rune) bool { return r == '"' }) {
				if len(text) > 8 && strings.Contains(err.Error(), text) && !strings.Contains("additional_tools function declarations messages contents", text) {
					t.Fatal("the error quotes the request")
				}
			}
			return
		}
		if req.model == "" && d.match(h) == endpointModel {
			t.Error("a request without a model was taken")
		}
		_ = sideRequest([]contract.SideRequest{{WithoutTools: true, MaxTokens: 1}}, req)
		a := answer{ids: ids{"canary", "1"}, model: "m", created: 1, streamUsage: req.streamUsage}
		for _, text := range [][]string{nil, {"a", "b\n\"\u2028"}} {
			for _, partial := range []bool{false, true} {
				a.text, a.partial = text, partial
				areJSON(t, d, a)
			}
		}
		a.text, a.partial = nil, false
		for _, tool := range req.offered[:min(len(req.offered), 20)] {
			c := choose([]contract.Tool{{Name: tool.listed()}}, req.offered, strings.NewReplacer())
			if c != nil && c.tool.kind != toolFunction && c.tool.kind != toolShell {
				t.Errorf("a tool of kind %d was chosen without input", c.tool.kind)
			}
			if a.call = c; c != nil {
				areJSON(t, d, a)
			}
		}
		isJSON(t, d.failure(a.ids, contract.ErrorStep{Status: 400, Type: "t", Message: "m"}))
	})
}

func areJSON(t *testing.T, d dialect, a answer) {
	t.Helper()
	for _, e := range d.stream(a) {
		if string(e.data) != "[DONE]" {
			isJSON(t, e.data)
		}
		if strings.ContainsAny(string(e.data), "\r\n") {
			t.Fatal("an event spans lines")
		}
	}
	if !a.partial {
		isJSON(t, d.whole(a))
	}
}

func isJSON(t *testing.T, data []byte) {
	t.Helper()
	if !json.Valid(data) {
		t.Fatalf("no JSON: %.300q", data)
	}
}
