package main

import (
	"context"
	"errors"
	"slices"

	"github.com/open-design/agent-cli-contracts/internal/stage"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

type matrixCmd struct {
	Check    bool   `help:"Write nothing; exit 1 when a generated file is not current." xor:"what"`
	Coverage bool   `help:"Show agent × probe × release, with a reason for every hole." xor:"what"`
	Why      string `help:"Show what backs the claim about SELECTOR." xor:"what" placeholder:"SELECTOR"`

	Gate   *int     `help:"Of --coverage: show only probes that the newest covered release of an agent of tier N or below neither shows nor says why not; exit 1 when there are any." placeholder:"N"`
	Format string   `help:"Of --coverage: text, markdown or json." enum:"text,markdown,json" default:"text"`
	Agents []string `arg:"" optional:"" name:"agent" help:"Of --coverage: agents to show; all by default."`
}

func (c *matrixCmd) Help() string {
	return `Regenerates registry/support-matrix.json and registry/agents.json from the observations.

Examples:
  agent-contracts matrix
  agent-contracts matrix --check
  agent-contracts matrix --coverage codex
  agent-contracts matrix --coverage --gate 0
  agent-contracts matrix --why codex@0.133.0`
}

func (c *matrixCmd) Run(_ context.Context, a *app) (err error) {
	s, err := a.open("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	switch {
	case !c.Coverage && c.Gate != nil:
		return errors.New("--gate is an option of --coverage")
	case !c.Coverage && len(c.Agents) > 0:
		return errors.New("agents are named with --coverage only: the generated files are about all of them")
	case c.Coverage:
		coverage, err := registry.Coverage(s.Checkout.Tree, s.Checkout.Catalog)
		if err != nil {
			return err
		}
		if coverage, err = c.chosen(coverage, s.Checkout.Catalog); err != nil {
			return err
		}
		a.cli.JSON = a.cli.JSON || c.Format == "json"
		if c.Gate != nil {
			return gate(a, registry.Gaps(coverage, *c.Gate), *c.Gate)
		}
		return a.print(coverage, func() {
			if c.Format == "markdown" {
				a.printf("%s", registry.CoverageMarkdown(coverage))
				return
			}
			a.printf("%s", registry.CoverageText(coverage))
		})
	case c.Why != "":
		return c.why(a, s.Checkout)
	}
	stale, err := s.Matrix(c.Check)
	if err != nil {
		return err
	}
	return a.print(map[string]any{"rewritten": stale}, func() {
		if len(stale) == 0 {
			a.printf("current\n")
		}
		for _, p := range stale {
			a.printf("rewritten: %s\n", p)
		}
	})
}

// gate prints the gaps of coverage, and fails when there are any.
func gate(a *app, gaps []registry.Gap, tier int) error {
	err := a.print(gaps, func() {
		for _, g := range gaps {
			a.printf("%s\n", g)
		}
		if len(gaps) == 0 {
			a.printf("no gap up to tier %d\n", tier)
		}
	})
	if len(gaps) > 0 {
		err = errors.Join(err, stage.Found("gaps in the coverage up to tier %d: %d; capture the probe, or say in holes of the agent file why it cannot be shown", tier, len(gaps)))
	}
	return err
}

// chosen keeps the agents that were named.
func (c *matrixCmd) chosen(coverage []registry.AgentCoverage, catalog *registry.Catalog) ([]registry.AgentCoverage, error) {
	if len(c.Agents) == 0 {
		return coverage, nil
	}
	ids := map[contract.AgentID]bool{}
	for _, name := range c.Agents {
		agent, err := catalog.Agent(name)
		if err != nil {
			return nil, err
		}
		ids[agent.ID] = true
	}
	return slices.DeleteFunc(coverage, func(a registry.AgentCoverage) bool { return !ids[a.Agent] }), nil
}

func (c *matrixCmd) why(a *app, checkout *registry.Checkout) error {
	sel, err := registry.ParseSelector(c.Why)
	if err != nil {
		return err
	}
	agent, err := checkout.Catalog.Agent(sel.Agent)
	if err != nil {
		return err
	}
	sel.Agent = string(agent.ID)
	backing, entries, err := registry.Why(checkout.Tree, checkout.Catalog, sel)
	if err != nil {
		return err
	}
	return a.print(map[string]any{"claims": entries, "backing": backing}, func() {
		for _, e := range entries {
			a.printf("%s %v on %v: %s\n", e.Agent, e.VersionRanges, e.Platforms, e.SupportStatus)
		}
		for _, b := range backing {
			reason := "backs the claim"
			if !b.Backs {
				reason = "does not: " + b.Reason
			}
			a.printf("  %s  %s  %s  %s\n", b.Observation, b.Level, b.Backend, reason)
		}
	})
}
