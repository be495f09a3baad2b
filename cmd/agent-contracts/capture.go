package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/open-design/agent-cli-contracts/internal/stage"
)

type captureCmd struct {
	Selector    string   `arg:"" help:"AGENT, AGENT@VERSION or AGENT@VERSION:PROBE."`
	Probe       []string `help:"Probe to capture; may be repeated. Default: all." placeholder:"ID"`
	Mode        string   `help:"Mode of the agent. Default: the agent's default mode." placeholder:"ID"`
	Backend     string   `help:"What answers the model requests: the script of the probe, or the vendor's servers with an account." enum:"scripted,live" default:"scripted"`
	Repeat      int      `help:"Run each probe N times; all runs must give one signature." default:"1" placeholder:"N"`
	Bin         string   `help:"Run this executable instead of installing one. It must report the version asked for." placeholder:"PATH"`
	Out         string   `help:"The public tree goes to DIR/registry, private records to DIR/private." default:"out" type:"path" placeholder:"DIR"`
	Raw         string   `help:"Keep the raw bundles, unredacted, in this folder." type:"path" placeholder:"DIR"`
	Jobs        *int     `help:"Run N probes side by side. Default: by cores and free memory, at most 4." placeholder:"N"`
	NoIsolation bool     `help:"Run the CLI without namespaces of its own."`
}

func (c *captureCmd) Help() string {
	return `Examples:
  agent-contracts capture codex@0.133.0 --probe chat-tool-success --repeat 10
  agent-contracts capture codex@0.133.0 --bin ./codex --out /tmp/o
  OPENAI_API_KEY=… agent-contracts capture codex@0.133.0 --backend live --probe chat-text-success

A live capture uses a real account: the agent's file names the variables that hold its credential (live.secrets) and the
hosts that the CLI may reach (live.egress). It runs isolated only.`
}

func (c *captureCmd) Run(ctx context.Context, a *app) (err error) {
	if c.Repeat < 1 {
		return errors.New("--repeat: at least 1")
	}
	jobs, err := atLeastOne(c.Jobs)
	if err != nil {
		return err
	}
	s, err := a.open(c.Out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	report, err := s.Capture(ctx, stage.CaptureRequest{Selector: c.Selector, Probes: c.Probe, Mode: c.Mode, Repeat: c.Repeat, Bin: c.Bin, Raw: c.Raw, Jobs: jobs, NoIsolation: c.NoIsolation, Backend: c.Backend})
	if report != nil {
		if perr := a.print(report, func() { a.captureText(report) }); perr != nil {
			return errors.Join(err, perr)
		}
	}
	return err
}

// atLeastOne reads --jobs; 0 lets the machine decide.
func atLeastOne(jobs *int) (int, error) {
	switch {
	case jobs == nil:
		return 0, nil
	case *jobs < 1:
		return 0, errors.New("--jobs: at least 1")
	}
	return *jobs, nil
}

func (a *app) captureText(r *stage.CaptureReport) {
	for _, p := range r.Probes {
		if p.Observation == "" {
			a.printf("%-32s no observation\n", p.Probe)
			continue
		}
		a.printf("%-32s %s  exit %s\n", p.Probe, p.Signature, p.Exit)
		for _, f := range p.Findings {
			a.printf("%-32s   finding: %s\n", "", f)
		}
	}
}

// print writes the JSON form with --json, else the text form.
func (a *app) print(v any, text func()) error {
	if !a.cli.JSON {
		text()
		return nil
	}
	return a.printJSON(v)
}

func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.env.Stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (a *app) printf(format string, args ...any) { _, _ = fmt.Fprintf(a.env.Stdout, format, args...) }
