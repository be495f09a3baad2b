package scan

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Bounds of one scan. Going beyond any of them is a hit of RuleLimit.
const (
	// MaxBytes is the largest input of one call of Scan or Line, in bytes.
	MaxBytes = 64 << 20
	// MaxDepth is how many encodings may be nested around a text.
	MaxDepth = 8
	// MaxHits is how many hits one call returns at most, RuleLimit included.
	MaxHits = 1000
	// maxMatches is how many matches of one rule are looked at in one decoded form.
	maxMatches = 200
)

// Budget is how many bytes of decoded text one scan of n bytes may look at. It is linear in n, so time and memory
// are too; ordinary records use two to four times their size.
func Budget(n int) int { return 16*n + 64<<10 }

// RuleLimit is the rule of a hit that says: the data could not be decoded within the bounds, so nothing is proven.
const RuleLimit = "own/limit"

const (
	// minCanary is the shortest canary that cannot occur by chance.
	minCanary = 8
	// minKnown is the shortest known value that is searched anywhere in a text.
	minKnown = 8
)

// Known is a value that must not be published because of what it is, not of how it looks.
type Known struct {
	// Value is searched without regard to ASCII case. Empty values, and values under 8 bytes that are not
	// TokenOnly, are not searched: they would match by chance.
	Value string
	// Kind names the value in hits, as "known/<kind>": "user", "host", "home", "cwd", "secret-env" and the like.
	// It consists of lowercase letters, digits and hyphens.
	Kind string
	// TokenOnly restricts the search to whole tokens in a path ("/x/", `\x\`, "~x") or in user@host. It is meant
	// for user and host names, which are often ordinary words.
	TokenOnly bool
}

// Config says what a Scanner looks for besides the built-in rules.
type Config struct {
	// Canaries are the unique strings planted in this run, at least 8 bytes each. A text that is encoded on its
	// own is found from 12 bytes on in base64 and from 8 bytes on in hexadecimal; in a larger text, always.
	Canaries []string
	// Known are the private values of the machine and the account.
	Known []Known
}

// Hit is one place at which something was found. It has no field that could hold the value.
type Hit struct {
	// Rule is "canary/<index in Config.Canaries>", "known/<kind>", "gitleaks/<rule>", or the id of a rule of this
	// package ("own/<rule>").
	Rule string
	// Offset is where in the scanned data the finding, or the encoded text that holds it, begins, in bytes.
	Offset int
	// Encoding is "plain", or the names of the decodings from the outside in, joined by ">": "json>base64".
	Encoding string
}

// String renders the hit for an error message.
func (h Hit) String() string { return fmt.Sprintf("%s at byte %d (%s)", h.Rule, h.Offset, h.Encoding) }

// depth is how many decodings lead to the finding.
func (h Hit) depth() int {
	if h.Encoding == plain {
		return 0
	}
	return 1 + strings.Count(h.Encoding, ">")
}

// Scanner searches data for secrets. It is safe for concurrent use.
type Scanner struct {
	rules *ruleset
	exact *exactSet
	lines lineCache
	runs  sync.Pool // of *pass
	proof sync.Once // of Alive
	dead  error
}

var kindPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// New builds a scanner. It fails when a canary is too short to be a proof, when a kind is not a plain word, or
// when the gitleaks rules cannot be loaded. Errors name the entry by its index, never by its value.
func New(cfg Config) (*Scanner, error) {
	rules, err := builtin()
	if err != nil {
		return nil, err
	}
	for i, c := range cfg.Canaries {
		if len(c) < minCanary {
			return nil, fmt.Errorf("canary %d has %d bytes: plant canaries of at least %d bytes", i, len(c), minCanary)
		}
	}
	for i, k := range cfg.Known {
		if !kindPattern.MatchString(k.Kind) {
			return nil, fmt.Errorf("known value %d: its kind is not a word of lowercase letters, digits and hyphens: rename the kind", i)
		}
	}
	return newScannerOf(rules, cfg), nil
}

func newScannerOf(rules *ruleset, cfg Config) *Scanner {
	s := &Scanner{rules: rules, exact: newExactSet(cfg)}
	s.lines.literal = s.exact.meetsNumbers
	s.runs.New = func() any { return &pass{s: s} }
	return s
}

// Scan searches one blob, or one line, in all its decoded forms. The hits are sorted by offset and rule; a rule is
// reported once per offset, with the shortest chain of encodings that shows it. No hits means clean.
func (s *Scanner) Scan(data []byte) []Hit {
	if len(data) > MaxBytes {
		return []Hit{{Rule: RuleLimit, Encoding: plain}}
	}
	p := s.runs.Get().(*pass)
	defer s.runs.Put(p)
	return p.scan(data)
}

// sortHits orders hits and drops the longer ways to the same finding.
func sortHits(hits []Hit) []Hit {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.depth(), b.depth()), cmp.Compare(a.Encoding, b.Encoding))
	})
	return slices.CompactFunc(hits, func(a, b Hit) bool { return a.Offset == b.Offset && a.Rule == b.Rule })
}
