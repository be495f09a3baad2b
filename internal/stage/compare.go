package stage

import (
	"errors"
	"fmt"
	"os"

	"github.com/open-design/agent-cli-contracts/pkg/compare"
	"github.com/open-design/agent-cli-contracts/pkg/lint"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// CompareReport is what came of one new tree: what lint says about it and, where that is no error, the verdicts.
type CompareReport struct {
	Findings lint.Findings   `json:"findings"`
	Verdicts *compare.Report `json:"verdicts,omitempty"`
}

// Compare holds a new tree against the checkout's registry: the DIR/registry that a capture wrote, or the registry of
// another checkout, which brings its own agents and probes. private is the capture's folder of failure records; it may
// be empty. A tree that lint refuses gets no verdicts and is an error. The error is a *FoundError where there is a verdict
// other than same_shape.
func (s *Stage) Compare(dir, private string) (report *CompareReport, err error) {
	tree, err := registry.OpenTree(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tree.Close()) }()
	catalog := s.Checkout.Catalog
	if len(tree.Files("agents/")) > 0 {
		if catalog, err = s.catalogOf(tree, dir); err != nil {
			return nil, err
		}
	} else {
		if err := tree.Foreign(); err != nil {
			return nil, err
		}
		tree.Overlay(s.Checkout.Tree)
	}
	report = &CompareReport{Findings: lint.Findings{}}
	findings, err := lint.Run(tree, lint.Options{Catalog: catalog, Temp: os.TempDir()})
	if err != nil {
		return nil, err
	}
	report.Findings = append(report.Findings, findings...)
	if n := findings.Errors(); n > 0 {
		return report, fmt.Errorf("%s: lint refuses the tree with %d errors, so there is nothing to compare", dir, n)
	}
	var failures []compare.Failure
	if private != "" {
		if failures, err = compare.ReadFailures(private); err != nil {
			return report, err
		}
	}
	if report.Verdicts, err = compare.Classify(s.Checkout.Tree, tree, catalog, failures...); err != nil {
		return report, err
	}
	if report.Verdicts.Found() {
		return report, Found("the worst verdict is %s", report.Verdicts.Worst)
	}
	return report, nil
}
