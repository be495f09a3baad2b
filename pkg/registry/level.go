package registry

import (
	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// confirmGap is how far two captures on one runner must lie apart to confirm each other, in seconds.
const confirmGap = 3600

// EffectiveLevel is the strongest level of a set of observations of one shape: the strongest that one of them carries,
// or confirmed where two of them confirm each other. Withdrawn observations do not count; without any left the level
// is empty. Two observations confirm each other when agent, probe, backend and signature are equal, the raw
// transcripts differ, and the runs had another runner or lie at least an hour apart.
func EffectiveLevel(records []*Record) contract.ValidityLevel {
	type key struct {
		agent   contract.AgentID
		probe   contract.ProbeID
		backend contract.Backend
		shape   contract.Hash
	}
	var strongest contract.ValidityLevel
	groups := map[key][]*Record{}
	raw := map[contract.Hash]bool{}
	for _, r := range records {
		if r.Withdrawn() {
			continue
		}
		o := r.Observation
		level := contract.ValidityLevel(o.ValidityLevel)
		if level.Rank() > strongest.Rank() {
			strongest = level
		}
		// A variant is not made a normal shape by being seen twice.
		if level.BacksClaim() && !raw[o.Capture.RawClientTranscriptSHA256] {
			raw[o.Capture.RawClientTranscriptSHA256] = true
			k := key{o.Agent, o.Probe, o.Capture.Backend, r.Shape}
			groups[k] = append(groups[k], r)
		}
	}
	for _, group := range groups {
		if contract.Confirmed.Rank() > strongest.Rank() && independent(group) {
			strongest = contract.Confirmed
		}
	}
	return strongest
}

// independent reports whether two of the records, whose raw transcripts all differ, are independent runs.
func independent(group []*Record) bool {
	first, last := group[0].At, group[0].At
	for _, r := range group {
		first, last = min(first, r.At), max(last, r.At)
		if r.Observation.Capture.Runner != group[0].Observation.Capture.Runner {
			return true
		}
	}
	return last-first >= confirmGap
}
