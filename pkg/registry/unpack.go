package registry

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"regexp"
	"strings"
)

// maxArchive bounds an archive itself, maxDirectory the list of its entries that a zip archive has, in bytes.
const maxArchive = 256 << 20

var maxDirectory int64 = 16 << 20

// maxPath is how long a path may be, in bytes.
const maxPath = 400

// portablePath are the paths that mean the same on every system: no backslash, no colon, no control character, no part
// that ends in a dot or begins with one.
var portablePath = regexp.MustCompile(`^[A-Za-z0-9_+@-][A-Za-z0-9._+@-]*(?:/[A-Za-z0-9_+@-][A-Za-z0-9._+@-]*)*$`)

// deviceName are the names that open a device on Windows, whatever follows after a dot.
var deviceName = regexp.MustCompile(`(?i)(?:^|/)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.[^/]*)?(?:/|$)`)

// Unpack extracts a zip archive or a gzipped tar archive into the folder dir, which must not exist, by the rules of a foreign
// tree: regular files only, relative paths that mean the same everywhere and differ in more than case, within the caps. An
// archive that breaks one is refused whole, and nothing is left of it. No message quotes a name.
func Unpack(archive, dir string) (err error) {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // read only
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxArchive {
		return fmt.Errorf("%s: no archive, or larger than %d bytes", archive, maxArchive)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("unpacking %s: %w", archive, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	u := &unpacker{root: root}
	if err = u.all(f, info.Size()); err != nil {
		err = errors.Join(fmt.Errorf("unpacking %s: entry %d: %w", archive, u.entries, err), root.Close(), os.RemoveAll(dir))
		return err
	}
	return root.Close()
}

type unpacker struct {
	root    *os.Root
	names   folded
	entries int
	bytes   int64
}

func (u *unpacker) all(f *os.File, size int64) error {
	magic := make([]byte, 4)
	if _, err := f.ReadAt(magic, 0); err != nil {
		return errors.New("it is shorter than any archive")
	}
	switch {
	case bytes.HasPrefix(magic, []byte("PK")):
		return u.zip(f, size)
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return u.tar(f)
	}
	return errors.New("it is neither a zip archive nor a gzipped tar archive")
}

func (u *unpacker) zip(f *os.File, size int64) error {
	in := &bounded{from: f, left: maxDirectory}
	r, err := zip.NewReader(in, size)
	if err != nil {
		return errors.New("the zip archive cannot be read, or its directory is too large")
	}
	in.left = math.MaxInt64              // of the files each has its own bound
	if len(r.File) > 2*MaxForeignFiles { // folders have entries too
		return fmt.Errorf("more than %d entries", 2*MaxForeignFiles)
	}
	for _, entry := range r.File {
		u.entries++
		if entry.Mode().IsDir() && strings.HasSuffix(entry.Name, "/") {
			continue
		}
		if !entry.Mode().IsRegular() || entry.Flags&1 != 0 {
			return errors.New("it is no regular file, or encrypted")
		}
		if err := u.file(entry.Name, entry.Open); err != nil {
			return err
		}
	}
	return nil
}

// bounded gives an error where more is read than it has left.
type bounded struct {
	from io.ReaderAt
	left int64
}

func (b *bounded) ReadAt(p []byte, off int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errors.New("too much is read")
	}
	return b.from.ReadAt(p, off)
}

func (u *unpacker) tar(f *os.File) error {
	gz, err := gzip.NewReader(f)
	if err != nil {
		return errors.New("the gzip stream cannot be read")
	}
	// What a bomb expands to is bounded before tar sees it: its headers may be as large as its files.
	tr := tar.NewReader(&io.LimitedReader{R: gz, N: 2 * MaxForeignBytes})
	for {
		u.entries++
		h, err := tr.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return errors.New("the tar archive cannot be read, or is too large")
		case u.entries > 2*MaxForeignFiles:
			return fmt.Errorf("more than %d entries", 2*MaxForeignFiles)
		case h.Typeflag == tar.TypeDir, h.Typeflag == tar.TypeXGlobalHeader:
			continue
		case h.Typeflag != tar.TypeReg:
			return errors.New("it is no regular file")
		}
		if err := u.file(h.Name, func() (io.ReadCloser, error) { return io.NopCloser(tr), nil }); err != nil {
			return err
		}
	}
}

// file writes one file. Sizes in headers are claims; what is read counts.
func (u *unpacker) file(name string, open func() (io.ReadCloser, error)) (err error) {
	name = strings.TrimPrefix(name, "./")
	if len(name) > maxPath || strings.Count(name, "/") > maxDepth || !fs.ValidPath(name) || !portablePath.MatchString(name) || strings.Contains(name+"/", "./") || deviceName.MatchString(name) {
		return errors.New("its path leads elsewhere, is too long, or does not mean the same on every system")
	}
	if !u.names.add(name) {
		return errors.New("its path, or a folder above it, differs from another one only in case, or is there twice")
	}
	if len(u.names.names) > 2*MaxForeignFiles {
		return fmt.Errorf("more than %d files and folders", 2*MaxForeignFiles)
	}
	from, err := open()
	if err != nil {
		return errors.New("it cannot be read")
	}
	defer from.Close() //nolint:errcheck // read only
	if err := u.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	to, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	n, err := io.Copy(to, io.LimitReader(from, MaxFileSize+1))
	if err = errors.Join(err, to.Close()); err != nil {
		return errors.New("it cannot be read or written whole")
	}
	u.bytes += n
	if n > MaxFileSize || u.bytes > MaxForeignBytes {
		return fmt.Errorf("a file has more than %d bytes, or all more than %d", MaxFileSize, MaxForeignBytes)
	}
	return nil
}
