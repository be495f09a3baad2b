// Command discover is the action that says which releases are not covered, and what to capture next.
package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/open-design/agent-cli-contracts/actions/internal/step"
	"github.com/open-design/agent-cli-contracts/internal/stage"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/discover"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

func main() {
	os.Exit(step.Main(run))
}

func run(ctx context.Context, s *step.Step) (err error) {
	out := s.Path("out", "out")
	st, err := s.Open(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	plan, err := st.Discover(ctx, s.List("agents"))
	if plan == nil {
		return err
	}
	if perr := publish(s, out, plan); perr != nil {
		return errors.Join(err, perr)
	}
	// Drift is what this step looks for: an answer, not a failure.
	var drift *stage.FoundError
	if errors.As(err, &drift) {
		s.Noticef("%v", drift)
		return nil
	}
	return err
}

// publish writes plan.json and the summary, and sets the outputs.
func publish(s *step.Step, out string, plan *discover.Plan) error {
	data, err := contract.Marshal(plan)
	if err != nil {
		return err
	}
	var summary strings.Builder
	err = errors.Join(registry.WriteFile(filepath.Join(out, "plan.json"), data), plan.WriteMarkdown(&summary))
	s.AddStepSummary(summary.String())
	matrix := discover.Matrix{Include: []discover.Job{}}
	if all := plan.Matrices(); len(all) > 0 {
		matrix = all[0]
	}
	s.SetOutput("captures", strconv.Itoa(len(matrix.Include)))
	s.SetOutput("drift", strconv.FormatBool(plan.Drift()))
	return errors.Join(err, s.SetJSON("matrix", matrix))
}
