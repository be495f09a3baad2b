package main

import (
	"context"
	"errors"

	"github.com/open-design/agent-cli-contracts/pkg/lint"
)

type validateCmd struct {
	Dir string `arg:"" optional:"" help:"Tree to validate: a registry, or an overlay on the checkout's. Default: the checkout's registry." type:"existingdir"`
}

func (c *validateCmd) Help() string {
	return `Checks everything: schemas, references, hashes, fixtures normalized again, goldens, secret scans, generated files.
Exit code 1 when there are errors.

Examples:
  agent-contracts validate
  agent-contracts validate out/registry`
}

func (c *validateCmd) Run(_ context.Context, a *app) (err error) {
	s, err := a.open("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	findings, err := s.Validate(c.Dir)
	if findings == nil {
		findings = lint.Findings{}
	}
	perr := a.print(findings, func() {
		for _, f := range findings {
			a.printf("%s\n", f)
		}
		if err == nil {
			a.printf("valid; %d remarks\n", len(findings))
		}
	})
	return errors.Join(err, perr)
}
