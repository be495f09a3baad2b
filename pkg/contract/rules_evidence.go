package contract

import "slices"

var evidenceRules = []Rule{
	ruleFor(KindEvidence, "evidence/promotions", "Promotions rise in level and in time.", func(e Evidence, report reporter) {
		for i := 1; i < len(e.Promotions); i++ {
			before, after := e.Promotions[i-1], e.Promotions[i]
			if ValidityLevel(after.To).Rank() <= ValidityLevel(before.To).Rank() {
				report(pointer("promotions", i, "to"), "the level does not rise", "promote upwards only; take an observation out of all claims with withdrawn")
			}
			if later(before.At, after.At) {
				report(pointer("promotions", i, "at"), "the promotion is older than the one before it", "append promotions in order of time")
			}
		}
	}),
	ruleFor(KindEvidence, "evidence/reproduction", "A community confirmation links to the reproduction.", func(e Evidence, report reporter) {
		for i, p := range e.Promotions {
			if ValidityLevel(p.To) == CommunityConfirmed && e.ReproductionURL == nil {
				report(pointer("promotions", i, "to"), "the independent reproduction is missing", "add reproduction_url")
			}
		}
	}),
	ruleFor(KindEvidence, "evidence/isolation", "What is said about the isolation of a run agrees.", func(e Evidence, report reporter) {
		named := len(e.Isolation.Namespaces) > 0
		if named != (e.Isolation.Kind == "namespaces") {
			report("/isolation/namespaces", "namespaces are named exactly when they isolated the run", "name them with kind namespaces, or leave them out")
		}
		if e.Isolation.Network == "loopback-only" && !slices.Contains(e.Isolation.Namespaces, "network") {
			report("/isolation/network", "only a network namespace cuts the network down to loopback", "list the namespace network, or write host")
		}
		if e.Isolation.Cgroup != nil && (!named || e.Isolation.Limits == nil) {
			report("/isolation/cgroup", "only a run in namespaces, with limits, has a control group", "leave cgroup out")
		}
		if e.Isolation.Filesystem != "" && !slices.Contains(e.Isolation.Namespaces, "mount") {
			report("/isolation/filesystem", "only a mount namespace keeps the child from other folders", "list the namespace mount, or leave filesystem out")
		}
	}),
}

var sourceEvidenceRules = []Rule{
	ruleFor(KindSourceEvidence, "source-evidence/shape-path", "The path of the shape follows from family and signature.", func(s SourceEvidence, report reporter) {
		checkShapePath("/derived_shape/path", s.ProtocolFamily, s.DerivedShape.Signature, s.DerivedShape.Path, report)
	}),
}

// later reports whether a is after b. The schema has checked that both are times.
func later(a, b Timestamp) bool {
	x, errX := a.Time()
	y, errY := b.Time()
	return errX == nil && errY == nil && x.After(y)
}
