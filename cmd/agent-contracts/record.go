package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/open-design/agent-cli-contracts/internal/stage"
	"github.com/open-design/agent-cli-contracts/pkg/capture"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

type recordCmd struct {
	Command     []string `arg:"" optional:"" passthrough:"" help:"The agent's executable and its arguments, behind \"--\"."`
	Import      string   `help:"Read this raw bundle instead of starting anything." type:"existingfile" placeholder:"RAW"`
	Agent       string   `help:"Agent that the executable is. Without it only --raw keeps anything." placeholder:"ID"`
	Mode        string   `help:"Mode of the agent that the host uses. Default: the agent's default mode." placeholder:"ID"`
	CLIVersion  string   `name:"cli-version" help:"Version that the CLI reports. Default: the executable is asked for it after the run." placeholder:"V"`
	Probe       string   `help:"Probe whose prompt the host sends. Default: host-run, which lets no text through." placeholder:"ID"`
	PromptFile  string   `help:"Find the probe by the prompt in this file." type:"path" placeholder:"FILE"`
	Backend     string   `help:"What answers the model requests." enum:"live,scripted" default:"live"`
	Out         string   `help:"The public tree goes to DIR/registry, private records to DIR/private." required:"" type:"path" placeholder:"DIR"`
	Raw         string   `help:"Keep the raw bundle, unredacted, in this folder." type:"path" placeholder:"DIR"`
	Wait        bool     `help:"End when the records are written, not as soon as the agent ends."`
	NoIsolation bool     `help:"Ask the executable for its version without namespaces of its own."`
}

func (c *recordCmd) Help() string {
	return `A host starts "agent-contracts record … -- CMD ARGS" in place of "CMD ARGS". Bytes, signals, the end of the streams and the
exit code pass unchanged, and nothing is added to them. When the agent has ended, the run is redacted, normalized and
written as an observation; what became of it stands in DIR/private/TIME.record.json. A recording that fails costs the
host nothing: an unknown agent, a checkout that is not there, no space.

Refused before the start, with exit code 2, is only a wrong call: an unknown flag, no --out, neither --agent nor --raw (nothing
would be kept), --probe or --prompt-file without --agent, nothing to run. The agent does not run then. An executable that is
not found gives 127, one that cannot run 126.

Examples:
  agent-contracts record --checkout ~/agent-cli-contracts --out /tmp/rec --agent codex --mode exec-json -- codex exec --json "a prompt"
  agent-contracts record --import /tmp/raw/sha256-….raw.jsonl --out /tmp/rec --agent codex --cli-version 0.133.0`
}

func (c *recordCmd) Run(ctx context.Context, a *app) error {
	switch {
	case c.Agent == "" && c.Raw == "":
		return errors.New("nothing would be kept: name the agent with --agent, or a folder with --raw")
	case c.Probe != "" && c.Agent == "", c.PromptFile != "" && c.Agent == "":
		return errors.New("a probe says how an agent's output is read: name the agent with --agent")
	case (c.Import == "") == (len(c.command()) == 0):
		return errors.New("name what to run behind --, or a raw bundle with --import")
	case c.Import != "":
		return c.read(ctx, a)
	}
	return c.stand(ctx, a)
}

// command is what to run, without the separator.
func (c *recordCmd) command() []string {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		return c.Command[1:]
	}
	return c.Command
}

func (c *recordCmd) request() stage.ImportRequest {
	return stage.ImportRequest{
		Agent: c.Agent, Mode: c.Mode, Version: c.CLIVersion, Probe: c.Probe, PromptFile: c.PromptFile, Raw: c.Raw,
		Backend: contract.Backend(c.Backend), NoIsolation: c.NoIsolation,
	}
}

// read imports a recording.
func (c *recordCmd) read(ctx context.Context, a *app) (err error) {
	if c.Agent == "" {
		return errors.New("--import: name the agent with --agent")
	}
	s, err := a.open(c.Out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	report, err := s.ImportFile(ctx, c.Import, c.request())
	if report == nil {
		return err
	}
	return errors.Join(err, a.print(report, func() { a.captureText(&stage.CaptureReport{Probes: []stage.ProbeReport{*report}}) }))
}

// imported takes a recording that was just made to its observation.
func (c *recordCmd) imported(ctx context.Context, a *app, bin string, rec capture.Recorded) (*stage.ProbeReport, error) {
	s, err := a.open(c.Out)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the checkout: %w", err), rec.Raw.Close())
	}
	req := c.request()
	req.Bin, req.Recorded = bin, rec
	report, err := s.Import(ctx, req)
	return report, errors.Join(err, s.Close())
}
