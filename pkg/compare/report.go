package compare

import (
	"cmp"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
)

// Report is what came of a comparison.
type Report struct {
	// Worst is the most alarming verdict; empty where there was nothing to compare.
	Worst Verdict `json:"worst,omitempty"`
	Items []Item  `json:"items"`
}

// Found reports whether there is anything but same_shape.
func (r *Report) Found() bool { return r.Worst.Rank() > SameShape.Rank() }

// SubReason refines compatible_new_shape.
type SubReason string

// The sub-reasons.
const (
	// FirstObservation: there is no known observation of this agent, mode, probe and backend.
	FirstObservation SubReason = "first_observation"
	// SubsumedChanges: the shape differs only in optional paths or enum values, as runs of one release do.
	SubsumedChanges SubReason = "subsumed"
)

// Item is the verdict on one new observation, or on one run that redaction stopped.
type Item struct {
	// Observation is the path of the new observation; empty for a run that redaction stopped.
	Observation contract.RelPath    `json:"observation,omitempty"`
	Agent       contract.AgentID    `json:"agent"`
	CLIVersion  contract.CLIVersion `json:"cli_version"`
	Platform    contract.Platform   `json:"platform,omitempty"`
	Probe       contract.ProbeID    `json:"probe"`
	Mode        contract.ModeID     `json:"mode,omitempty"`
	Backend     contract.Backend    `json:"backend,omitempty"`
	CapturedAt  contract.Timestamp  `json:"captured_at"`
	Signature   contract.Hash       `json:"signature,omitempty"`

	Verdict   Verdict   `json:"verdict"`
	SubReason SubReason `json:"sub_reason,omitempty"`
	// Reason is one sentence for people.
	Reason string `json:"reason"`
	// Known is the observation that this one was compared with.
	Known *Known `json:"known,omitempty"`
	// Changes are the structural differences from Known's shape.
	Changes []shape.Change `json:"changes,omitempty"`
	// Parsers lists the parsers whose events were compared.
	Parsers []string `json:"parsers,omitempty"`
	// Lost are the events that those parsers no longer give.
	Lost       []LostEvent        `json:"lost_events,omitempty"`
	Vocabulary []VocabularyChange `json:"vocabulary,omitempty"`
	// Flags are what became of the flags of help pages.
	Flags []FlagChange `json:"flags,omitempty"`
	// Violations are broken invariants of the dialect that Known did not break.
	Violations []string `json:"violations,omitempty"`
	// Findings say what limits this comparison.
	Findings []string `json:"findings,omitempty"`
	// Evidence lists the records behind the item, relative to the registry's root.
	Evidence []contract.RelPath `json:"evidence,omitempty"`
	// Grounding says how the shape is known; empty where nothing may be published.
	Grounding Grounding `json:"grounding,omitempty"`
}

// Known is the observation that a new one was compared with.
type Known struct {
	Observation contract.RelPath    `json:"observation"`
	CLIVersion  contract.CLIVersion `json:"cli_version"`
	Platform    contract.Platform   `json:"platform"`
	Signature   contract.Hash       `json:"signature"`
	Grounding   Grounding           `json:"grounding"`
}

// LostEvent is an event that a parser no longer gives.
type LostEvent struct {
	Parser string `json:"parser"`
	// Event is empty where a consumer's parser only says that it cannot read the fixture.
	Event contract.EventName `json:"event,omitempty"`
	// Required is set when the probe itself requires the event.
	Required bool `json:"required,omitempty"`
}

// Grounding is the label that every report carries: how what it says is known.
type Grounding string

// The groundings.
const (
	GroundedObserved  Grounding = "runtime observed"
	GroundedSource    Grounding = "source derived only"
	GroundedConfirmed Grounding = "confirmed by multiple observations"
	GroundedSynthetic Grounding = "synthetic only"
)

// GroundingOf maps a validity level to its label; an unknown level has none.
func GroundingOf(l contract.ValidityLevel) Grounding {
	switch l {
	case contract.Confirmed, contract.CommunityConfirmed:
		return GroundedConfirmed
	case contract.RuntimeObserved, contract.ServerVariant:
		return GroundedObserved
	case contract.SourceDerived, contract.VendorDocumented:
		return GroundedSource
	case contract.SyntheticMock:
		return GroundedSynthetic
	}
	return ""
}

// newReport sorts the items and finds the worst verdict.
func newReport(items []Item) *Report {
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), compareVersions(a.CLIVersion, b.CLIVersion), cmp.Compare(a.Probe, b.Probe), cmp.Compare(a.Mode, b.Mode),
			cmp.Compare(a.Backend, b.Backend), cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.CapturedAt, b.CapturedAt), cmp.Compare(a.Observation, b.Observation), cmp.Compare(a.Reason, b.Reason))
	})
	r := &Report{Items: items}
	for _, i := range items {
		if i.Verdict.Rank() > r.Worst.Rank() {
			r.Worst = i.Verdict
		}
	}
	return r
}

// compareVersions orders versions of any scheme: semantic ones first, by precedence, then the rest by their text.
func compareVersions(a, b contract.CLIVersion) int {
	rank := func(v contract.CLIVersion) int {
		if _, semantic := contract.CompareVersions(string(v), "0.0.0"); semantic {
			return 0
		}
		return 1
	}
	order, _ := contract.CompareVersions(string(a), string(b))
	return cmp.Or(rank(a)-rank(b), order, cmp.Compare(a, b))
}
