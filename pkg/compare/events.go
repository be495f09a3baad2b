package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
)

const goldenSuffix = ".events.json"

// parsersOf lists the parsers that have goldens in some tree, sorted.
func parsersOf(trees ...*registry.Tree) []string {
	parsers := map[string]bool{}
	for _, t := range trees {
		for _, p := range t.Files("goldens/") {
			if parser, _, ok := strings.Cut(strings.TrimPrefix(p, "goldens/"), "/"); ok && strings.HasSuffix(p, goldenSuffix) {
				parsers[parser] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(parsers))
}

// goldenPaths lists where a parser's golden of an observation's shape may lie, that of the agent alone first.
func goldenPaths(parser string, o contract.Observation) []contract.RelPath {
	shared := registry.GoldenPath(parser, o.ProtocolFamily, o.Shape.Signature)
	return []contract.RelPath{contract.RelPath(strings.TrimSuffix(string(shared), goldenSuffix) + "." + string(o.Agent) + goldenSuffix), shared}
}

// golden reads the kinds of events that a parser gives for an observation's shape. It is false where it was not run.
func golden(parser string, o contract.Observation, trees ...*registry.Tree) (map[contract.EventName]bool, bool, error) {
	for _, p := range goldenPaths(parser, o) {
		data, err := read(p, trees...)
		if errors.Is(err, registry.ErrMissing) {
			continue
		}
		if err != nil {
			return nil, false, fmt.Errorf("reading a golden: %w", err)
		}
		var g replay.Golden
		if json.Unmarshal(data, &g) != nil { // the cause would quote the file
			return nil, false, fmt.Errorf("%s is no golden: replay the fixture and write it again", p)
		}
		kinds := map[contract.EventName]bool{}
		for _, e := range g.Events {
			kinds[e.Event] = true
		}
		return kinds, true, nil
	}
	return nil, false, nil
}

// compareEvents finds the events that the parsers which were run no longer give. A tree's own goldens speak for its
// own shapes, so that a new tree cannot change what a known shape meant.
func (s *subject) compareEvents() error {
	for _, parser := range s.parsers {
		now, ran, err := golden(parser, s.Observation, s.fresh, s.comparison.base)
		if err != nil {
			return err
		}
		if !ran {
			continue
		}
		s.item.Parsers = append(s.item.Parsers, parser)
		lost := map[contract.EventName]bool{}
		if parser == registry.ReferenceParser {
			for _, name := range s.missing(now) {
				s.item.Lost = append(s.item.Lost, LostEvent{parser, name, true})
				lost[name] = true
			}
		}
		before, err := s.knownEvents(parser)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(before)) {
			// A raw event is a frame that no rule read: to lose one is no loss.
			if !now[name] && !lost[name] && name != "raw" {
				s.item.Lost = append(s.item.Lost, LostEvent{parser, name, false})
			}
		}
	}
	s.consumerResult()
	if len(s.item.Parsers) == 0 {
		s.item.Findings = append(s.item.Findings, "no parser was run on this shape, so lost events cannot be seen: replay the fixture and add its goldens")
	}
	return nil
}

// consumerResult adds what the consumer's own parser said about the fixture.
func (s *subject) consumerResult() {
	result := s.ParserReplay
	if result == nil || result.Golden == nil || result.Status == contract.ReplayNotRun {
		return
	}
	parser, _, _ := strings.Cut(strings.TrimPrefix(string(*result.Golden), "goldens/"), "/")
	if !slices.Contains(s.item.Parsers, parser) {
		s.item.Parsers = append(s.item.Parsers, parser)
		slices.Sort(s.item.Parsers)
	}
	if result.Status == "incompatible" {
		s.item.Lost = append(s.item.Lost, LostEvent{Parser: parser})
	}
}

// missing lists the events that the probe requires and the run lacks. Capture accepts the start of a session as the
// first sign of life, and so does this.
func (s *subject) missing(now map[contract.EventName]bool) []contract.EventName {
	want := s.catalog.Probes[s.Probe].Expected
	if want == nil {
		return nil
	}
	var missing []contract.EventName
	for _, name := range want.MustSee {
		if !now[name] && (name != "init_or_status" || !now["session_started"]) {
			missing = append(missing, name)
		}
	}
	return missing
}

// knownEvents reads the golden of the nearest known observation that the parser was run on.
func (s *subject) knownEvents(parser string) (map[contract.EventName]bool, error) {
	for _, k := range s.base {
		kinds, ran, err := golden(parser, k.Observation, s.comparison.base, s.fresh)
		if err != nil || ran {
			return kinds, err
		}
	}
	return nil, nil
}
