package contract

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// alternative is one part of a range between "||": comparators that must all hold.
type alternative struct {
	text        string // as written, for the exact match
	comparators []comparator
	exactOnly   bool // not a range: an exact version without semantic form
	never       bool // matches nothing, such as "<*"
}

// comparator is one primitive bound.
type comparator struct {
	op      string // one of < <= > >= =
	version *semver.Version
}

// partial is a version in a range, in which trailing numbers may be missing or wildcards.
type partial struct {
	numbers [3]uint64
	known   int // how many numbers are given, 0 to 3
	pre     string
}

var (
	opSpace   = regexp.MustCompile(`(>=|<=|~>|[<>=~^])\s+`)
	hyphened  = regexp.MustCompile(`^\s*(\S+)\s+-\s+(\S+)\s*$`)
	simple    = regexp.MustCompile(`^(>=|<=|~>|[<>=~^])?(.*)$`)
	partialRE = regexp.MustCompile(`^[v=]*(\d+|[xX*])(?:\.(\d+|[xX*])(?:\.(\d+|[xX*])(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?)?)?$`)
	exactRE   = regexp.MustCompile(CLIVersion("").Pattern())
)

func parseRange(rng string) ([]alternative, error) {
	var set []alternative
	for _, text := range strings.Split(rng, "||") {
		alt := alternative{text: strings.TrimSpace(text)}
		err := alt.parse()
		// A single token that is no range names one version of a calendar or opaque scheme.
		if err != nil && exactRE.MatchString(alt.text) && strings.ContainsAny(alt.text, "0123456789") {
			alt.exactOnly, alt.comparators, err = true, nil, nil
		}
		if err != nil {
			return nil, err
		}
		set = append(set, alt)
	}
	return set, nil
}

func (a *alternative) parse() error {
	if m := hyphened.FindStringSubmatch(a.text); m != nil {
		low, err := parsePartial(m[1])
		if err != nil {
			return err
		}
		high, err := parsePartial(m[2])
		if err != nil {
			return err
		}
		a.add(">=", low)
		a.add("<=", high)
		return nil
	}
	for _, token := range strings.Fields(opSpace.ReplaceAllString(a.text, "$1")) {
		m := simple.FindStringSubmatch(token)
		p, err := parsePartial(m[2])
		if err != nil {
			return err
		}
		a.add(m[1], p)
	}
	return nil
}

func parsePartial(text string) (partial, error) {
	m := partialRE.FindStringSubmatch(text)
	if m == nil {
		return partial{}, fmt.Errorf("version range: %q is neither a version nor a range; write something like >=1.2.0 <2.0.0, ^1.2.0, 1.2.x or an exact version", text)
	}
	p := partial{pre: m[4]}
	for _, number := range m[1:4] {
		if strings.ContainsAny(number, "xX*") || number == "" {
			p.pre = ""
			return p, nil
		}
		// Comparators add one to a number, so the largest value is refused as well.
		n, err := strconv.ParseUint(number, 10, 63)
		if err != nil {
			return partial{}, fmt.Errorf("version range: a number of %q is too large", text)
		}
		p.numbers[p.known] = n
		p.known++
	}
	if p.pre != "" {
		if _, err := semver.NewVersion("0.0.0-" + p.pre); err != nil {
			return partial{}, fmt.Errorf("version range: the prerelease part of %q is not of semantic form", text)
		}
	}
	return p, nil
}

// add turns one operator and partial into primitive comparators, as node-semver does. Upper bounds that a wildcard
// implies end in "-0", so that prereleases of the bound are outside.
func (a *alternative) add(op string, p partial) {
	if p.known == 0 {
		if op == "<" || op == ">" {
			a.never = true
		}
		return
	}
	switch op {
	case "^":
		a.bound(">=", p.numbers, p.pre)
		a.bound("<", p.next(p.caretIndex()), "0")
	case "~", "~>":
		a.bound(">=", p.numbers, p.pre)
		a.bound("<", p.next(min(p.known, 2)-1), "0")
	case ">", "<=":
		switch {
		case p.known == 3:
			a.bound(op, p.numbers, p.pre)
		case op == ">":
			a.bound(">=", p.next(p.known-1), "")
		default:
			a.bound("<", p.next(p.known-1), "0")
		}
	case "<":
		pre := p.pre
		if p.known < 3 {
			pre = "0"
		}
		a.bound("<", p.numbers, pre)
	case ">=":
		a.bound(">=", p.numbers, p.pre)
	default:
		if p.known == 3 {
			a.bound("=", p.numbers, p.pre)
			return
		}
		a.bound(">=", p.numbers, "")
		a.bound("<", p.next(p.known-1), "0")
	}
}

func (a *alternative) bound(op string, numbers [3]uint64, pre string) {
	a.comparators = append(a.comparators, comparator{op, semver.New(numbers[0], numbers[1], numbers[2], pre, "")})
}

// caretIndex is the place of the number that ^ lets nobody change: the first that is not zero.
func (p partial) caretIndex() int {
	for i := range p.known {
		if p.numbers[i] != 0 {
			return i
		}
	}
	return p.known - 1
}

// next counts the number at index up and sets what follows to zero.
func (p partial) next(index int) [3]uint64 {
	var out [3]uint64
	copy(out[:], p.numbers[:index+1])
	out[index]++
	return out
}

// matches reports whether all comparators hold; a prerelease must also be one that they name, unless prereleases is true.
func (a *alternative) matches(v *semver.Version, prereleases bool) bool {
	if a.exactOnly || a.never {
		return false
	}
	named := prereleases || v.Prerelease() == ""
	for _, c := range a.comparators {
		if !c.holds(v) {
			return false
		}
		w := c.version
		named = named || (w.Prerelease() != "" && w.Major() == v.Major() && w.Minor() == v.Minor() && w.Patch() == v.Patch())
	}
	return named
}

func (c comparator) holds(v *semver.Version) bool {
	order := v.Compare(c.version)
	switch c.op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	}
	return order == 0
}

// bounds narrows the comparators to one interval; a nil end is open. It is false where no interval exists.
func (a *alternative) bounds() (low, high *comparator, ok bool) {
	if a.exactOnly || a.never {
		return nil, nil, false
	}
	for _, c := range a.comparators {
		if c.op != "<" && c.op != "<=" && (low == nil || tighter(c, *low, 1)) {
			low = &c
		}
		if c.op != ">" && c.op != ">=" && (high == nil || tighter(c, *high, -1)) {
			high = &c
		}
	}
	return low, high, meets(low, high)
}

// tighter reports whether c bounds more than d, for lower bounds (direction 1) or upper ones (-1).
func tighter(c, d comparator, direction int) bool {
	order := c.version.Compare(d.version) * direction
	return order > 0 || (order == 0 && (c.op == "<" || c.op == ">"))
}

// meets reports whether something lies at or above low and at or below high.
func meets(low, high *comparator) bool {
	if low == nil || high == nil {
		return true
	}
	order := low.version.Compare(high.version)
	return order < 0 || (order == 0 && low.op != ">" && high.op != "<")
}

func (a *alternative) overlaps(b alternative) bool {
	if a.text == b.text && !a.never {
		return true
	}
	lowA, highA, okA := a.bounds()
	lowB, highB, okB := b.bounds()
	if !okA || !okB {
		// The empty range holds every version, also one without semantic form.
		return (a.exactOnly && b.text == "") || (b.exactOnly && a.text == "")
	}
	return meets(lowA, highB) && meets(lowB, highA)
}
