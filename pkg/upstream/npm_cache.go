package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/rogpeppe/go-internal/lockedfile"
)

// markerName is the file in an install that says what it is. It is written last, so an install without it is none.
const markerName = "install.json"

// marker is the content of the marker file.
type marker struct {
	Package           string            `json:"package"`
	Version           string            `json:"version"`
	Platform          contract.Platform `json:"platform"`
	Integrity         string            `json:"integrity"`
	PlatformPackage   string            `json:"platform_package,omitempty"`   // name@version
	PlatformIntegrity string            `json:"platform_integrity,omitempty"` // of the platform package
	Bin               string            `json:"bin"`                          // slash-separated, relative to the marker's folder
	BinarySHA256      contract.Hash     `json:"binary_sha256"`
	TreeSHA256        contract.Hash     `json:"tree_sha256,omitempty"` // of a script: all packages that came with it
}

// slot is the place of one release for one platform in the cache.
//
//	<CacheDir>/npm/<package, "/" as "+">/<version>/<platform>            the install, complete or absent
//	                                               <platform>.lock       held while one is made; never removed
//	                                               <platform>.partial-*  an install being made, or the rest of a killed one
type slot struct{ dir string }

func (n *NPM) slot(want wanted) (*slot, error) {
	root, err := filepath.Abs(n.CacheDir)
	if err != nil {
		return nil, fmt.Errorf("finding the cache folder: %w", err)
	}
	escaped := strings.ReplaceAll(want.pkg, "/", "+")
	return &slot{dir: filepath.Join(root, "npm", escaped, want.version, string(want.platform))}, nil
}

// load gives a complete install, or nil when there is none for the wanted release and executable.
func (s *slot) load(want wanted) (*Installed, error) {
	data, err := os.ReadFile(filepath.Join(s.dir, markerName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the cached install: %w", err)
	}
	var m marker
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, &BinaryError{Path: s.dir, Problem: "the marker of this cached install cannot be read", Remedy: "remove the folder"}
	}
	if m.Package != want.pkg || m.Version != want.version || m.Platform != want.platform || m.Bin != want.bin || (m.TreeSHA256 == "") != (want.runtime == nil) {
		return nil, nil
	}
	installed := s.installed(&m)
	hash, err := HashFile(installed.Bin)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &BinaryError{Path: s.dir, Problem: "the executable of this cached install is gone", Remedy: "remove the folder"}
	}
	if err != nil {
		return nil, err
	}
	if hash != m.BinarySHA256 {
		return nil, &BinaryError{Path: s.dir, Problem: "the executable of this cached install was changed since", Remedy: "remove the folder"}
	}
	return installed, nil
}

func (s *slot) installed(m *marker) *Installed {
	source := m.Package + "@" + m.Version
	installed := &Installed{
		Dir:          s.dir,
		Bin:          filepath.Join(s.dir, filepath.FromSlash(m.Bin)),
		Source:       "npm:" + source,
		Resolved:     contract.Resolved{Package: source, Integrity: m.Integrity, PlatformPackage: m.PlatformPackage},
		BinarySHA256: m.BinarySHA256,
	}
	if m.TreeSHA256 != "" {
		installed.Resolved.TreeSHA256 = &m.TreeSHA256
	}
	return installed
}

// lock waits until no other process makes this install. The system frees the lock of a process that dies.
func (s *slot) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(s.dir), 0o755); err != nil {
		return nil, fmt.Errorf("making the cache folder: %w", err)
	}
	type result struct {
		unlock func()
		err    error
	}
	got := make(chan result, 1)
	go func() {
		unlock, err := lockedfile.MutexAt(s.dir + ".lock").Lock()
		got <- result{unlock, err}
	}()
	select {
	case r := <-got:
		if r.err != nil {
			return nil, fmt.Errorf("locking the cache: %w", r.err)
		}
		return r.unlock, nil
	case <-ctx.Done():
		go func() {
			if r := <-got; r.err == nil {
				r.unlock()
			}
		}()
		return nil, fmt.Errorf("waiting for another install of the same release: %w", ctx.Err())
	}
}

// stage removes what killed installs left and makes a folder for a new one. Only the holder of the lock may call
// it. The name is new each time, because the npm of a killed process may live on and write to its old folder.
func (s *slot) stage() (string, error) {
	parent, prefix := filepath.Dir(s.dir), filepath.Base(s.dir)+".partial-"
	entries, err := os.ReadDir(parent)
	if err != nil {
		return "", fmt.Errorf("reading the cache folder: %w", err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), prefix) {
			if err := os.RemoveAll(filepath.Join(parent, entry.Name())); err != nil {
				return "", fmt.Errorf("removing the rest of an interrupted install: %w", err)
			}
		}
	}
	dir, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return "", fmt.Errorf("making a folder to install in: %w", err)
	}
	// The child that runs the executable may be another user.
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", fmt.Errorf("opening the folder to install in: %w", err)
	}
	return dir, nil
}

// commit writes the marker and moves a finished install to its place.
func (s *slot) commit(staging string, m *marker) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the marker of the install: %w", err)
	}
	if err := os.WriteFile(filepath.Join(staging, markerName), append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the marker of the install: %w", err)
	}
	// What may be there now has no marker, or was made for another executable of the release. It is renamed first,
	// so that nobody reads a half-removed install.
	old := staging + "-replaced"
	if err := os.Rename(s.dir, old); err == nil {
		defer os.RemoveAll(old) //nolint:errcheck // best effort on a folder of ours
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replacing the cached install: %w", err)
	}
	if err := os.Rename(staging, s.dir); err != nil {
		return fmt.Errorf("moving the install into the cache: %w", err)
	}
	return nil
}
