// Command compare is the action that gives new observations their verdicts.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/open-design/agent-cli-contracts/actions/internal/step"
	"github.com/open-design/agent-cli-contracts/internal/stage"
	"github.com/open-design/agent-cli-contracts/pkg/compare"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

func main() {
	os.Exit(step.Main(run))
}

// treeReport is the report of one new tree.
type treeReport struct {
	Tree string `json:"tree"`
	*stage.CompareReport
}

func run(ctx context.Context, s *step.Step) (err error) {
	fresh, err := s.Required("new")
	if err != nil {
		return err
	}
	threshold, err := s.Enum("threshold", string(compare.ParserIncompatible), string(compare.SameShape), string(compare.CompatibleNewShape), string(compare.ServerVariant), string(compare.RedactionFailed))
	if err != nil {
		return err
	}
	out := s.Path("out", "out")
	st, err := s.Open(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	list, err := trees(s.Path("new", ""))
	if err != nil {
		return err
	}
	reports := []treeReport{}
	worst := compare.Verdict("")
	var faults []error
	for _, dir := range list {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		name := fresh
		if len(list) > 1 || dir != s.Path("new", "") {
			name += "/" + filepath.Base(dir)
		}
		report, cerr := st.Compare(dir, s.Path("private", ""))
		if report == nil {
			return fmt.Errorf("comparing %s: %w", name, cerr)
		}
		reports = append(reports, treeReport{name, report})
		switch {
		case report.Verdicts == nil:
			faults = append(faults, cerr)
		case report.Verdicts.Worst.Rank() > worst.Rank():
			worst = report.Verdicts.Worst
		}
	}
	if err := publish(s, out, worst, reports); err != nil {
		return err
	}
	if worst.Rank() >= compare.Verdict(threshold).Rank() {
		faults = append(faults, stage.Found("the worst verdict is %s", worst))
	}
	return errors.Join(faults...)
}

// trees lists the trees of a folder: itself when it is one, else its sub-folders. Each is compared by itself, since two
// captures may have accepted different fixtures for one new shape.
func trees(dir string) ([]string, error) {
	if info, err := os.Stat(filepath.Join(dir, "observations")); err == nil && info.IsDir() {
		return []string{dir}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("input new: %w", err)
	}
	var found []string
	for _, e := range entries {
		if e.IsDir() {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	return found, nil
}

// publish writes compare.json, the summary and the annotations, and sets the outputs.
func publish(s *step.Step, out string, worst compare.Verdict, reports []treeReport) error {
	data, err := contract.Marshal(reports)
	if err != nil {
		return err
	}
	if err := registry.WriteFile(filepath.Join(out, "compare.json"), data); err != nil {
		return err
	}
	for _, r := range reports {
		for _, f := range r.Findings {
			s.WithFieldsMap(map[string]string{"file": "registry/" + f.File, "title": f.Rule}).Warningf("%s", f)
		}
		if r.Verdicts == nil {
			continue
		}
		summary, err := r.Verdicts.Render(compare.FormatMarkdown)
		if err != nil {
			return err
		}
		annotations, err := r.Verdicts.Render(compare.FormatGitHub)
		if err != nil {
			return err
		}
		s.AddStepSummary(string(summary))
		if err := s.Annotations(annotations); err != nil {
			return err
		}
	}
	s.SetOutput("worst", string(worst))
	return nil
}
