package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/scratch"
)

// A transaction is a folder .pending-<name> in the tree's root. It counts from the moment that its commit marker
// exists: readers see its files in place, and the next writer moves them.
const (
	pendingPrefix = ".pending-"
	commitMarker  = "COMMIT"
	// removal stands in the marker before a path that goes; no path of a tree begins so.
	removal = "/"
)

// Tx collects files that become part of a tree together.
type Tx struct {
	root  string
	dir   string
	lock  *scratch.Lock // on the root
	files []contract.RelPath
	gone  []contract.RelPath
	// committed is set when the marker is there.
	committed bool
}

// Begin opens a transaction in the tree at root, which is created where it is missing. One writer at a time has one: Begin
// waits until the others are done. What an earlier writer promised is completed first, and what one left that was
// killed before its promise is removed.
func Begin(root, name string) (*Tx, error) {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fmt.Errorf("creating the tree: %w", err)
	}
	lock, err := scratch.WaitLock(root)
	if err != nil {
		return nil, fmt.Errorf("waiting for other writers of the tree: %w; end them, or write into another folder", err)
	}
	t := &Tx{root: root, dir: filepath.Join(root, pendingPrefix+name), lock: lock}
	if err = Recover(root); err == nil && lock.Real() {
		err = dropPending(root)
	}
	if err == nil {
		err = os.Mkdir(t.dir, 0o755)
	}
	if err != nil {
		lock.Release()
		return nil, fmt.Errorf("opening a transaction: %w", err)
	}
	return t, nil
}

// dropPending removes what killed writers left. Only the holder of the lock may call it.
func dropPending(root string) error {
	entries, err := os.ReadDir(root)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), pendingPrefix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(root, e.Name())))
		}
	}
	return err
}

// Put adds a file. Put fails on a path that is not relative to the root.
func (t *Tx) Put(path contract.RelPath, data []byte) error {
	if !fs.ValidPath(string(path)) || strings.HasPrefix(string(path), ".") {
		return fmt.Errorf("%q is not a path inside the tree", path)
	}
	file := filepath.Join(t.dir, filepath.FromSlash(string(path)))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return err
	}
	t.files = append(t.files, path)
	return nil
}

// Remove takes a file away, whether the tree has it or not. What the transaction puts it never removes.
func (t *Tx) Remove(path contract.RelPath) error {
	if !fs.ValidPath(string(path)) || strings.HasPrefix(string(path), ".") {
		return fmt.Errorf("%q is not a path inside the tree", path)
	}
	t.gone = append(t.gone, path)
	return nil
}

// removed lists what goes, sorted.
func (t *Tx) removed() []contract.RelPath {
	gone := slices.DeleteFunc(slices.Clone(t.gone), func(p contract.RelPath) bool { return slices.Contains(t.files, p) })
	slices.Sort(gone)
	return slices.Compact(gone)
}

// View opens the tree as it will be after Commit, so that generated files can join the same transaction.
func (t *Tx) View() (*Tree, error) {
	tree, err := OpenTree(t.root)
	if err != nil {
		return nil, err
	}
	for _, p := range t.files {
		tree.at[string(p)] = filepath.Base(t.dir) + "/" + string(p)
	}
	for _, p := range t.removed() {
		delete(tree.at, string(p))
	}
	tree.index()
	return tree, nil
}

// Derive adds generated files: what derive makes of the tree as it will be.
func (t *Tx) Derive(derive func(*Tree) (map[contract.RelPath][]byte, error)) error {
	tree, err := t.View()
	if err != nil {
		return err
	}
	defer tree.Close() //nolint:errcheck // read only
	files, err := derive(tree)
	if err != nil {
		return fmt.Errorf("generating files: %w", err)
	}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if err := t.Put(p, files[p]); err != nil {
			return err
		}
	}
	return nil
}

// Commit makes the transaction part of the tree.
func (t *Tx) Commit() error {
	slices.Sort(t.files)
	var list strings.Builder
	for _, f := range t.files {
		list.WriteString(string(f) + "\n")
	}
	for _, p := range t.removed() {
		list.WriteString(removal + string(p) + "\n")
	}
	marker := filepath.Join(t.dir, commitMarker)
	if err := os.WriteFile(marker+".tmp", []byte(list.String()), 0o644); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	if err := os.Rename(marker+".tmp", marker); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	t.committed = true
	defer t.lock.Release()
	return complete(t.root, t.dir)
}

// Abort drops the transaction. It does nothing once Commit has promised it: what could not be moved then is moved by the
// next writer.
func (t *Tx) Abort() {
	if t.committed {
		return
	}
	_ = os.RemoveAll(t.dir)
	t.lock.Release()
}

// Recover completes the transactions that were committed but not moved, as after a kill. Transactions without a
// marker may belong to a running writer and are left to Begin; readers do not see them.
func Recover(root string) error {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), pendingPrefix) {
			continue
		}
		dir := filepath.Join(root, e.Name())
		if _, err := os.Stat(filepath.Join(dir, commitMarker)); err != nil {
			continue
		}
		if err := complete(root, dir); err != nil {
			return err
		}
	}
	return nil
}

// complete moves the files of a committed transaction. Every step may be repeated.
func complete(root, dir string) error {
	list, err := os.ReadFile(filepath.Join(dir, commitMarker))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another writer has completed it
	}
	if err != nil {
		return err
	}
	for path := range strings.Lines(string(list)) {
		path, gone := strings.CutPrefix(strings.TrimSuffix(path, "\n"), removal)
		if !fs.ValidPath(path) || strings.HasPrefix(path, ".") {
			return fmt.Errorf("%s: %q is not a path inside the tree; remove that folder", filepath.Join(dir, commitMarker), path)
		}
		to := filepath.Join(root, filepath.FromSlash(path))
		if gone {
			if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("completing a transaction: %w", err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		err := os.Rename(filepath.Join(dir, filepath.FromSlash(path)), to)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("completing a transaction: %w", err)
		}
	}
	return os.RemoveAll(dir)
}

// WriteFile writes a file outside a tree by way of a temporary one, so that readers see the old or the new content.
func WriteFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
