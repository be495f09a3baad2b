package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Severity says whether a finding stops a tree from being accepted.
type Severity string

// The severities.
const (
	// Error: the tree may not be merged or published.
	Error Severity = "error"
	// Warning: somebody should look.
	Warning Severity = "warning"
)

// Finding is one violation of a rule. It never quotes a value of the tree.
type Finding struct {
	contract.Problem
	Severity Severity `json:"severity"`
}

// String is the finding on one line.
func (f Finding) String() string { return string(f.Severity) + ": " + f.Problem.String() }

// Findings are sorted by file, line, pointer and rule.
type Findings []Finding

// Errors counts the findings of severity Error.
func (f Findings) Errors() int {
	n := 0
	for _, finding := range f {
		if finding.Severity == Error {
			n++
		}
	}
	return n
}

// String lists the findings, one a line.
func (f Findings) String() string {
	lines := make([]string, len(f))
	for i, finding := range f {
		lines[i] = finding.String()
	}
	return strings.Join(lines, "\n")
}

func (f Findings) sort() Findings {
	slices.SortFunc(f, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Pointer, b.Pointer),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Remedy, b.Remedy))
	})
	return slices.Compact(f)
}
