package modelserver

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func TestResponsesNotStreamed(t *testing.T) {
	_, base := start(t, testConfig(text, contract.ScriptStep{Drop: &contract.DropStep{Text: []string{"one "}}}))
	request := strings.Replace(modelRequest(), `"stream":true`, `"stream":false`, 1)
	resp, body, err := ask(t, base, request)
	if err != nil || resp.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("content type %q, error %v", resp.Header.Get("Content-Type"), err)
	}
	var got struct {
		Status string
		Output []struct{ Content []struct{ Text string } }
		Usage  struct {
			Total int `json:"total_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if got.Status != "completed" || got.Usage.Total != 15 || len(got.Output) != 1 || got.Output[0].Content[0].Text != "one two" {
		t.Errorf("answer %+v", got)
	}

	_, body, err = ask(t, base, request)
	if err == nil || json.Valid([]byte(body)) {
		t.Errorf("a dropped answer is complete: error %v, valid %v", err, json.Valid([]byte(body)))
	}
}

func TestResponsesParse(t *testing.T) {
	tests := []struct {
		name, body string
		want       []string // nil: an error
	}{
		{"top level", `{"model":"m","input":"x","tools":[{"type":"function","name":"a"},{"type":"web_search"}]}`, []string{"a", "web_search"}},
		{"nested namespaces", `{"model":"m","input":"x","tools":[{"type":"namespace","name":"n","tools":[{"type":"namespace","name":"o","tools":[{"type":"custom","name":"a"}]}]}]}`, []string{"n.o.a"}},
		{
			"in the input", `{"model":"m","tools":[{"type":"function","name":"a"}],"input":[{"type":"message","tools":7},` +
				`{"type":"additional_tools","tools":[{"type":"custom","name":"b"}]},{"type":"tool_search_output","tools":[{"type":"function","name":"c"}]},{"type":"additional_tools"}]}`,
			[]string{"a", "b", "c"},
		},
		{"no tools", `{"model":"m","input":[]}`, []string{}},
		{"input items of another form", `{"model":"m","input":[1]}`, nil},
		{"tools of another form", `{"model":"m","input":[{"type":"additional_tools","tools":{}}]}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := openaiResponses{}.parse(head{}, []byte(tt.body))
			if (err != nil) != (tt.want == nil) {
				t.Fatalf("parse: %v", err)
			}
			var got []string
			if err == nil {
				got = []string{}
			}
			for _, tool := range req.offered {
				got = append(got, tool.listed())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("offered (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzDecodeBody(f *testing.F) {
	for _, encoding := range []string{"", "gzip", "zstd", "br"} {
		f.Add(encoding, []byte(modelRequest()))
	}
	f.Add("gzip", []byte(gzipped("text")))
	f.Add("zstd", []byte(zstded("text")))
	f.Fuzz(func(t *testing.T, encoding string, body []byte) {
		const limit = 1 << 10
		if got, err := decodeBody(bytes.NewReader(body), encoding, limit); err == nil && len(got) > limit {
			t.Errorf("%d bytes passed a limit of %d", len(got), limit)
		}
	})
}
