package redact_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// fragmentTexts gives the JSON deltas of a sanitized stream.
func fragmentTexts(sanitized string) []string {
	var texts []string
	for line := range strings.Lines(sanitized) {
		var frame struct{ Part *string }
		if json.Unmarshal([]byte(line), &frame) == nil && frame.Part != nil {
			texts = append(texts, *frame.Part)
		}
	}
	return texts
}

// Fragments of JSON become one value of the same structure in the first of them, whatever the cuts were.
func TestFragments(t *testing.T) {
	const clean = `{"path":"<text>","say":"Say hello.","n":0,"list":[true,null,{}]}`
	whole := `{"path":"/srv/fake/run/work/x","say":"Say hello.","n":7,"list":[true,null,{}]}`
	for _, tt := range []struct {
		name     string
		in, want []string
	}{
		{"in one piece", []string{whole}, []string{clean}},
		{"in pieces, the first empty", []string{"", whole[:9], whole[9:20], "", whole[20:]}, []string{"", clean, "", "", ""}},
		{"two values", []string{`{"a":`, `1}`, `[`, `2]`}, []string{`{"a":0}`, "", "[0]", ""}},
		{"brackets in strings", []string{`{"a":"}\\\"{`, `]"}`, `{"b":1}`}, []string{`{"a":"<text>"}`, "", `{"b":0}`}},
		{"never ends", []string{`{"path":"/srv`, `/fake`}, []string{"", ""}},
		{"runs over", []string{`{"a":1}x`, `{"a":1}`}, []string{"", `{"a":0}`}},
		{"no JSON", []string{`told in confidence`, `}`, `"text"`, `7`, `{"a"}`, `{"b":2}`}, []string{"", "", "", "", "", `{"b":0}`}},
		{"a key that is data", []string{`{"0123456789abcdef0123456789":1}`}, []string{`{"<key:1>":0}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var in strings.Builder
			for _, piece := range tt.in {
				quoted, _ := json.Marshal(piece)
				fmt.Fprintf(&in, `{"type":"t","part":%s}`+"\n"+`{"type":"other"}`+"\n", quoted)
			}
			clean := stream(t, sanitize(t, policy(t), out(in.String()), exit()), contract.Stdout)
			if got := fragmentTexts(clean); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if again := stream(t, sanitize(t, policy(t), out(clean), exit()), contract.Stdout); again != clean {
				t.Errorf("a second redaction changes it to %q", again)
			}
		})
	}
}
