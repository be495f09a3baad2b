package registry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	tree, err := OpenTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close() //nolint:errcheck // read only
	got := map[string]string{}
	for _, p := range tree.Files("") {
		data, err := tree.Read(contract.RelPath(p))
		if err != nil {
			t.Fatal(err)
		}
		got[p] = string(data)
	}
	return got
}

func put(t *testing.T, tx *Tx, path, data string) {
	t.Helper()
	if err := tx.Put(contract.RelPath(path), []byte(data)); err != nil {
		t.Fatal(err)
	}
}

func TestTxIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	tx, err := Begin(dir, "one")
	if err != nil {
		t.Fatal(err)
	}
	put(t, tx, "shapes/x/a.json", "a")
	put(t, tx, "observations/o.json", "o")
	if got := files(t, dir); len(got) != 0 {
		t.Fatalf("visible before Commit: %v", got)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"shapes/x/a.json": "a", "observations/o.json": "o"}
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	tx.Abort() // does nothing after Commit
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Errorf("after Abort: -want +got\n%s", diff)
	}
}

// A process killed after its commit marker and before or amid its moves leaves a tree that reads as finished, and the
// next writer finishes it.
func TestTxKilled(t *testing.T) {
	want := map[string]string{"a/1": "1", "b/2": "2", "c/3": "3"}
	for moved := range len(want) + 1 {
		dir := t.TempDir()
		tx, err := Begin(dir, "killed")
		if err != nil {
			t.Fatal(err)
		}
		list := ""
		for _, p := range []string{"a/1", "b/2", "c/3"} {
			put(t, tx, p, want[p])
			list += p + "\n"
		}
		if err := os.WriteFile(filepath.Join(tx.dir, commitMarker), []byte(list), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{"a/1", "b/2", "c/3"}[:moved] {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755), os.Rename(filepath.Join(tx.dir, p), filepath.Join(dir, p))); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, files(t, dir)); diff != "" {
			t.Errorf("%d moved, before recovery: -want +got\n%s", moved, diff)
		}
		if err := Recover(dir); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, files(t, dir)); diff != "" {
			t.Errorf("%d moved, after recovery: -want +got\n%s", moved, diff)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, pendingPrefix+"*")); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
	}
}

// What a transaction removes is gone for readers from its marker on, also where the process was killed before it removed it.
func TestTxRemoves(t *testing.T) {
	for removed := range 3 {
		dir := t.TempDir()
		first, err := Begin(dir, "first")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{"a/1", "b/2", "c/3"} {
			put(t, first, p, p)
		}
		if err := first.Commit(); err != nil {
			t.Fatal(err)
		}
		tx, err := Begin(dir, "removing")
		if err != nil {
			t.Fatal(err)
		}
		put(t, tx, "a/new", "new")
		put(t, tx, "c/3", "other")
		for _, p := range []contract.RelPath{"a/1", "b/2", "c/3", "absent"} {
			if err := tx.Remove(p); err != nil {
				t.Fatal(err)
			}
		}
		if tx.Remove("../out") == nil || tx.Remove("/etc/passwd") == nil {
			t.Error("a path outside of the tree was taken")
		}
		want := map[string]string{"a/new": "new", "c/3": "other"}
		view, err := tx.View()
		if err != nil {
			t.Fatal(err)
		}
		if got := view.Files(""); len(got) != 2 {
			t.Errorf("the view has %v", got)
		}
		_ = view.Close()
		if got := files(t, dir); len(got) != 3 {
			t.Errorf("before Commit: %v", got)
		}
		if removed == 2 {
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
		} else { // killed behind the marker
			marker := "a/new\nc/3\n/a/1\n/absent\n/b/2\n"
			if err := os.WriteFile(filepath.Join(tx.dir, commitMarker), []byte(marker), 0o644); err != nil {
				t.Fatal(err)
			}
			if removed == 1 {
				if err := os.Remove(filepath.Join(dir, "a/1")); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, files(t, dir)); diff != "" {
				t.Errorf("%d removed, before recovery: -want +got\n%s", removed, diff)
			}
			if err := Recover(dir); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, files(t, dir)); diff != "" {
			t.Errorf("%d removed: -want +got\n%s", removed, diff)
		}
	}
}

// A process killed before its marker leaves nothing that a reader sees.
func TestTxKilledEarly(t *testing.T) {
	dir := t.TempDir()
	tx, err := Begin(dir, "early")
	if err != nil {
		t.Fatal(err)
	}
	put(t, tx, "a/1", "1")
	if err := Recover(dir); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("visible: %v", got)
	}
	tx.lock.Release() // as the system does
	next, err := Begin(dir, "next")
	if err != nil {
		t.Fatal(err)
	}
	next.Abort()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// What Commit has promised outlives an error amid its moves: the next writer moves the rest.
func TestTxPromiseOutlivesErrors(t *testing.T) {
	dir := t.TempDir()
	tx, err := Begin(dir, "promised")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a/1": "1", "b/2": "2"}
	for p, data := range want {
		put(t, tx, p, data)
	}
	obstacle := filepath.Join(dir, "b")
	if err := os.WriteFile(obstacle, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err == nil {
		t.Fatal("a file in the place of a folder was no obstacle")
	}
	tx.Abort()
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Two writers never see the tree at the same time, so that neither takes a path that the other is about to take.
func TestTxOneWriterAtATime(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			tx, err := Begin(dir, fmt.Sprint(i))
			if err != nil {
				t.Error(err)
				return
			}
			defer tx.Abort()
			tree, err := OpenTree(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer tree.Close() //nolint:errcheck // read only
			path := contract.RelPath(fmt.Sprintf("o/%d", len(tree.Files(""))))
			if err := errors.Join(tx.Put(path, nil), tx.Commit()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := files(t, dir); len(got) != 8 {
		t.Errorf("%d of 8 files: %v", len(got), got)
	}
}

func TestTxRefusesPathsOutside(t *testing.T) {
	tx, err := Begin(t.TempDir(), "outside")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []contract.RelPath{"../x", "/x", "a/../../x", ".git/config", ""} {
		if err := tx.Put(p, nil); err == nil {
			t.Errorf("Put(%q) was accepted", p)
		}
	}
}

func TestTxDeriveSeesWhatWillBe(t *testing.T) {
	dir := t.TempDir()
	tx, err := Begin(dir, "derive")
	if err != nil {
		t.Fatal(err)
	}
	put(t, tx, "observations/o.json", "o")
	err = tx.Derive(func(tree *Tree) (map[contract.RelPath][]byte, error) {
		data, err := tree.Read("observations/o.json")
		return map[contract.RelPath][]byte{"derived.json": append([]byte("of "), data...)}, err
	})
	if err := errors.Join(err, tx.Commit()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"observations/o.json": "o", "derived.json": "of o"}, files(t, dir)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A link, even one that leads out of the tree, is not followed.
func TestTreeRefusesLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "link")); err != nil {
		t.Skip("this system gives no links")
	}
	tree, err := OpenTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close() //nolint:errcheck // read only
	if len(tree.Files("")) != 0 || len(tree.Strange) != 1 || tree.Has("link") {
		t.Errorf("files %v, strange %v", tree.Files(""), tree.Strange)
	}
}
