package schemagen

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The folders that hold generated files, seen from here.
const (
	published = "../../../registry/schemas"
	embedded  = "../schemas"
	types     = "../../../npm/types"
)

func TestSchemasInStep(t *testing.T) {
	files, err := Generate("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{published, embedded} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if _, ok := files[entry.Name()]; !ok {
				t.Errorf("%s/%s is not generated: remove it", dir, entry.Name())
			}
		}
		for name, want := range files {
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Errorf("%v; run: go generate ./pkg/contract", err)
			} else if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s/%s is out of date; run: go generate ./pkg/contract (-want +got)\n%s", dir, name, diff)
			}
		}
	}
}

// The types carry the hash of the schema that they were made from; that the text follows from it is checked where
// Node is, by "npm run types:check".
func TestTypesInStep(t *testing.T) {
	want := map[string]bool{"index.d.ts": true}
	for _, s := range Schemas {
		name := s.Name + ".d.ts"
		want[name] = true
		schema, err := os.ReadFile(filepath.Join(published, s.FileName()))
		if err != nil {
			t.Fatal(err)
		}
		declarations, err := os.ReadFile(filepath.Join(types, name))
		if err != nil {
			t.Errorf("%v; run: npm run generate", err)
			continue
		}
		sum := sha256.Sum256(schema)
		if !strings.Contains(string(declarations), "\n// schema-sha256: "+hex.EncodeToString(sum[:])+"\n") {
			t.Errorf("npm/types/%s was made from another schema; run: npm run generate", name)
		}
	}
	entries, err := os.ReadDir(types)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !want[entry.Name()] {
			t.Errorf("npm/types/%s belongs to no schema: remove it", entry.Name())
		}
	}
}
