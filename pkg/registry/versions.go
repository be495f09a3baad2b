package registry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// compareVersions is a total order: versions without semantic form come first, bytewise, then the others by precedence.
func compareVersions(a, b contract.CLIVersion) int {
	if order, ok := contract.CompareVersions(string(a), string(b)); ok {
		return cmp.Or(order, cmp.Compare(a, b))
	}
	return cmp.Or(semantic(a)-semantic(b), cmp.Compare(a, b))
}

func semantic(v contract.CLIVersion) int {
	if _, err := semver.NewVersion(string(v)); err != nil {
		return 0
	}
	return 1
}

// claimRanges writes the ranges of a claim. covered are the versions that were captured; known are all versions that
// anybody saw, covered ones included. No range spans a known version that is not covered.
func claimRanges(policy contract.RangePolicy, covered, known []contract.CLIVersion) []string {
	covered = slices.Clone(covered)
	slices.SortFunc(covered, compareVersions)
	isCovered := map[contract.CLIVersion]bool{}
	for _, v := range covered {
		isCovered[v] = true
	}
	var ranges []string
	reached := "" // the last range that spans more than one version
	for _, v := range covered {
		if reached != "" && matches(reached, v) {
			continue
		}
		reached = ""
		if policy == contract.RangePatch {
			reached = patchRange(v, known, isCovered)
		}
		ranges = append(ranges, cmp.Or(reached, string(v)))
	}
	return ranges
}

// patchRange reaches from a version to the next minor one, or to the first known version that is not covered. It is
// empty where only the version itself can be claimed: prereleases, versions without semantic form, and where a
// known prerelease would fall into the range.
func patchRange(from contract.CLIVersion, known []contract.CLIVersion, covered map[contract.CLIVersion]bool) string {
	low, err := semver.StrictNewVersion(string(from))
	if err != nil || low.Prerelease() != "" || low.Metadata() != "" {
		return ""
	}
	high := fmt.Sprintf("%d.%d.0", low.Major(), low.Minor()+1)
	for _, v := range known {
		if !covered[v] && !contract.IsPrerelease(string(v)) && matches(">="+string(from)+" <"+high, v) {
			high = string(v)
		}
	}
	rng := ">=" + string(from) + " <" + high
	if slices.ContainsFunc(known, func(v contract.CLIVersion) bool { return !covered[v] && matches(rng, v) }) {
		return ""
	}
	return rng
}

func matches(rng string, v contract.CLIVersion) bool {
	ok, err := contract.MatchRange(rng, string(v))
	return err == nil && ok
}

// newest gives the newest of some versions. Where the scheme is not semver the time of publication decides, as far as
// both are known.
func newest(versions []contract.CLIVersion, scheme string, releases contract.ReleaseList) (contract.CLIVersion, bool) {
	if len(versions) == 0 {
		return "", false
	}
	published := map[contract.CLIVersion]contract.Timestamp{}
	if scheme != "semver" {
		for _, r := range releases.Releases {
			published[r.Version] = r.PublishedAt
		}
	}
	return slices.MaxFunc(versions, func(a, b contract.CLIVersion) int {
		if x, y := published[a], published[b]; x != "" && y != "" {
			return cmp.Or(strings.Compare(string(x), string(y)), compareVersions(a, b))
		}
		return compareVersions(a, b)
	}), true
}
