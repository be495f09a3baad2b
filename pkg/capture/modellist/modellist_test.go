package modellist

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
)

func TestRead(t *testing.T) {
	tests := map[string]struct {
		form    contract.ModelsForm
		text    string
		want    []string
		dropped int
	}{
		"one id a line": {
			contract.ModelsForm{Line: `^(\S+)$`}, "b/large\r\nb/large\na/small\n\nTwo models.\n", []string{"a/small", "b/large"}, 0,
		},
		"marks of a terminal": {
			contract.ModelsForm{Line: `^  [*-] (\S+)`}, "Models:\n  \x1b[1m* one\x1b[0m\n  - two (old)\n", []string{"one", "two"}, 0,
		},
		"a table": {
			contract.ModelsForm{Line: `^\S+ +(\S+) +[0-9]`}, "provider  model  context\nown       fast   128K\n", []string{"fast"}, 0,
		},
		"below a line": {
			contract.ModelsForm{Line: `^  (\S+)`, Below: "Available Models:"}, "Usage:\n  other\nAvailable Models:\n  one  One\n  two  Two\n\nMore:\n  three\n", []string{"one", "two"}, 0,
		},
		"below a line that is not there": {contract.ModelsForm{Line: `^(\S+)$`, Below: "Models:"}, "one\n", nil, 0},
		"JSON": {
			contract.ModelsForm{JSON: "$.models[].slug"}, "{\n\"models\": [{\"slug\": \"b\"}, {\"slug\": \"a\", \"prompt\": \"x\"}, {\"slug\": 1}, {}, 2]}\n", []string{"a", "b"}, 0,
		},
		"JSON behind a line of text": {contract.ModelsForm{JSON: "$[]"}, "Loading\n[\"a\", [\"b\"]]\n", []string{"a"}, 0},
		"no JSON":                    {contract.ModelsForm{JSON: "$.models[].slug"}, "{\"models\":", nil, 0},
		"what is no id":              {contract.ModelsForm{Line: `^(.+)$`}, "good\nnot an id\n/etc/passwd\n", []string{"good"}, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Read([]byte(tt.text), tt.form)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(List{tt.want, tt.dropped}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("own  fast  128K\n"), `^\S+ +(\S+)`, "", "$.models[].slug")
	f.Add([]byte(`{"models":[{"slug":"a"}]}`), `(.*)`, "Models:", "$[]")
	f.Fuzz(func(t *testing.T, text []byte, line, below, path string) {
		for _, form := range []contract.ModelsForm{{Line: line, Below: below}, {JSON: path}} {
			got, err := Read(text, form)
			if err != nil {
				continue
			}
			for _, m := range got.Models {
				if !protocol.IsName(m) {
					t.Errorf("%q is in the list", m)
				}
			}
		}
	})
}
