package publish

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// tarPrefix is the folder that npm expects around the files.
const tarPrefix = "package/"

// tarTime is the time that npm itself gives to every file of a tarball.
var tarTime = time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC)

// writeTarball packs files of dir, in the order given. Nothing of the machine gets in: one time, one mode, no owner,
// and a gzip header without name and time.
func writeTarball(w io.Writer, dir string, files []string) (err error) {
	// The level is fixed: it is part of what makes the bytes repeat.
	gz, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	tw := tar.NewWriter(gz)
	for _, p := range files {
		if err := addFile(tw, dir, p); err != nil {
			return fmt.Errorf("packing %s: %w", p, err)
		}
	}
	return errors.Join(tw.Close(), gz.Close())
}

func addFile(tw *tar.Writer, dir, p string) error {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(p)))
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // read only
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: tarPrefix + p, Mode: 0o644, Size: info.Size(), ModTime: tarTime}); err != nil {
		return err
	}
	_, err = io.Copy(tw, f)
	return err
}

// readTarball hashes the files of a tarball without unpacking it, and returns the manifest's bytes beside them.
func readTarball(r io.Reader) (manifest []byte, have map[string]File, err error) {
	gz, err := gzip.NewReader(bufio.NewReader(r))
	if err != nil {
		return nil, nil, errors.New("the package is no gzip file")
	}
	tr := tar.NewReader(gz)
	have = map[string]File{}
	folded := map[string]bool{}
	total := int64(0)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return manifest, have, nil
		}
		if err != nil {
			return nil, nil, errors.New("the package is no tar archive, or it was cut off")
		}
		p, inside := strings.CutPrefix(h.Name, tarPrefix)
		switch {
		case h.Typeflag != tar.TypeReg:
			return nil, nil, &MismatchError{shown(h.Name), "the entry is no regular file"}
		case !inside || !packagePath(p):
			return nil, nil, &MismatchError{shown(h.Name), "the entry is no path of a package"}
		case folded[strings.ToLower(p)]:
			return nil, nil, &MismatchError{p, "the package holds the file twice"}
		case h.Size > maxManifest || h.Size > maxFile && p != ManifestFile || total+h.Size > maxPackage || len(have) >= maxFiles:
			return nil, nil, &MismatchError{p, "the package is larger than any that this tool builds"}
		}
		folded[strings.ToLower(p)] = true
		total += h.Size
		if p == ManifestFile {
			if manifest, err = io.ReadAll(tr); err != nil {
				return nil, nil, errors.New("the package is no tar archive, or it was cut off")
			}
			continue
		}
		sum := sha256.New()
		n, err := io.Copy(sum, tr)
		if err != nil {
			return nil, nil, errors.New("the package is no tar archive, or it was cut off")
		}
		have[p] = File{contract.HashSum([sha256.Size]byte(sum.Sum(nil))), n}
	}
}

// shown is a foreign name for a message.
func shown(name string) string {
	if len(name) > 200 {
		name = name[:200]
	}
	return fmt.Sprintf("%q", name)
}

// hashFile gives the SHA-256 of a file, and its SHA-512 as npm writes it.
func hashFile(path string) (contract.Hash, string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", "", err
	}
	defer f.Close() //nolint:errcheck // read only
	sum256, sum512 := sha256.New(), sha512.New()
	if _, err := io.Copy(io.MultiWriter(sum256, sum512), f); err != nil {
		return "", "", err
	}
	return contract.HashSum([sha256.Size]byte(sum256.Sum(nil))), "sha512-" + base64.StdEncoding.EncodeToString(sum512.Sum(nil)), nil
}
