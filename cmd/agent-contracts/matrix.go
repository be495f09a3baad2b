package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

type matrixCmd struct {
	Check    bool   `help:"Write nothing; exit 1 when a generated file is not current." xor:"what"`
	Coverage bool   `help:"Show agent × probe × release, with a reason for every hole." xor:"what"`
	Why      string `help:"Show what backs the claim about SELECTOR." xor:"what" placeholder:"SELECTOR"`
}

func (c *matrixCmd) Help() string {
	return `Regenerates registry/support-matrix.json and registry/agents.json from the observations.

Examples:
  agent-contracts matrix
  agent-contracts matrix --check
  agent-contracts matrix --why codex@0.133.0`
}

func (c *matrixCmd) Run(_ context.Context, a *app) (err error) {
	s, err := a.open("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	switch {
	case c.Coverage:
		coverage, err := registry.Coverage(s.Checkout.Tree, s.Checkout.Catalog)
		if err != nil {
			return err
		}
		return a.print(coverage, func() { a.coverageText(coverage) })
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

// coverageText shows releases that anything is known about probe by probe, and counts the rest.
func (a *app) coverageText(coverage []registry.AgentCoverage) {
	for _, agent := range coverage {
		a.printf("%s\n", agent.Agent)
		if agent.Reason != "" {
			a.printf("  not capturable: %s\n", agent.Reason)
		}
		for _, group := range agent.Missing {
			a.printf("  missing: %s\n", group)
		}
		blank := 0
		for _, r := range agent.Releases {
			if len(r.Channels) == 0 && !r.Claimed {
				blank++
				continue
			}
			a.printf("  %s %s\n", r.Version, strings.Join(r.Channels, " "))
			for _, p := range r.Probes {
				state := fmt.Sprintf("%d observations", p.Observations)
				if p.Reason != "" {
					state = "hole: " + p.Reason
				}
				a.printf("    %-24s %s\n", p.Probe, state)
			}
		}
		if blank > 0 {
			a.printf("  and %d older releases that nothing covers\n", blank)
		}
	}
}
