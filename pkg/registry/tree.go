package registry

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Caps of a tree; a foreign tree is hostile.
const (
	MaxFiles    = 1_500_000
	MaxFileSize = 64 << 20
	// maxDepth is how many folders may lie above a file.
	maxDepth = 16
)

// ErrMissing reports a path that the tree does not hold.
var ErrMissing = errors.New("not in the tree")

// Tree is a readable tree of records. Committed but unfinished transactions count as done. It never follows a link
// out of its root.
type Tree struct {
	// Name is how messages call the tree, usually its path.
	Name string
	root *os.Root
	// at maps a path of the tree to where its bytes lie.
	at    map[string]string
	files []string
	// under is the base of an overlay: what this tree lacks is looked up there.
	under *Tree
	// Strange lists what does not belong into a tree: links, devices, paths that differ only in case, folders far down,
	// folders in the place of a record.
	Strange []string
}

// OpenTree lists the tree at dir.
func OpenTree(dir string) (*Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the tree: %w", err)
	}
	t := &Tree{Name: dir, root: root, at: map[string]string{}}
	if err := t.list(); err != nil {
		_ = root.Close()
		return nil, err
	}
	return t, nil
}

// Overlay lays a tree over a base: lookups fall through, Files lists only the upper one.
func (t *Tree) Overlay(base *Tree) *Tree { t.under = base; return t }

// Base is the tree below an overlay, or nil.
func (t *Tree) Base() *Tree { return t.under }

// Close frees the tree (not its base).
func (t *Tree) Close() error { return t.root.Close() }

func (t *Tree) list() error {
	gone := map[string]bool{} // what committed transactions have yet to remove
	err := fs.WalkDir(t.root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p == "." {
			return nil
		}
		if strings.HasPrefix(d.Name(), pendingPrefix) && d.IsDir() {
			if !strings.Contains(p, "/") {
				t.pending(p, gone)
			}
			return fs.SkipDir
		}
		if d.IsDir() {
			if strings.Count(p, "/") >= maxDepth || strings.Count(p, "/") == 1 && strings.HasSuffix(p, ".json") {
				t.Strange = append(t.Strange, p)
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			t.Strange = append(t.Strange, p)
			return nil
		}
		if len(t.at) >= MaxFiles {
			return fmt.Errorf("more than %d files", MaxFiles)
		}
		if _, pending := t.at[p]; !pending && !gone[p] {
			t.at[p] = p
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("listing %s: %w", t.Name, err)
	}
	t.index()
	return nil
}

// index sorts what the tree holds.
func (t *Tree) index() {
	t.files = t.files[:0]
	for p := range t.at {
		t.files = append(t.files, p)
	}
	slices.Sort(t.files)
	var names folded
	for _, p := range t.files {
		if !names.add(p) {
			t.Strange = append(t.Strange, p)
		}
	}
	slices.Sort(t.Strange)
}

func (t *Tree) pending(dir string, gone map[string]bool) {
	marker := path.Join(dir, commitMarker)
	if info, err := t.root.Lstat(marker); err != nil || !info.Mode().IsRegular() || info.Size() > MaxFileSize {
		return
	}
	list, err := fs.ReadFile(t.root.FS(), marker)
	if err != nil {
		return
	}
	for p := range strings.Lines(string(list)) {
		p = strings.TrimSuffix(p, "\n")
		if removed, ok := strings.CutPrefix(p, removal); ok {
			gone[removed] = true
			continue
		}
		if info, err := t.root.Lstat(path.Join(dir, p)); err == nil && info.Mode().IsRegular() {
			t.at[p] = path.Join(dir, p)
		}
	}
}

// Files lists the tree's own paths below a prefix, sorted.
func (t *Tree) Files(prefix string) []string {
	i, _ := slices.BinarySearch(t.files, prefix)
	j := i
	for j < len(t.files) && strings.HasPrefix(t.files[j], prefix) {
		j++
	}
	return t.files[i:j]
}

// Has reports whether the tree or its base holds the path.
func (t *Tree) Has(p contract.RelPath) bool {
	if _, ok := t.at[string(p)]; ok {
		return true
	}
	return t.under != nil && t.under.Has(p)
}

// Open opens a file of the tree or its base. Files larger than MaxFileSize are refused.
func (t *Tree) Open(p contract.RelPath) (io.ReadCloser, error) {
	real, ok := t.at[string(p)]
	if !ok {
		if t.under != nil {
			return t.under.Open(p)
		}
		return nil, fmt.Errorf("%s: %w", p, ErrMissing)
	}
	f, err := t.root.Open(real)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > MaxFileSize {
		_ = f.Close()
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s: no regular file", p)
		}
		if err == nil {
			err = fmt.Errorf("%s: larger than %d bytes", p, MaxFileSize)
		}
		return nil, err
	}
	return f, nil
}

// Read reads a file of the tree or its base.
func (t *Tree) Read(p contract.RelPath) ([]byte, error) {
	var r folderReader
	defer r.close()
	return r.read(t, string(p), nil)
}
