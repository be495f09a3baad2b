package stage

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/scratch"
)

// A kill between any two steps of putting a run in place: the next run finds the rest and completes it, and until then
// each part is there in one version, at its name or beside the new one.
func TestFinishAfterAKill(t *testing.T) {
	parts := []string{outRegistry, outTree, outReport, outPackage}
	for steps := range 2*len(parts) + 1 {
		out := t.TempDir()
		done := filepath.Join(out, outDone)
		for _, name := range parts {
			write(t, filepath.Join(out, name), name, "old")
			write(t, filepath.Join(done, name), name, "new")
		}
		for i := range steps { // what finish does before it is killed
			name := parts[i/2]
			from, to := filepath.Join(done, name), filepath.Join(out, name)
			if i%2 == 0 {
				from, to = to, from+".old"
			}
			if err := os.Rename(from, to); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range parts {
			if read(filepath.Join(out, name), name) == "" && read(filepath.Join(done, name+".old"), name) != "old" {
				t.Errorf("%d steps: %s is lost", steps, name)
			}
		}
		if err := finish(out); err != nil {
			t.Fatalf("%d steps: %v", steps, err)
		}
		for _, name := range parts {
			if got := read(filepath.Join(out, name), name); got != "new" {
				t.Errorf("%d steps: %s holds %q", steps, name, got)
			}
		}
		entries, err := os.ReadDir(out)
		if err != nil || len(entries) != len(parts) {
			t.Errorf("%d steps: %v %v", steps, entries, err)
		}
	}
}

// Before the first run there is nothing to replace, and what a person keeps beside the results is left alone.
func TestFinishTheFirst(t *testing.T) {
	out := t.TempDir()
	write(t, filepath.Join(out, outDone, outTree), outTree, "new")
	write(t, filepath.Join(out, "tree.old"), outTree, "kept")
	if err := errors.Join(finish(out), finish(out)); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{outTree: "new", "tree.old": "kept"}
	if diff := cmp.Diff(want, map[string]string{outTree: read(filepath.Join(out, outTree), outTree), "tree.old": read(filepath.Join(out, "tree.old"), outTree)}); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A second run into the same folder would remove what the first one makes.
func TestRunTakesTheFolder(t *testing.T) {
	out := t.TempDir()
	lock, err := scratch.TryLock(out)
	if err != nil || !lock.Real() {
		t.Skip("this system has no locks on folders")
	}
	defer lock.Release()
	write(t, filepath.Join(out, outNext, outTree), outTree, "being made")
	s := &Stage{Dirs: Dirs{Out: out}}
	if _, err := s.Run(t.Context(), CaptureRequest{}); !errors.Is(err, scratch.ErrHeld) {
		t.Errorf("got %v", err)
	}
	if read(filepath.Join(out, outNext, outTree), outTree) == "" {
		t.Error("what the first run makes is gone")
	}
}

// write makes a part of a run: a file for the report, a folder with a file for the others.
func write(t *testing.T, path, name, content string) {
	t.Helper()
	if name != outReport {
		path = filepath.Join(path, "file")
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// read gives the content of a part; it is empty where there is none.
func read(path, name string) string {
	if name != outReport {
		path = filepath.Join(path, "file")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}
