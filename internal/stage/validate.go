package stage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/open-design/agent-cli-contracts/pkg/lint"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// Validate lints a tree: the checkout's registry where dir is empty, an overlay on it, or the registry of another
// checkout, which brings its own agents and probes. The error is a *FoundError where the tree is refused.
func (s *Stage) Validate(dir string) (findings lint.Findings, err error) {
	tree, catalog := s.Checkout.Tree, s.Checkout.Catalog
	if dir != "" {
		if tree, err = registry.OpenTree(dir); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, tree.Close()) }()
		if len(tree.Files("agents/")) == 0 {
			tree.Overlay(s.Checkout.Tree)
		} else if catalog, err = s.catalogOf(tree, dir); err != nil {
			return nil, err
		}
	}
	return s.lint(tree, catalog)
}

// catalogOf loads the agents of a whole registry and the probes beside it; without any, those of the checkout.
func (s *Stage) catalogOf(tree *registry.Tree, dir string) (*registry.Catalog, error) {
	probes := filepath.Join(dir, "..", "probes")
	if _, err := os.Stat(probes); errors.Is(err, fs.ErrNotExist) {
		probes = filepath.Join(s.Dirs.Checkout, "probes")
	}
	return registry.LoadCatalog(tree, probes)
}

// lint checks a tree, with what identifies this machine among the values that no file may hold.
func (s *Stage) lint(tree *registry.Tree, catalog *registry.Catalog) (lint.Findings, error) {
	findings, err := lint.Run(tree, lint.Options{Catalog: catalog, Known: s.known(), Temp: os.TempDir()})
	if err == nil && findings.Errors() > 0 {
		err = Found("lint refuses %s with %d errors", tree.Name, findings.Errors())
	}
	return findings, err
}
