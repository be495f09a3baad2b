package registry

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// folder writes files into a new folder of the test.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		place(t, dir, name, content)
	}
	return dir
}

func place(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) *Tree {
	t.Helper()
	tree, err := OpenTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree
}

func TestReadEach(t *testing.T) {
	base := open(t, folder(t, map[string]string{"a/b/c.json": "base c", "a/d.json": "base d", "e.json": ""}))
	dir := folder(t, map[string]string{"a/d.json": "upper d", "a/f.json": "upper f"})
	tree := open(t, dir).Overlay(base)
	if err := os.Remove(filepath.Join(dir, "a/f.json")); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a/b/c.json": "base c", "a/d.json": "upper d", "a/f.json": "?", "e.json": "", "a/none.json": "?"}
	files := []string{"a/b/c.json", "a/d.json", "a/f.json", "a/none.json", "e.json"}
	var mu sync.Mutex
	seen := map[string]string{}
	tree.ReadEach(files, func(i int, data []byte, err error) {
		mu.Lock()
		defer mu.Unlock()
		seen[files[i]] = string(data)
		if err != nil {
			seen[files[i]] = "?"
		}
	})
	for file, text := range want {
		if got, ok := seen[file]; !ok || got != text {
			t.Errorf("%s reads %q, want %q", file, got, text)
		}
	}
}

func TestReadRefusesWhatLeavesTheTree(t *testing.T) {
	dir := folder(t, map[string]string{"a/b.json": "inside"})
	tree := open(t, dir)
	secret := folder(t, map[string]string{"b.json": "outside"})
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "a")); err != nil {
		t.Skip("no links here")
	}
	if data, err := tree.Read("a/b.json"); err == nil {
		t.Errorf("reads %q through a link", data)
	}
	if _, err := tree.Digest(); err == nil {
		t.Error("has a digest of what lies elsewhere")
	}
}

// TestDigest: two trees have one digest only when they hold the same.
func TestDigest(t *testing.T) {
	files := map[string]string{"a/b.json": "1", "c.json": "2"}
	digest := func(change func(dir string), base *Tree) contract.Hash {
		dir := folder(t, files)
		change(dir)
		tree := open(t, dir)
		if base != nil {
			tree.Overlay(base)
		}
		hash, err := tree.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	same := func(string) {}
	first := digest(same, nil)
	if again := digest(same, nil); again != first {
		t.Error("the same files have another digest")
	}
	seen := map[contract.Hash]string{first: "nothing"}
	for name, other := range map[string]contract.Hash{
		"a byte":        digest(func(dir string) { place(t, dir, "c.json", "3") }, nil),
		"a name":        digest(func(dir string) { os.Rename(filepath.Join(dir, "c.json"), filepath.Join(dir, "d.json")) }, nil),
		"a file more":   digest(func(dir string) { place(t, dir, "d.json", "") }, nil),
		"a file less":   digest(func(dir string) { os.Remove(filepath.Join(dir, "c.json")) }, nil),
		"bytes moved":   digest(func(dir string) { place(t, dir, "a/b.json", ""); place(t, dir, "c.json", "12") }, nil),
		"a link":        digest(func(dir string) { os.Symlink("c.json", filepath.Join(dir, "l")) }, nil),
		"a base":        digest(same, open(t, folder(t, files))),
		"another base":  digest(same, open(t, folder(t, map[string]string{"a/b.json": "1"}))),
		"an empty base": digest(same, open(t, t.TempDir())),
	} {
		if twin, ok := seen[other]; ok {
			t.Errorf("%s changes what %s changes", name, twin)
		}
		seen[other] = name
	}
}
