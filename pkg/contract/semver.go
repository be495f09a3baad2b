package contract

import (
	"strings"

	"github.com/Masterminds/semver/v3"
)

// MatchRange reports whether a version lies in a range, by the rules of node-semver: a prerelease matches only
// where a comparator of the range names a prerelease of the same major, minor and patch. Two rules come on top: the
// empty range matches every version, and an alternative equal to the version matches it, whatever its scheme, so
// that calendar and opaque versions can be named. A version without semantic form matches in no other way.
// The error says that the range cannot be parsed.
func MatchRange(rng, version string) (bool, error) { return match(rng, version, false) }

// MatchReleases reports whether a rule of an agent record for a range of releases holds for a version. It differs from
// MatchRange in that a prerelease matches by its place in the order, between the bounds: a CLI's prerelease behaves like
// its neighbours, and nobody could name each one in advance.
func MatchReleases(rng, version string) (bool, error) { return match(rng, version, true) }

func match(rng, version string, prereleases bool) (bool, error) {
	set, err := parseRange(rng)
	if err != nil {
		return false, err
	}
	if strings.TrimSpace(rng) == "" {
		return true, nil
	}
	v := parseVersion(version)
	for _, alt := range set {
		if alt.text == version || (v != nil && alt.matches(v, prereleases)) {
			return true, nil
		}
	}
	return false, nil
}

// ValidRange reports whether MatchRange can read the range.
func ValidRange(rng string) bool {
	_, err := parseRange(rng)
	return err == nil
}

// CompareVersions orders two versions by semver precedence: -1, 0 or +1. It is false when they cannot be compared,
// because one has no semantic form and they are not equal as strings. Builds whose only difference is a hash in the
// prerelease part sort by that text, which says nothing about time: order such releases by publication.
func CompareVersions(a, b string) (int, bool) {
	if a == b {
		return 0, true
	}
	va, vb := parseVersion(a), parseVersion(b)
	if va == nil || vb == nil {
		return 0, false
	}
	return va.Compare(vb), true
}

// IsPrerelease reports whether a version has a prerelease part. A version without semantic form has none.
func IsPrerelease(version string) bool {
	v := parseVersion(version)
	return v != nil && v.Prerelease() != ""
}

// RangeFloor gives the lowest version that a range names as its lower bound, or as an exact version of semantic
// form. It is false when some alternative of the range reaches down without a bound.
func RangeFloor(rng string) (string, bool) {
	set, err := parseRange(rng)
	if err != nil {
		return "", false
	}
	var floor *semver.Version
	for _, alt := range set {
		if alt.never {
			continue
		}
		low, _, ok := alt.bounds()
		if !ok || low == nil {
			return "", false
		}
		if floor == nil || low.version.LessThan(floor) {
			floor = low.version
		}
	}
	if floor == nil {
		return "", false
	}
	return floor.Original(), true
}

// RangesOverlap reports whether two ranges may share a version. Ranges that cannot be parsed share none. The
// prerelease rule of MatchRange is left out, so the answer errs towards true.
func RangesOverlap(a, b string) bool {
	setA, errA := parseRange(a)
	setB, errB := parseRange(b)
	if errA != nil || errB != nil {
		return false
	}
	for _, x := range setA {
		for _, y := range setB {
			if x.overlaps(y) {
				return true
			}
		}
	}
	return false
}

// parseVersion reads a version leniently: leading zeros and fewer than three numbers are accepted, as calendar
// versions have them. It is nil for a version without semantic form.
func parseVersion(version string) *semver.Version {
	v, err := semver.NewVersion(version)
	if err != nil {
		return nil
	}
	return v
}
