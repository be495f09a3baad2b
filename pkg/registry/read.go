package registry

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"sync"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// ReadEach reads files of the tree or its base and hands their bytes to fn, from several goroutines. i is the place in
// files. The bytes are fn's own.
func (t *Tree) ReadEach(files []string, fn func(i int, data []byte, err error)) {
	t.readEach(files, false, fn)
}

func (t *Tree) readEach(files []string, reuse bool, fn func(i int, data []byte, err error)) {
	var wg sync.WaitGroup
	workers := min(len(files), runtime.GOMAXPROCS(0))
	for w := range workers {
		wg.Go(func() {
			var r folderReader
			defer r.close()
			var buf []byte
			for i := w; i < len(files); i += workers {
				data, err := r.read(t, files[i], buf[:0])
				if reuse {
					buf = data
				}
				fn(i, data, err)
			}
		})
	}
	wg.Wait()
}

// folderReader reads one file after the other. It keeps the last folder open: files that are read in order share
// theirs, and a walk from the root for each costs more than the reading.
type folderReader struct {
	tree   *Tree
	dir    string
	folder *os.Root
}

func (r *folderReader) close() {
	if r.folder != nil {
		_ = r.folder.Close()
	}
	*r = folderReader{}
}

func (r *folderReader) read(t *Tree, file string, buf []byte) ([]byte, error) {
	real, ok := t.at[file]
	if !ok {
		if t.under != nil {
			return r.read(t.under, file, buf)
		}
		return nil, fmt.Errorf("%s: %w", file, ErrMissing)
	}
	dir, name := path.Split(real)
	if r.folder == nil || r.tree != t || r.dir != dir {
		r.close()
		folder, err := t.root.OpenRoot(path.Join(".", dir))
		if err != nil {
			return nil, err
		}
		*r = folderReader{t, dir, folder}
	}
	f, err := r.folder.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := readAll(f, file, buf)
	return data, errors.Join(err, f.Close())
}

// readAll reads a file of at most MaxFileSize behind buf.
func readAll(f *os.File, file string, buf []byte) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxFileSize {
		return nil, fmt.Errorf("%s: not a regular file of at most %d bytes", file, MaxFileSize)
	}
	// One byte more than the size, so that the read that meets the end needs no larger buffer.
	if need := int(info.Size()) + 1; cap(buf) < need {
		buf = make([]byte, 0, need)
	}
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return nil, err
		case len(buf) > MaxFileSize:
			return nil, fmt.Errorf("%s: larger than %d bytes", file, MaxFileSize)
		case len(buf) == cap(buf):
			buf = append(buf, 0)[:len(buf)] // it grew since
		}
	}
}

// Digest is a hash over everything that the tree and its base hold: paths, bytes, and what does not belong there.
func (t *Tree) Digest() (contract.Hash, error) {
	var sums []byte
	for tree := t; tree != nil; tree = tree.under {
		own := make([][sha256.Size]byte, len(tree.files))
		errs := make([]error, len(tree.files))
		tree.readEach(tree.files, true, func(i int, data []byte, err error) {
			own[i], errs[i] = sha256.Sum256(data), err
		})
		if err := errors.Join(errs...); err != nil {
			return "", err
		}
		sums = fmt.Appendf(sums, "%d+%d:", len(tree.files), len(tree.Strange))
		for i, file := range tree.files {
			sums = append(fmt.Appendf(sums, "%d:%s", len(file), file), own[i][:]...)
		}
		for _, entry := range tree.Strange {
			sums = fmt.Appendf(sums, "%d:%s", len(entry), entry)
		}
	}
	return contract.HashBytes(sums), nil
}
