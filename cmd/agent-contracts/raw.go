package main

import (
	"context"
	"errors"

	"github.com/open-design/agent-cli-contracts/internal/stage"
)

type rawCmd struct {
	Open  rawOpenCmd  `cmd:"" help:"Decrypt a raw bundle into a file that only you can read, for an audit."`
	Check rawCheckCmd `cmd:"" help:"Prove that an observation came from a raw bundle."`
	Alert rawAlertCmd `cmd:"" help:"Tell a private chat of the runs that redaction stopped."`
}

// identity is the flag that names a maintainer's private keys.
type identity struct {
	Identity string `help:"File of age private keys, as age-keygen writes it." required:"" type:"existingfile" placeholder:"FILE"`
}

type rawOpenCmd struct {
	Bundle string `arg:"" help:"Encrypted bundle, *.raw.jsonl.age." type:"existingfile"`
	identity
	Out string `help:"File to write. It is not redacted: do not share it, and delete it afterwards." required:"" type:"path" placeholder:"FILE"`
}

func (c *rawOpenCmd) Help() string {
	return `Example:
  agent-contracts raw open out/private/sha256-….raw.jsonl.age --identity key.txt --out /tmp/raw.jsonl`
}

func (c *rawOpenCmd) Run(a *app) error {
	h, err := stage.RawOpen(c.Bundle, c.Identity, c.Out)
	if err != nil {
		return err
	}
	return a.print(h, func() {
		a.printf("%s@%s:%s, mode %s, %s, captured %s\n%s is not redacted: delete it when you are done\n", h.Agent, h.Version, h.Probe, h.Mode, h.Platform, h.At, c.Out)
	})
}

type rawCheckCmd struct {
	Bundle      string `arg:"" help:"Encrypted bundle, *.raw.jsonl.age." type:"existingfile"`
	Observation string `arg:"" help:"Observation: a path in the registry or a file."`
	identity
}

func (c *rawCheckCmd) Help() string {
	return `The bundle is decrypted, hashed, and redacted once more; hashes are compared with those of the observation and its evidence.
Exit codes: 0 proven, 1 not from this bundle, 2 could not tell.

Example:
  agent-contracts raw check out/private/sha256-….raw.jsonl.age observations/…/….observation.json --identity key.txt`
}

func (c *rawCheckCmd) Run(_ context.Context, a *app) (err error) {
	s, err := a.open("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	check, err := s.RawCheck(c.Bundle, c.Identity, c.Observation)
	if check == nil {
		return err
	}
	return errors.Join(err, a.print(check, func() {
		a.printf("raw transcript %s\nrun            %s\nredacted again %s\n", agrees(check.Raw), agrees(check.Run), agrees(check.Sanitized))
	}))
}

func agrees(ok bool) string {
	if ok {
		return "agrees"
	}
	return "is not proven"
}

type rawAlertCmd struct {
	Dir string `arg:"" help:"Folder with failure records, *.redaction-failed.json, at any depth." type:"existingdir"`
}

func (c *rawAlertCmd) Help() string {
	return `The address of the chat is in AGENT_CONTRACTS_ALERT_WEBHOOK. A card names rule and place, never a value.

Example:
  agent-contracts raw alert out/private`
}

func (c *rawAlertCmd) Run(ctx context.Context, a *app) (err error) {
	s, err := a.open("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	n, err := s.Alert(ctx, c.Dir)
	if err != nil {
		return err
	}
	return a.print(map[string]int{"alerts": n}, func() { a.printf("%d alerts sent\n", n) })
}
