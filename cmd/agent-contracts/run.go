package main

import (
	"context"
	"errors"

	"github.com/open-design/agent-cli-contracts/internal/stage"
)

type runCmd struct {
	Selector    string `arg:"" help:"AGENT or AGENT@VERSION."`
	Bin         string `help:"Run this executable instead of installing one." placeholder:"PATH"`
	Out         string `help:"Where everything goes." default:"out" type:"path" placeholder:"DIR"`
	NoIsolation bool   `help:"Run the CLI without namespaces of its own."`
}

func (c *runCmd) Help() string {
	return `Example:
  agent-contracts run codex@0.133.0`
}

func (c *runCmd) Run(ctx context.Context, a *app) (err error) {
	s, err := a.open(c.Out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	report, err := s.Capture(ctx, stage.CaptureRequest{Selector: c.Selector, Bin: c.Bin, Repeat: 1, NoIsolation: c.NoIsolation})
	if report != nil {
		a.captureText(report)
	}
	return err
}
