package publish

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// ManifestFile is the manifest's name inside a package.
const ManifestFile = "MANIFEST.json"

// Caps of a package that is read; a foreign package is hostile.
const (
	maxFiles    = 500_000
	maxFile     = 64 << 20
	maxPackage  = 2 << 30
	maxManifest = 256 << 20
)

// Manifest lists every file of a package but itself.
type Manifest struct {
	SchemaVersion int                `json:"schema_version"`
	Name          string             `json:"name"`
	Version       string             `json:"version"`
	GeneratedAt   contract.Timestamp `json:"generated_at"`
	// Files maps slash-separated paths to hashes and sizes.
	Files map[string]File `json:"files"`
}

// File is one file of a package.
type File struct {
	SHA256 contract.Hash `json:"sha256"`
	// Size is in bytes.
	Size int64 `json:"size"`
}

var (
	hashForm = regexp.MustCompile(contract.Hash("").Pattern())
	pathForm = regexp.MustCompile(`^[A-Za-z0-9_@+-][A-Za-z0-9._@+-]*(/[A-Za-z0-9_@+-][A-Za-z0-9._@+-]*)*$`)
)

// ParseManifest reads a manifest. It refuses paths that lead out of the package, dot files, and names that some file
// systems take for one.
func ParseManifest(data []byte) (*Manifest, error) {
	var m Manifest
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil || dec.More() {
		return nil, errors.New("the manifest is not the JSON of a manifest")
	}
	if m.SchemaVersion != contract.SchemaVersion {
		return nil, fmt.Errorf("the manifest has schema version %d and this tool knows %d: use a newer tool", m.SchemaVersion, contract.SchemaVersion)
	}
	if len(m.Files) == 0 || len(m.Files) > maxFiles {
		return nil, fmt.Errorf("the manifest lists %d files; a package has 1 to %d", len(m.Files), maxFiles)
	}
	folded := map[string]bool{}
	for _, p := range m.paths() {
		f := m.Files[p]
		switch fold := strings.ToLower(p); {
		case !packagePath(p) || p == ManifestFile:
			return nil, fmt.Errorf("the manifest lists %q, which is no path of a package", p)
		case !hashForm.MatchString(string(f.SHA256)) || f.Size < 0 || f.Size > maxFile:
			return nil, fmt.Errorf("the manifest's entry of %s has no hash or no size", p)
		case folded[fold]:
			return nil, fmt.Errorf("the manifest lists %s twice, in another case", p)
		default:
			folded[fold] = true
		}
	}
	return &m, nil
}

// packagePath reports whether a path may stand in a package.
func packagePath(p string) bool { return fs.ValidPath(p) && pathForm.MatchString(p) }

func (m *Manifest) paths() []string { return slices.Sorted(maps.Keys(m.Files)) }

func (m *Manifest) size() int64 {
	var n int64
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// MismatchError names the first file, in the order of paths, in which a package is not what its manifest says.
type MismatchError struct{ File, Reason string }

func (e *MismatchError) Error() string { return fmt.Sprintf("%s: %s", e.File, e.Reason) }

// compare holds the files that a package has against its manifest.
func (m *Manifest) compare(have map[string]File) error {
	all := maps.Clone(have)
	maps.Copy(all, m.Files)
	for _, p := range slices.Sorted(maps.Keys(all)) {
		want, listed := m.Files[p]
		got, present := have[p]
		switch {
		case !listed:
			return &MismatchError{p, "the file is not in the manifest"}
		case !present:
			return &MismatchError{p, "the file is missing"}
		case want.Size != got.Size:
			return &MismatchError{p, fmt.Sprintf("the file has %d bytes, the manifest says %d", got.Size, want.Size)}
		case want.SHA256 != got.SHA256:
			return &MismatchError{p, "the file's hash is not the manifest's"}
		}
	}
	return nil
}
