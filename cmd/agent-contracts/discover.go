package main

import (
	"context"
	"errors"
)

type discoverCmd struct {
	Agents []string `arg:"" optional:"" name:"agent" help:"Agents to look at. Default: all."`
	Format string   `help:"text, markdown, json, or matrix (what a capture workflow runs next)." enum:"text,markdown,json,matrix" default:"text"`
	Out    string   `help:"Keep the lists of releases as records in DIR/registry." type:"path" placeholder:"DIR"`
}

func (c *discoverCmd) Help() string {
	return `Exit code 1 when a current release is uncovered, an agent is stale, or a capture is overdue; 2 when the releases of an
agent are unknown.

Examples:
  agent-contracts discover
  agent-contracts discover codex --format markdown
  agent-contracts discover --out .`
}

func (c *discoverCmd) Run(ctx context.Context, a *app) (err error) {
	s, err := a.open(c.Out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	plan, err := s.Discover(ctx, c.Agents)
	if plan == nil {
		return err
	}
	format := c.Format
	if a.cli.JSON && format == "text" {
		format = "json"
	}
	switch format {
	case "markdown":
		return errors.Join(err, plan.WriteMarkdown(a.env.Stdout))
	case "json":
		return errors.Join(err, plan.WriteJSON(a.env.Stdout))
	case "matrix":
		return errors.Join(err, a.printJSON(plan.Matrices()))
	}
	return errors.Join(err, plan.WriteText(a.env.Stdout))
}
