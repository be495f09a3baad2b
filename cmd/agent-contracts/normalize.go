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
	return `Example:
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
	File string `arg:"" help:"Sanitized transcript." type:"existingfile"`
	origin
}

func (c *normalizeCmd) Help() string {
	return `Example:
  agent-contracts normalize clean.jsonl --from codex@0.133.0:chat-tool-success`
}

func (c *normalizeCmd) Run(ctx context.Context, a *app) (err error) {
	s, err := a.open("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
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
