package stage

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/open-design/agent-cli-contracts/pkg/publish"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// PublishRequest says what package to build.
type PublishRequest struct {
	// Out gets the folder package and the tarball.
	Out string
	// New is a tree of new records that is laid over the checkout's registry; empty means the registry alone.
	New string
	// Name and Version of the package; empty means that of the library and that of this tool.
	Name, Version string
	// Attested demands a maintainer's attestation of every observation.
	Attested bool
}

// Publish builds the package of the checkout's registry and uploads nothing. The error is a *FoundError where the tree
// may not be published.
func (s *Stage) Publish(req PublishRequest) (p *publish.Package, err error) {
	tree := s.Checkout.Tree
	if req.New != "" {
		if tree, err = registry.OpenTree(req.New); err != nil {
			return nil, err
		}
		tree.Overlay(s.Checkout.Tree)
		defer func() { err = errors.Join(err, tree.Close()) }()
	}
	return s.build(tree, req)
}

func (s *Stage) build(tree *registry.Tree, req PublishRequest) (p *publish.Package, err error) {
	root, err := os.OpenRoot(s.Dirs.Checkout)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	library, err := fs.Sub(root.FS(), "npm")
	if err != nil {
		return nil, err
	}
	name := req.Name
	if name == "" {
		if name, err = libraryName(library); err != nil {
			return nil, err
		}
	}
	opts := publish.Options{Name: name, Version: cmp.Or(req.Version, string(ToolVersion)), Library: library, Temp: os.TempDir(), RequireAttestation: req.Attested}
	if opts.Scanner, err = scan.New(scan.Config{Known: s.known()}); err != nil {
		return nil, err
	}
	if opts.Readme, err = fs.ReadFile(library, "README.md"); err == nil {
		opts.License, err = root.ReadFile("LICENSE")
	}
	if err != nil {
		return nil, fmt.Errorf("reading the texts of the package: %w", err)
	}
	opts.Check = func() error {
		findings, err := s.lint(tree, s.Checkout.Catalog)
		for _, f := range findings {
			s.Progress("%s", f)
		}
		return err
	}
	p, err = publish.Build(tree, s.Checkout.Catalog, opts, req.Out)
	var refused *publish.RefusedError
	if errors.As(err, &refused) {
		return nil, &FoundError{err}
	}
	return p, err
}

// libraryName is the name that the consumer library's own package.json gives.
func libraryName(library fs.FS) (string, error) {
	data, err := fs.ReadFile(library, "package.json")
	if err != nil {
		return "", fmt.Errorf("reading the consumer library: %w; a checkout holds it in %s", err, filepath.Join("npm", "package.json"))
	}
	var manifest struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(data, &manifest); err != nil || manifest.Name == "" {
		return "", errors.New("npm/package.json of the checkout names no package: name one with --name")
	}
	return manifest.Name, nil
}

// Verify hashes a package again, offline. The error is a *FoundError where it is not what its manifest says.
func Verify(path string) (*publish.Manifest, error) {
	m, err := publish.Verify(path)
	var mismatch *publish.MismatchError
	if errors.As(err, &mismatch) {
		return nil, &FoundError{err}
	}
	return m, err
}
