package contract

import (
	"regexp"
	"slices"
)

var matrixRules = []Rule{
	ruleFor(KindSupportMatrix, "matrix/ranges", "Version ranges can be parsed.", eachEntry(func(at string, e MatrixEntry, report reporter) {
		for i, rng := range e.VersionRanges {
			if rng == "" || !ValidRange(rng) {
				report(at+pointer("version_ranges", i), "the text is no version range", rangeRemedy)
			}
		}
	})),
	ruleFor(KindSupportMatrix, "matrix/platforms", "The platform unknown is no part of a claim.", eachEntry(func(at string, e MatrixEntry, report reporter) {
		if i := slices.Index(e.Platforms, PlatformUnknown); i >= 0 {
			report(at+pointer("platforms", i), "nothing is claimed about an unknown platform", "remove it")
		}
	})),
	ruleFor(KindSupportMatrix, "matrix/claim-level", "A verified claim rests on a shape that was seen at run time.", eachEntry(func(at string, e MatrixEntry, report reporter) {
		verified := e.SupportStatus == VersionRangeVerified || e.SupportStatus == LocalShapeVerified
		if verified && !slices.ContainsFunc(e.ObservedShapes, func(s MatrixShape) bool { return s.ValidityLevel.BacksClaim() }) {
			report(at+"/support_status", "no shape behind the claim has a level that backs one", "back it with a shape of level runtime_observed, confirmed or community_confirmed, or write another status")
		}
	})),
	ruleFor(KindSupportMatrix, "matrix/known-breaking", "What is said to break names shape, reason and evidence.", eachEntry(func(at string, e MatrixEntry, report reporter) {
		breaking := e.SupportStatus == KnownBreaking || e.SupportStatus == KnownBreakingShape
		if breaking && len(e.KnownBreakingShapes) == 0 {
			report(at+"/known_breaking_shapes", "the status needs a reason and evidence", "add at least one item with shape, reason and evidence")
		}
	})),
	ruleFor(KindSupportMatrix, "matrix/evidence", "Evidence is a path in the registry or an https address.", eachEntry(func(at string, e MatrixEntry, report reporter) {
		for i, b := range e.KnownBreakingShapes {
			for j, link := range b.Evidence {
				if !relPath.MatchString(link) && !httpsURL.MatchString(link) {
					where := at + pointer("known_breaking_shapes", i, "evidence")
					if len(b.Evidence) > 1 {
						where += pointer(j)
					}
					report(where, "the text is neither a path in the registry nor an https address", "write a path relative to the registry's root, or an https address")
				}
			}
		}
	})),
	ruleFor(KindSupportMatrix, "matrix/shapes", "Each shape is listed once, and variants are among the shapes.", eachEntry(func(at string, e MatrixEntry, report reporter) {
		seen := map[Hash]bool{}
		for i, s := range e.ObservedShapes {
			if seen[s.Shape] {
				report(at+pointer("observed_shapes", i, "shape"), "the shape is listed twice", "keep one entry with the newest observed_at")
			}
			seen[s.Shape] = true
		}
		for i, v := range e.ServerVariants {
			if !seen[v.Shape] {
				report(at+pointer("server_variants", i, "shape"), "the variant is not among observed_shapes", "add its shape to observed_shapes")
			}
		}
	})),
	ruleFor(KindSupportMatrix, "matrix/last-observed", "last_observed_at is the newest observed_at.", eachEntry(func(at string, e MatrixEntry, report reporter) {
		newest := e.ObservedShapes[0].ObservedAt
		for _, s := range e.ObservedShapes {
			if later(s.ObservedAt, newest) {
				newest = s.ObservedAt
			}
		}
		if later(newest, e.LastObservedAt) || later(e.LastObservedAt, newest) {
			report(at+"/last_observed_at", "the time is not the newest observed_at of the entry", "generate the matrix again")
		}
	})),
	ruleFor(KindSupportMatrix, "matrix/latest", "latest_seen is not older than latest_verified.", eachEntry(func(at string, e MatrixEntry, report reporter) {
		if e.LatestSeen == nil || e.LatestVerified == nil {
			return
		}
		if order, ok := CompareVersions(string(*e.LatestSeen), string(*e.LatestVerified)); ok && order < 0 {
			report(at+"/latest_seen", "the version is older than latest_verified", "write the newest version that discovery or capture saw")
		}
	})),
	ruleFor(KindSupportMatrix, "matrix/disjoint", "Entries of one agent share no version, platform and family, so that a lookup has one answer.", checkDisjoint),
}

const rangeRemedy = "write a node-semver range like >=0.133.0 <0.140.0, or an exact version"

var (
	relPath  = regexp.MustCompile(RelPath("").Pattern())
	httpsURL = regexp.MustCompile(HTTPSURL("").Pattern())
)

// eachEntry makes a check of one entry one of the whole matrix.
func eachEntry(check func(at string, e MatrixEntry, report reporter)) func(SupportMatrix, reporter) {
	return func(m SupportMatrix, report reporter) {
		for i, entry := range m.Agents {
			check(pointer("agents", i), entry, report)
		}
	}
}

func checkDisjoint(m SupportMatrix, report reporter) {
	byAgent := map[AgentID][]int{}
	for i, entry := range m.Agents {
		for _, j := range byAgent[entry.Agent] {
			if overlap(m.Agents[j], entry) {
				report(pointer("agents", i), "an entry of the same agent covers some of the same versions, platforms and families", "make the version ranges of the entries disjoint, or merge them")
				break
			}
		}
		byAgent[entry.Agent] = append(byAgent[entry.Agent], i)
	}
}

func overlap(a, b MatrixEntry) bool {
	return intersects(a.Platforms, b.Platforms, func(x, y Platform) bool { return x == y }) &&
		intersects(a.ProtocolFamilies, b.ProtocolFamilies, func(x, y Family) bool { return x == y }) &&
		intersects(a.VersionRanges, b.VersionRanges, RangesOverlap)
}

func intersects[T any](a, b []T, meet func(x, y T) bool) bool {
	return slices.ContainsFunc(a, func(x T) bool {
		return slices.ContainsFunc(b, func(y T) bool { return meet(x, y) })
	})
}
