package compare

import (
	"fmt"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
)

func redactionFailed(s *subject) (bool, error) {
	if s.Redaction.Status == contract.RedactionPassed {
		return false, nil
	}
	s.item.Reason = fmt.Sprintf("the redaction of this observation is %s", s.Redaction.Status)
	return true, nil
}

func sameShape(s *subject) (bool, error) {
	for i, k := range s.base {
		if k.Shape.Signature == s.Shape.Signature {
			s.against = &s.base[i]
			s.item.Reason = fmt.Sprintf("known from %s on %s", k.CLIVersion, k.Platform)
			return true, nil
		}
	}
	return false, nil
}

func parserIncompatible(s *subject) (bool, error) {
	if err := s.compareEvents(); err != nil {
		return false, err
	}
	if len(s.item.Lost) == 0 {
		return false, nil
	}
	if len(s.base) > 0 {
		s.against = &s.base[0]
	}
	s.item.Reason = fmt.Sprintf("lost events: %d, under the parsers that were run: %s", len(s.item.Lost), shape.Plain(strings.Join(s.item.Parsers, ", ")))
	return true, nil
}

// String is the loss on one line that a terminal can show.
func (l LostEvent) String() string { return l.Format(shape.Plain) }

// Format is the loss on one line. What comes from a file goes through quote.
func (l LostEvent) Format(quote func(string) string) string {
	switch {
	case l.Event == "":
		return fmt.Sprintf("parser %s cannot read the fixture", quote(l.Parser))
	case l.Required:
		return fmt.Sprintf("parser %s: required event %s is missing", quote(l.Parser), quote(string(l.Event)))
	}
	return fmt.Sprintf("parser %s: event %s is lost", quote(l.Parser), quote(string(l.Event)))
}

// serverVariant looks among the new observations too: two captures of one release may come in one tree.
func serverVariant(s *subject) (bool, error) {
	for _, list := range [][]record{s.base, s.peers} {
		for i, k := range list {
			if !s.mayVary(k) {
				continue
			}
			changes, err := s.diff(k)
			if err != nil {
				return false, err
			}
			if shape.Strongest(changes).Rank() > shape.Subsumed.Rank() {
				s.against = &list[i]
				s.item.Reason = fmt.Sprintf("another shape is live for %s on %s: %s", k.CLIVersion, k.Platform, counts(changes))
				return true, nil
			}
		}
	}
	return false, nil
}

// mayVary reports whether nothing but a server can explain a difference between two observations of a group.
func (s *subject) mayVary(k record) bool {
	return s.group.backend == contract.BackendLive && k.CLIVersion == s.CLIVersion && k.Platform == s.Platform && s.Platform != contract.PlatformUnknown &&
		k.ProtocolFamily == s.ProtocolFamily && k.Shape.Signature != s.Shape.Signature
}

func compatibleNewShape(s *subject) (bool, error) {
	if len(s.base) == 0 {
		s.item.SubReason = FirstObservation
		s.item.Reason = "first observation of this probe in this mode and backend"
		return true, nil
	}
	s.against = &s.base[0]
	changes, err := s.diff(*s.against)
	if err != nil {
		return false, err
	}
	s.item.Reason = counts(changes)
	if shape.Strongest(changes) == shape.Subsumed {
		s.item.SubReason = SubsumedChanges
		s.item.Reason += ": only optional paths or enum values, as runs of one release may differ"
	}
	return true, nil
}

// counts words how many changes there are of each severity, the strongest first.
func counts(changes []shape.Change) string {
	n := map[shape.Severity]int{}
	for _, c := range changes {
		n[c.Severity]++
	}
	var parts []string
	for _, severity := range strongestFirst {
		if n[severity] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[severity], severity))
		}
	}
	noun := "changes"
	if len(changes) == 1 {
		noun = "change"
	}
	return strings.Join(parts, ", ") + " " + noun
}

var strongestFirst = []shape.Severity{shape.Breaking, shape.Additive, shape.Subsumed}
