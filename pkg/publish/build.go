package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// packageFolder is the unpacked package inside the folder that Build writes into.
const packageFolder = "package"

// Options are what a package holds besides the tree's data.
type Options struct {
	// Name is the npm name; Version a semantic version.
	Name, Version string
	// GeneratedAt dates the package and its support matrix. Empty means the newest capture of the tree, so that a
	// package is a function of its tree.
	GeneratedAt contract.Timestamp
	// Readme and License are the texts of README.md and LICENSE.
	Readme, License []byte
	// Library is the folder of the consumer library: package.json, *.js, *.d.ts and types/*.d.ts are taken.
	Library fs.FS
	// Scanner looks for secrets in every file.
	Scanner *scan.Scanner
	// Temp is a private folder for spools.
	Temp string
	// Check is asked before anything is written; its error stops the build. It is where the caller lints the tree.
	Check func() error
	// RequireAttestation refuses observations without a maintainer's statement that the raw artifact was checked.
	RequireAttestation bool
}

// Package is a package that was built.
type Package struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Folder holds the unpacked package; Tarball is the file that npm would upload.
	Folder  string `json:"folder"`
	Tarball string `json:"tarball"`
	Files   int    `json:"files"`
	// Size counts the unpacked bytes; TarballSize the packed ones.
	Size        int64 `json:"size"`
	TarballSize int64 `json:"tarball_size"`
	// ManifestSHA256 and TarballSHA256 are for attestations; Integrity is the tarball's hash as npm writes it.
	ManifestSHA256 contract.Hash `json:"manifest_sha256"`
	TarballSHA256  contract.Hash `json:"tarball_sha256"`
	Integrity      string        `json:"integrity"`
	Manifest       *Manifest     `json:"-"`
}

// Build builds the package of a tree, and of the base below it, into dir: dir/package and a tarball beside it. What
// was there before is replaced when everything is complete; until then, and on an error, it stays as it is. Two builds
// into one folder at the same time are the caller's to avoid.
func Build(tree *registry.Tree, catalog *registry.Catalog, opts Options, dir string) (*Package, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	if opts.Check != nil {
		if err := opts.Check(); err != nil {
			return nil, fmt.Errorf("the tree cannot be published: %w", err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("creating the package folder: %w", err)
	}
	work, err := os.MkdirTemp(dir, ".building-")
	if err != nil {
		return nil, fmt.Errorf("creating the package folder: %w", err)
	}
	defer os.RemoveAll(work) //nolint:errcheck // best effort on a folder of ours
	c := &collector{Options: opts, tree: tree, catalog: catalog, dir: filepath.Join(work, packageFolder), files: map[string]File{}, folded: map[string]string{}}
	if err := c.collect(); err != nil {
		return nil, fmt.Errorf("building the package: %w", err)
	}
	m, manifest, err := c.manifest()
	if err != nil {
		return nil, fmt.Errorf("building the package: %w", err)
	}
	p := &Package{
		Name: opts.Name, Version: opts.Version, Folder: filepath.Join(dir, packageFolder), Tarball: filepath.Join(dir, tarballName(opts.Name, opts.Version)),
		Files: len(m.Files) + 1, Size: m.size() + int64(len(manifest)), ManifestSHA256: contract.HashBytes(manifest), Manifest: m,
	}
	packed := filepath.Join(work, "package.tgz")
	if err := pack(packed, c.dir, append(m.paths(), ManifestFile)); err != nil {
		return nil, err
	}
	// What was written is read back before it is given a name that somebody may publish.
	if _, err := Verify(packed); err != nil {
		return nil, err
	}
	info, err := os.Stat(packed)
	if err != nil {
		return nil, err
	}
	p.TarballSize = info.Size()
	if p.TarballSHA256, p.Integrity, err = hashFile(packed); err != nil {
		return nil, err
	}
	if err := replace(work, c.dir, p.Folder); err != nil {
		return nil, err
	}
	if err := os.Rename(packed, p.Tarball); err != nil {
		return nil, fmt.Errorf("placing the tarball: %w", err)
	}
	return p, nil
}

func (o Options) check() error {
	switch {
	case !nameForm.MatchString(o.Name) || len(o.Name) > 214:
		return fmt.Errorf("%q is no npm package name", o.Name)
	case !versionForm.MatchString(o.Version):
		return fmt.Errorf("%q is no semantic version: write it like 1.2.3", o.Version)
	case len(o.License) == 0 || len(o.Readme) == 0:
		return errors.New("a package needs the texts of README.md and LICENSE")
	case o.Library == nil || o.Scanner == nil:
		return errors.New("a package needs the consumer library and a scanner")
	}
	if err := o.Scanner.Alive(); err != nil {
		return fmt.Errorf("the scanner does not fire, so a clean result proves nothing: %w", err)
	}
	return nil
}

// tarballName is the name that npm gives: the scope joins with a hyphen.
func tarballName(name, version string) string {
	return strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-") + "-" + version + ".tgz"
}

func pack(file, dir string, files []string) error {
	slices.Sort(files)
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("creating the tarball: %w", err)
	}
	if err := errors.Join(writeTarball(f, dir, files), f.Close()); err != nil {
		return fmt.Errorf("writing the tarball: %w", err)
	}
	return nil
}

// replace puts a folder in the place of another. Between the two renames there is no folder; a failure of the second
// brings the old one back.
func replace(work, from, to string) error {
	old := filepath.Join(work, "old")
	err := os.Rename(to, old)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replacing the package: %w", err)
	}
	had := err == nil
	if err := os.Rename(from, to); err != nil {
		if had {
			err = errors.Join(err, os.Rename(old, to))
		}
		return fmt.Errorf("replacing the package: %w", err)
	}
	return nil
}
