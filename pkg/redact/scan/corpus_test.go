package scan

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var corpus = flag.String("corpus", "", "a folder of clean texts that TestNoFalseAlarms scans besides the registry and the probes")

// TestNoFalseAlarms: real fixtures, records, probes and documents give no hit, and there is no list of exceptions.
func TestNoFalseAlarms(t *testing.T) {
	s := newScanner(t, Config{Canaries: []string{fakeCanary}, Known: []Known{{Value: "runner", Kind: "user", TokenOnly: true}, {Value: "/srv/fake/work", Kind: "cwd"}}})
	roots := []string{"../../../registry", "../../../probes"}
	if *corpus != "" {
		roots = append(roots, *corpus)
	}
	files, fixtures, bytes := 0, 0, 0
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			files, bytes = files+1, bytes+len(data)
			if strings.Contains(path, "registry/fixtures/") {
				fixtures++
			}
			if hits := s.Scan(data); len(hits) > 0 {
				t.Errorf("%s: %v and %d more", path, hits[0], len(hits)-1)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d files, %d of them fixtures, %d bytes", files, fixtures, bytes)
	if fixtures < 500 {
		t.Errorf("only %d fixtures: too few to say that clean transcripts give no alarm", fixtures)
	}
}
