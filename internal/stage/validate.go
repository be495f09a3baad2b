package stage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/open-design/agent-cli-contracts/pkg/lint"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// ValidateRequest says what to validate.
type ValidateRequest struct {
	// Dir is a tree, or has one in registry/: an overlay on the checkout's registry, or the registry of another checkout, which brings its own
	// agents and probes. Empty is the checkout's registry.
	Dir string
	// Fresh looks at everything again, whatever the cache says.
	Fresh bool
}

// Validation is what came of it.
type Validation struct {
	Findings lint.Findings
	// Unchanged is set where the same bytes were found free of errors before, by this very program.
	Unchanged bool
}

// Written finds what a capture wrote: the tree and the failure records below dir, where dir has a registry/; else dir is
// the tree itself.
func Written(dir string) (tree, private string) {
	if info, err := os.Stat(filepath.Join(dir, outRegistry)); err == nil && info.IsDir() {
		return filepath.Join(dir, outRegistry), filepath.Join(dir, "private")
	}
	return dir, ""
}

// Validate lints a tree. The error is a *FoundError where the tree is refused.
func (s *Stage) Validate(req ValidateRequest) (v *Validation, err error) {
	tree, catalog := s.Checkout.Tree, s.Checkout.Catalog
	if req.Dir != "" {
		req.Dir, _ = Written(req.Dir)
		if tree, err = registry.OpenTree(req.Dir); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, tree.Close()) }()
		if len(tree.Files("agents/")) == 0 {
			if err := tree.Foreign(); err != nil {
				return nil, err
			}
			tree.Overlay(s.Checkout.Tree)
		} else if catalog, err = s.catalogOf(tree, req.Dir); err != nil {
			return nil, err
		}
	}
	cache := verdicts{dir: filepath.Join(s.Dirs.Cache, "validate")}
	before, cacheErr := s.validationKey(tree, catalog)
	if cacheErr == nil && !req.Fresh {
		if findings, ok := cache.load(before); ok {
			return &Validation{findings, true}, nil
		}
	}
	findings, err := s.lint(tree, catalog)
	if err != nil {
		return &Validation{Findings: findings}, err
	}
	// Only what did not change meanwhile was looked at; a cache that cannot be written costs time, nothing else.
	if after, err := s.validationKey(tree, catalog); cacheErr == nil && err == nil && after == before {
		if err := cache.store(before, findings); err != nil {
			s.Progress("the next validation looks at everything again: %v", err)
		}
	}
	return &Validation{Findings: findings}, nil
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
