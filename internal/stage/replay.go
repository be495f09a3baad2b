package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
	"github.com/open-design/agent-cli-contracts/pkg/scratch"
)

// ReplayRequest says which fixtures go through which parser.
type ReplayRequest struct {
	// Selector is empty for all.
	Selector string
	// New is a tree of new records that is laid over the checkout's registry; empty means the registry alone.
	New string
	// Parser is "reference", or a host's command: words separated by spaces, no shell.
	Parser string
	// Goldens names the goldens that a command's events are compared with; empty means the reference ones.
	Goldens string
}

// ReplayReport is what came of a replay.
type ReplayReport struct {
	Results      []replay.Result `json:"results"`
	Compatible   int             `json:"compatible"`
	Incompatible int             `json:"incompatible"`
	NotRun       int             `json:"not_run"`
}

// Replay takes fixtures through a parser. The error is a *FoundError where a parser is incompatible; fixtures that were
// not compared are another error, because they prove nothing.
func (s *Stage) Replay(ctx context.Context, req ReplayRequest) (report *ReplayReport, err error) {
	sel, err := selection(req.Selector)
	if err != nil {
		return nil, err
	}
	library, done, err := s.library(req.New)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	parser := replay.ReferenceParser()
	if req.Parser != "" && req.Parser != registry.ReferenceParser {
		own, err := scratch.Dir("")
		if err != nil {
			return nil, err
		}
		defer own.Remove() //nolint:errcheck // the next one removes it
		parser = replay.External{
			Argv: strings.Fields(req.Parser), Goldens: cmp.Or(req.Goldens, registry.ReferenceParser), Temp: own.Path, Stderr: s.Stderr,
		}.Parser()
	}
	results, err := library.Replay(ctx, sel, parser)
	if results == nil {
		return nil, err
	}
	report = &ReplayReport{Results: results}
	for _, r := range results {
		switch r.Status {
		case replay.Compatible:
			report.Compatible++
		case replay.Incompatible:
			report.Incompatible++
		default:
			report.NotRun++
		}
	}
	switch {
	case err != nil:
		return report, err
	case report.Incompatible > 0:
		return report, Found("%d of %d fixtures do not replay to their golden", report.Incompatible, len(results))
	case report.NotRun > 0:
		return report, fmt.Errorf("%d of %d fixtures have no golden of this parser: nothing was compared", report.NotRun, len(results))
	}
	return report, nil
}

// selection reads a selector; the empty text selects everything.
func selection(text string) (registry.Selector, error) {
	if text == "" {
		return registry.Selector{}, nil
	}
	return registry.ParseSelector(text)
}

// WriteGoldens writes the reference goldens of the registry that are missing or not current, and returns them.
func (s *Stage) WriteGoldens(selector string) ([]contract.RelPath, error) {
	sel, err := selection(selector)
	if err != nil {
		return nil, err
	}
	library, done, err := s.library("")
	if err != nil {
		return nil, err
	}
	files, err := library.StaleGoldens(sel)
	if err = errors.Join(err, done()); err != nil {
		return nil, err
	}
	paths := slices.Sorted(maps.Keys(files))
	if len(paths) == 0 {
		return nil, nil
	}
	return paths, s.put("goldens", paths, files)
}

// library opens the fixtures of the checkout, with a tree of new records over it where one is named.
func (s *Stage) library(dir string) (*replay.Library, func() error, error) {
	tree, done := s.Checkout.Tree, func() error { return nil }
	if dir != "" {
		upper, err := registry.OpenTree(dir)
		if err != nil {
			return nil, nil, err
		}
		tree, done = upper.Overlay(s.Checkout.Tree), upper.Close
	}
	scanner, err := scan.New(scan.Config{Known: s.known()})
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	library, err := replay.OpenLibrary(tree, s.Checkout.Catalog, scanner, os.TempDir())
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return library, done, nil
}

// ChildRequest says which recording a process plays.
type ChildRequest struct {
	// Selector is empty when the environment says it.
	Selector string
	New      string
	// Speed is how many times faster than recorded it plays; 0 does not wait.
	Speed float64
	// CheckStdin demands the probe's prompt on standard input.
	CheckStdin bool
	// Quiet leaves out the notes on which recording plays.
	Quiet bool
	Stdin io.Reader
}

// Variables by which a host chooses what the child plays, so that its own argv can stay what it is.
const (
	shapeVariable = "OD_CONTRACT_SHAPE" // a selector such as AGENT@VERSION#sha256-HEX
	probeVariable = "OD_CONTRACT_PROBE" // a probe's id
	errorVariable = "OD_CONTRACT_ERROR" // an error probe's id
)

// childSelector is what a child plays. The shape variable decides, because a host that sets it passes the agent's own
// arguments; then the argument does. A probe variable narrows either.
func (s *Stage) childSelector(argument string) (registry.Selector, error) {
	sel, err := selection(cmp.Or(s.Getenv(shapeVariable), argument))
	if err != nil {
		return sel, err
	}
	if probe := cmp.Or(s.Getenv(errorVariable), s.Getenv(probeVariable)); probe != "" && sel.Probe == "" && sel.Shape == "" {
		p, err := s.Checkout.Catalog.Probe(probe)
		if err != nil {
			return sel, err
		}
		sel.Probe = string(p.ID)
	}
	if sel == (registry.Selector{}) {
		return sel, fmt.Errorf("nothing says what to play: give a selector, or set %s or %s", shapeVariable, probeVariable)
	}
	return sel, nil
}

// Child plays the newest recording that the request names, on this process's own streams.
func (s *Stage) Child(ctx context.Context, req ChildRequest) (end replay.Ending, err error) {
	sel, err := s.childSelector(req.Selector)
	if err != nil {
		return end, err
	}
	library, done, err := s.library(req.New)
	if err != nil {
		return end, err
	}
	defer func() { err = errors.Join(err, done()) }()
	record, err := library.One(sel)
	if err != nil {
		return end, err
	}
	f, err := library.Fixture(record.Observation.ProtocolFamily, record.Shape)
	if err != nil {
		return end, err
	}
	defer f.Close() //nolint:errcheck // a spool
	if !req.Quiet {
		s.chosen(sel, record, f)
	}
	child := replay.Child{Stdin: req.Stdin, Stdout: s.Stdout, Stderr: s.Stderr, Speed: req.Speed}
	if req.CheckStdin {
		child.Prompt = s.Checkout.Catalog.Probes[record.Observation.Probe].Sent()
	}
	end, err = child.Play(ctx, f)
	if err == nil && req.CheckStdin && !end.StdinChecked {
		s.Progress("--check-stdin: nothing was checked: the recorded process was sent no prompt on standard input as it stands in the probe")
	}
	if wrong := (*replay.FrameError)(nil); errors.As(err, &wrong) || errors.Is(err, replay.ErrHostGone) {
		return end, Found("%v", err)
	}
	return end, err
}

// chosen says which recording plays where the selector does not.
func (s *Stage) chosen(sel registry.Selector, c replay.Choice, f *replay.Fixture) {
	o := c.Observation
	if sel.Version == "" && c.Releases > 1 {
		s.Progress("%d releases match: this is %s@%s, recorded last", c.Releases, o.Agent, o.CLIVersion)
	}
	if f.Probe != "" && (f.Probe != o.Probe || f.Agent != o.Agent) {
		s.Progress("%s@%s:%s printed the same structure as %s@%s:%s, whose texts these are", o.Agent, o.CLIVersion, o.Probe, f.Agent, f.Version, f.Probe)
	}
}
