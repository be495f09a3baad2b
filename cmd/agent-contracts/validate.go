package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/open-design/agent-cli-contracts/internal/stage"
	"github.com/open-design/agent-cli-contracts/pkg/lint"
)

type validateCmd struct {
	Dir   string `arg:"" optional:"" help:"Tree to validate, or a folder with one in registry/: a registry, or an overlay on the checkout's. Default: the checkout's registry." type:"path"`
	Fresh bool   `help:"Look at everything again, also where the same bytes were found free of errors before."`
}

func (c *validateCmd) Help() string {
	return `Checks everything: schemas, references, hashes, fixtures normalized again, goldens, secret scans, generated files.
Exit code 1 when there are errors. A tree that this program found free of errors is not looked at again until a byte
changes; --fresh does it all the same.

Examples:
  agent-contracts validate
  agent-contracts validate out`
}

func (c *validateCmd) Run(_ context.Context, a *app) (err error) {
	if info, err := os.Stat(c.Dir); c.Dir != "" && (err != nil || !info.IsDir()) {
		return fmt.Errorf("validate: there is no folder %s", c.Dir)
	}
	s, err := a.open("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	v, err := s.Validate(stage.ValidateRequest{Dir: c.Dir, Fresh: c.Fresh})
	findings, unchanged := lint.Findings{}, ""
	if v != nil && v.Findings != nil {
		findings = v.Findings
	}
	if v != nil && v.Unchanged {
		unchanged = "; unchanged since the last time"
	}
	perr := a.print(findings, func() {
		for _, f := range findings {
			a.printf("%s\n", f)
		}
		if err == nil {
			a.printf("valid; %d remarks%s\n", len(findings), unchanged)
		}
	})
	return errors.Join(err, perr)
}
