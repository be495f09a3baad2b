package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// Parser turns a fixture into events.
type Parser struct {
	// Name is the folder of its goldens.
	Name string
	// Events reads one fixture. It must not keep the fixture.
	Events func(context.Context, *Fixture) ([]protocol.Event, error)
	// TurnsOnly leaves out what a CLI prints for its version, its help pages and its list of models, unless the selector names the probe: no
	// host gives that to the parser of its turns.
	TurnsOnly bool
}

func (p Parser) reads(r *registry.Record, sel registry.Selector) bool {
	return !p.TurnsOnly || sel.Probe != "" || !r.Observation.Command.Mode.Implicit()
}

// ReferenceParser is this project's own reading of a fixture: the dialect's reference events.
func ReferenceParser() Parser {
	return Parser{Name: registry.ReferenceParser, Events: func(_ context.Context, f *Fixture) ([]protocol.Event, error) {
		return Reference(f.Sanitized, f.Mode.TextEvent)
	}}
}

// The outcomes of a replay.
const (
	Compatible   contract.ReplayStatus = "compatible"
	Incompatible contract.ReplayStatus = "incompatible"
)

// Result is what a parser made of one fixture.
type Result struct {
	Fixture contract.RelPath `json:"fixture"`
	Shape   contract.Hash    `json:"shape"`
	Family  contract.Family  `json:"protocol_family"`
	// Agent, Version and Probe are those of the run that the fixture came from.
	Agent   contract.AgentID    `json:"agent,omitempty"`
	Version contract.CLIVersion `json:"cli_version,omitempty"`
	Probe   contract.ProbeID    `json:"probe,omitempty"`
	Parser  string              `json:"parser"`
	Golden  contract.RelPath    `json:"golden,omitempty"`
	// Status is not_run when there was nothing to compare with or the parser did not answer; Problem says which.
	Status      contract.ReplayStatus `json:"status"`
	Events      int                   `json:"events"`
	Differences []Difference          `json:"differences,omitempty"`
	Problem     string                `json:"problem,omitempty"`
	// Hint says why a difference may come of how the parser is called.
	Hint string `json:"hint,omitempty"`
}

// Replay takes the fixtures of all observations that a selector names through a parser and compares the events with
// the parser's goldens. Each fixture is replayed once, in the order of paths. One fixture's failure does not stop the
// others; the error joins the failures. Incompatible results are results, not errors.
func (l *Library) Replay(ctx context.Context, sel registry.Selector, parser Parser) ([]Result, error) {
	found, err := l.Select(sel)
	if err != nil {
		return nil, err
	}
	var results []Result
	seen := map[contract.RelPath]bool{}
	for _, r := range found {
		o := r.Observation
		path := registry.FixturePath(o.ProtocolFamily, r.Shape)
		if !seen[path] && parser.reads(r, sel) {
			seen[path] = true
			results = append(results, Result{Fixture: path, Shape: r.Shape, Family: o.ProtocolFamily, Parser: parser.Name, Status: contract.ReplayNotRun})
		}
	}
	slices.SortFunc(results, func(a, b Result) int { return cmp.Compare(a.Fixture, b.Fixture) })
	var problems []error
	for i := range results {
		if err := ctx.Err(); err != nil {
			return results, errors.Join(append(problems, err)...)
		}
		if err := l.replay(ctx, &results[i], parser); err != nil {
			results[i].Problem = err.Error()
			problems = append(problems, fmt.Errorf("%s: %w", results[i].Fixture, err))
		}
	}
	return results, errors.Join(problems...)
}

func (l *Library) replay(ctx context.Context, r *Result, parser Parser) error {
	f, err := l.Fixture(r.Family, r.Shape)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // a spool
	r.Agent, r.Version, r.Probe = f.Agent, f.Version, f.Probe
	events, err := parser.Events(ctx, f)
	if err != nil {
		return err
	}
	r.Events = len(events)
	path := registry.GoldenPath(parser.Name, r.Family, r.Shape)
	golden, err := l.ReadGolden(path)
	if errors.Is(err, registry.ErrMissing) {
		r.Problem = "the parser has no golden for this shape: " + string(path)
		return nil
	}
	if err != nil {
		return err
	}
	r.Golden = path
	if golden.Shape != r.Shape {
		return fmt.Errorf("%s speaks of another shape: write it again", path)
	}
	r.Status = Compatible
	if r.Differences = Compare(golden.Events, events); len(r.Differences) > 0 {
		r.Status = Incompatible
		if parser.TurnsOnly && parser.Name == registry.ReferenceParser && missesEnd(f, golden, r.Differences) {
			r.Hint = "the golden's last event comes from the end of the process: CONTRACT_END and CONTRACT_EXIT_CODE tell a parser of it"
		}
	}
	return nil
}

// missesEnd reports that the last event of a reference golden comes from the process's end and is lost or another one.
func missesEnd(f *Fixture, golden Golden, found []Difference) bool {
	end, _, err := f.end()
	return err == nil && end == contract.EventExit && endsByExit(f.Dialect()) && slices.ContainsFunc(found, func(d Difference) bool {
		return d.Kind != EventExtra && d.Index == len(golden.Events)-1
	})
}
