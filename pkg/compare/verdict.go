package compare

import "slices"

// Verdict is what compare says about one new observation, or about one run that redaction stopped.
type Verdict string

// The five verdicts.
const (
	RedactionFailed    Verdict = "redaction_failed"
	SameShape          Verdict = "same_shape"
	ParserIncompatible Verdict = "parser_incompatible"
	ServerVariant      Verdict = "server_variant"
	CompatibleNewShape Verdict = "compatible_new_shape"
)

// Values lists the enum, the least alarming first.
func (Verdict) Values() []string {
	return []string{string(SameShape), string(CompatibleNewShape), string(ServerVariant), string(ParserIncompatible), string(RedactionFailed)}
}

// Rank orders verdicts by how alarming they are, from 1; an unknown one is 0.
func (v Verdict) Rank() int { return slices.Index(v.Values(), string(v)) + 1 }

// Rule is a verdict and what leads to it.
type Rule struct {
	Verdict Verdict
	Purpose string // one sentence
	// Review is what a person must look at before a record with this verdict is accepted.
	Review []string

	applies func(*subject) (bool, error)
}

// Rules lists the rules in order of precedence. The first that applies wins, and the last always applies.
func Rules() []Rule { return slices.Clone(rules) }

var rules = []Rule{
	{RedactionFailed, "Redaction stopped the run, or left it for a person: nothing of it may be published.", []string{
		"Read the private failure record and add a rule or a dialect entry that covers the place it names.",
		"Make sure that no file of this run is in the change.",
	}, redactionFailed},
	{SameShape, "A known observation has the same signature.", nil, sameShape},
	{ParserIncompatible, "An event that the probe requires, or that a known golden has, is lost under a parser that was run.", []string{
		"Decide whether the CLI dropped the event or the dialect no longer reads it; in the second case fix the dialect and capture again.",
		"If the CLI dropped it: alert the hosts that read this event and list the shape as known to break them.",
	}, parserIncompatible},
	{ServerVariant, "Another shape is live for the same release on the same platform.", []string{
		"Look at both transcripts for an account, region or rollout that explains the difference.",
		"The support matrix must list both shapes for this release and ask hosts for a local probe.",
	}, serverVariant},
	{CompatibleNewShape, "The shape is new, and no parser that was run lost an event.", []string{
		"Hold breaking changes against the release notes, or capture once more, before hosts are told.",
		"Read the fixture: it holds structure and published texts, nothing else.",
		"Read the golden: every new frame has a reference event, or is raw for a reason.",
	}, compatibleNewShape},
}

// reviewOf gives what to check for a verdict.
func reviewOf(v Verdict) []string {
	for _, r := range rules {
		if r.Verdict == v {
			return r.Review
		}
	}
	return nil
}
