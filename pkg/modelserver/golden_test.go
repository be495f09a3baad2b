package modelserver

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The goldens are whole answers, to be read beside the API's description.
func TestGolden(t *testing.T) {
	offered := func(name, namespace string, kind toolKind) answer {
		return answer{call: &call{tool: offeredTool{name: name, namespace: namespace, kind: kind}, arguments: map[string]any{"input": "a <b>"}}}
	}
	common := map[string]answer{
		"text":     {text: []string{"one ", "two"}},
		"empty":    {},
		"partial":  {text: []string{"one "}, partial: true},
		"function": offered("run", "", toolFunction),
	}
	own := map[string]map[string]answer{
		"openai-responses": {
			"namespace":   offered("sub", "group", toolFunction),
			"custom":      offered("edit", "", toolCustom),
			"local-shell": offered("local_shell", "", toolShell),
		},
		"openai-chat": {"usage": {text: []string{"one "}, streamUsage: true}},
	}
	for name, d := range dialects {
		for _, answers := range []map[string]answer{common, own[name]} {
			for kind, a := range answers {
				t.Run(name+"/"+kind, func(t *testing.T) { golden(t, d, filepath.Join("testdata", name, kind+".txt"), a) })
			}
		}
	}
}

func golden(t *testing.T, d dialect, file string, a answer) {
	t.Helper()
	a.ids = ids{canary: "cnry", turn: "3"}
	a.model, a.created = "test-model", 1700000000
	a.usage = contract.Usage{InputTokens: 10, CachedTokens: 4, OutputTokens: 5, ReasoningTokens: 2}
	var got bytes.Buffer
	for _, e := range d.stream(a) {
		if e.name != "" {
			got.WriteString(e.name + " ")
		}
		got.WriteString(string(e.data) + "\n")
	}
	if !a.partial {
		got.WriteString("(not streamed) " + string(d.whole(a)) + "\n")
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
