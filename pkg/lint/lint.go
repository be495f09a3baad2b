package lint

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// Options say what a tree is linted with.
type Options struct {
	// Catalog holds the agents and probes. Without one it is loaded from the tree (or its lowest base) and Probes.
	Catalog *registry.Catalog
	// Probes is the folder of probes, for a run without Catalog.
	Probes string
	// Known are private values of this machine, which no file may hold.
	Known []scan.Known
	// Temp is the folder of spools. Default: the system's.
	Temp string
}

// Rule is one condition that a tree must meet.
type Rule struct {
	// ID is stable: findings name it.
	ID string
	// Purpose is one sentence.
	Purpose  string
	Severity Severity

	// Exactly one of these looks at the tree as a whole, at each observation, or at each shape.
	tree        func(*state, reporter)
	observation func(*state, *registry.Record, reporter)
	shape       func(*state, *shapeFile, reporter)
}

// reporter takes one finding: file, JSON pointer, what is wrong, what to do.
type reporter func(file, pointer, message, remedy string)

// Rules lists the rules of this package, group by group. Findings about a single record carry the ids of
// contract.Rules instead.
func Rules() []Rule { return slices.Clone(allRules) }

var allRules = slices.Concat(
	fileRules, scanRules, catalogRules, pathRules, observationRules, evidenceRules, shapeRules, fixtureRules, goldenRules,
	aliasRules, generatedRules, claimRules, overlayRules,
)

// Run lints a tree. The findings are sorted and hold no value of the tree; whether there are any is no error. The
// error says that the tree could not be read, or that the scanner does not work.
func Run(t *registry.Tree, opts Options) (Findings, error) {
	s, err := load(t, opts)
	if err != nil {
		return nil, fmt.Errorf("linting %s: %w", t.Name, err)
	}
	for _, rule := range allRules {
		rule.run(s)
	}
	if err := errors.Join(s.faults...); err != nil {
		return nil, fmt.Errorf("linting %s: %w", t.Name, err)
	}
	return s.findings.sort(), nil
}

func (r *Rule) run(s *state) {
	report := func(file, pointer, message, remedy string) {
		s.add(Finding{Problem: contract.Problem{File: file, Pointer: pointer, Rule: r.ID, Message: message, Remedy: remedy}, Severity: r.Severity})
	}
	switch {
	case r.tree != nil:
		r.tree(s, report)
	case r.observation != nil && s.catalog != nil:
		inParallel(s.records.Observations, func(rec *registry.Record) {
			if s.own(string(rec.Path)) || s.own(string(rec.EvidencePath())) {
				r.observation(s, rec, report)
			}
		})
	case r.shape != nil:
		inParallel(s.shapes, func(f *shapeFile) { r.shape(s, f, report) })
	}
}

// inParallel calls fn for each item, on all processors.
func inParallel[T any](items []T, fn func(T)) {
	var wg sync.WaitGroup
	workers := min(len(items), runtime.GOMAXPROCS(0))
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(items); i += workers {
				fn(items[i])
			}
		})
	}
	wg.Wait()
}

func (o *Options) temp() string {
	if o.Temp != "" {
		return o.Temp
	}
	return os.TempDir()
}
