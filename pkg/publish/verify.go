package publish

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Verify hashes a package again, offline, and holds it against its own manifest. path is a tarball, an unpacked
// package, or the folder that Build wrote into. The error is a *MismatchError that names the first file that differs.
func Verify(path string) (*Manifest, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("verifying a package: %w", err)
	}
	var data []byte
	var have map[string]File
	if info.IsDir() {
		data, have, err = readFolder(path)
	} else {
		data, have, err = readFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("verifying %s: %w", path, err)
	}
	if data == nil {
		return nil, fmt.Errorf("verifying %s: %w", path, &MismatchError{ManifestFile, "the file is missing: this is no package of this tool"})
	}
	m, err := ParseManifest(data)
	if err == nil {
		err = m.compare(have)
	}
	if err != nil {
		return nil, fmt.Errorf("verifying %s: %w", path, err)
	}
	return m, nil
}

func readFile(path string) ([]byte, map[string]File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	return readTarball(f)
}

// readFolder hashes the files of an unpacked package. It follows no link.
func readFolder(dir string) (manifest []byte, have map[string]File, err error) {
	if _, err := os.Lstat(filepath.Join(dir, ManifestFile)); errors.Is(err, fs.ErrNotExist) {
		dir = filepath.Join(dir, packageFolder)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close() //nolint:errcheck // read only
	have = map[string]File{}
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			return &MismatchError{p, "the entry is no regular file"}
		}
		if len(have) >= maxFiles {
			return &MismatchError{p, "the package is larger than any that this tool builds"}
		}
		f, err := root.Open(p)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // read only
		if p == ManifestFile {
			manifest, err = io.ReadAll(io.LimitReader(f, maxManifest))
			return err
		}
		sum := sha256.New()
		n, err := io.Copy(sum, f)
		have[p] = File{contract.HashSum([sha256.Size]byte(sum.Sum(nil))), n}
		return err
	})
	return manifest, have, err
}
