package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/open-design/agent-cli-contracts/internal/stage"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
)

type replayCmd struct {
	Selector   string   `arg:"" optional:"" help:"AGENT, AGENT@VERSION, AGENT@VERSION:PROBE or AGENT@VERSION#sha256-HEX. Default: all."`
	Args       []string `arg:"" optional:"" passthrough:"" help:"With --as-child: the agent's own arguments, which are ignored."`
	New        string   `help:"Lay this tree of new records over the registry." type:"existingdir" placeholder:"DIR"`
	Parser     string   `help:"reference, or a command that reads recorded output and prints events (words, no shell)." default:"reference" placeholder:"CMD"`
	Goldens    string   `help:"Compare a command's events with the goldens of this parser. Default: reference." placeholder:"NAME"`
	Write      bool     `help:"Write the reference goldens that are missing or not current, after a change of a dialect's events."`
	AsChild    bool     `help:"Act as the agent: print what was recorded, wait for stdin where it did, end as it ended."`
	Speed      float64  `help:"With --as-child: times faster than recorded; 0 does not wait." default:"1" placeholder:"N"`
	CheckStdin bool     `help:"With --as-child: stdin must hold the probe's prompt. Standard error says where there was nothing to check."`
	Quiet      bool     `help:"With --as-child: no notes on which recording plays." env:"OD_CONTRACT_QUIET"`
}

func (c *replayCmd) Help() string {
	return `Takes fixtures through a parser and compares the events with its goldens. Exit code 1 when they differ, 2 when
something was not compared. Equal shapes share one fixture, named by the run that it came from. A command gets no version
and no help pages, unless SELECTOR names their probe. It reads the recorded standard output and prints events; how the
process ended stands in its environment. docs/FORMAT.md, "Replay", has the protocol and the names of events.

With --as-child a host can start this program in place of the agent; the agent's own arguments go behind "--".
OD_CONTRACT_SHAPE (a selector) chooses the recording in place of SELECTOR; OD_CONTRACT_PROBE or OD_CONTRACT_ERROR
(a probe) chooses among those of SELECTOR. Where the recording is of another probe, whose structure was the same, or the
newest of several releases, a line on standard error says so before it plays; OD_CONTRACT_QUIET=1 leaves that out.

Examples:
  agent-contracts replay
  agent-contracts replay opencode --write
  agent-contracts replay codex --parser 'node my-parser.mjs'
  agent-contracts replay codex@0.133.0:chat-tool-success --as-child -- exec --json "a prompt"`
}

func (c *replayCmd) Run(ctx context.Context, a *app) (err error) {
	s, err := a.open("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if c.AsChild {
		return c.child(ctx, s)
	}
	if c.Write {
		if c.New != "" || c.Parser != registry.ReferenceParser {
			return errors.New("--write is for the checkout's own goldens of the reference parser: leave out --new and --parser")
		}
		paths, err := s.WriteGoldens(c.Selector)
		return errors.Join(err, a.print(paths, func() {
			for _, path := range paths {
				a.printf("wrote %s\n", path)
			}
			a.printf("%d goldens written\n", len(paths))
		}))
	}
	if len(c.Args) > 0 {
		return errors.New("further arguments only make sense with --as-child")
	}
	report, err := s.Replay(ctx, stage.ReplayRequest{Selector: c.Selector, New: c.New, Parser: c.Parser, Goldens: c.Goldens})
	if report == nil {
		return err
	}
	return errors.Join(err, a.print(report, func() { a.replayText(report) }))
}

func (a *app) replayText(r *stage.ReplayReport) {
	for _, res := range r.Results {
		a.printf("%-12s %s@%s:%s  %d events  %s\n", res.Status, res.Agent, res.Version, res.Probe, res.Events, res.Fixture)
		for _, d := range res.Differences {
			a.printf("%-12s   %s\n", "", d)
		}
		if res.Problem != "" {
			a.printf("%-12s   %s\n", "", res.Problem)
		}
		if res.Hint != "" {
			a.printf("%-12s   %s\n", "", res.Hint)
		}
	}
	a.printf("%d compatible, %d incompatible, %d not compared\n", r.Compatible, r.Incompatible, r.NotRun)
}

func (c *replayCmd) child(ctx context.Context, s *stage.Stage) error {
	end, err := s.Child(ctx, stage.ChildRequest{Selector: c.Selector, New: c.New, Speed: c.Speed, CheckStdin: c.CheckStdin, Quiet: c.Quiet, Stdin: os.Stdin})
	if err != nil {
		return err
	}
	return endAs(end)
}

// childExit carries the recorded exit code of a child to Main.
type childExit int

func (e childExit) Error() string {
	return fmt.Sprintf("the recorded process ended with code %d", int(e))
}

// exitTimeout is the code of a recording that a time limit ended, as timeout(1) has it.
const exitTimeout = 124

// endAs ends this process as the recorded one ended: by its signal where the system has it, else by its code.
func endAs(end replay.Ending) error {
	switch {
	case end.Signal != "":
		return childExit(raise(end.Signal))
	case end.Code < 0:
		return childExit(exitTimeout)
	}
	return childExit(end.Code)
}
