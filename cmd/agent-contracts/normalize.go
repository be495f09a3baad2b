package main

import (
	"bytes"
	"context"
	"errors"

	"github.com/open-design/agent-cli-contracts/internal/stage"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// origin are the flags that say how a transcript is to be read.
type origin struct {
	From string `help:"What the transcript is of: AGENT@VERSION:PROBE." required:"" placeholder:"SELECTOR"`
	Mode string `help:"Mode of the agent. Default: the agent's default mode." placeholder:"ID"`
}

type redactCmd struct {
	Raw string `arg:"" help:"Raw bundle, as capture --raw keeps it." type:"existingfile"`
	origin
	Out string `help:"Write the sanitized transcript to this file instead of standard output." type:"path" placeholder:"FILE"`
}

func (c *redactCmd) Help() string {
	return `Prints the sanitized transcript, one JSON object a line, with --json too.

Example:
  agent-contracts redact raw/sha256-….raw.jsonl --from codex@0.133.0:chat-tool-success --out clean.jsonl`
}

func (c *redactCmd) Run(ctx context.Context, a *app) (err error) {
	s, err := a.open("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var clean bytes.Buffer
	if err := s.Redact(ctx, c.Raw, stage.Origin{Selector: c.From, Mode: c.Mode}, &clean); err != nil {
		return err
	}
	if c.Out != "" {
		return registry.WriteFile(c.Out, clean.Bytes())
	}
	_, err = a.env.Stdout.Write(clean.Bytes())
	return err
}

type normalizeCmd struct {
	File string `arg:"" optional:"" help:"Sanitized transcript." type:"existingfile"`
	From string `help:"What the transcript is of: AGENT@VERSION:PROBE." placeholder:"SELECTOR"`
	Mode string `help:"Mode of the agent. Default: the agent's default mode." placeholder:"ID"`
	All  bool   `help:"Read every fixture of the checkout again, after a change of a dialect or of the normalizer, and move the shapes that changed."`
}

func (c *normalizeCmd) Help() string {
	return `With --all shapes get the signatures that the dialects of today give them; fixtures and goldens are renamed, records
refer to the new shapes, shape-aliases.json leads from the old signatures to them, and the matrix is generated again.
All of it becomes part of the tree at once, or nothing does. Where nothing moved nothing is written. Runs whose own
fixture is not kept and whose shape no longer is that of the others must be captured again first; they are named.

Examples:
  agent-contracts normalize clean.jsonl --from codex@0.133.0:chat-tool-success
  agent-contracts normalize --all`
}

func (c *normalizeCmd) Run(ctx context.Context, a *app) (err error) {
	switch {
	case c.All && (c.File != "" || c.From != "" || c.Mode != ""):
		return errors.New("--all reads the fixtures of the checkout: leave out FILE, --from and --mode")
	case !c.All && (c.File == "" || c.From == ""):
		return errors.New("name a sanitized transcript and what it is of, FILE --from AGENT@VERSION:PROBE, or all fixtures, --all")
	}
	s, err := a.open("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if c.All {
		report, err := s.Migrate()
		if err != nil {
			return err
		}
		return a.print(report, func() {
			for _, m := range report.Moves {
				a.printf("%s -> %s  %d observations\n", m.From, m.To, m.Observations)
			}
			a.printf("%d shapes moved, %d files written, %d removed\n", len(report.Moves), len(report.Written), len(report.Removed))
		})
	}
	result, err := s.Normalize(ctx, c.File, stage.Origin{Selector: c.From, Mode: c.Mode})
	if err != nil {
		return err
	}
	data, err := contract.Marshal(result.Shape)
	if err != nil {
		return err
	}
	for _, v := range result.Violations {
		a.env.Progress("violation: %s", v)
	}
	_, err = a.env.Stdout.Write(data)
	return err
}
