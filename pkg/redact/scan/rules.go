package scan

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
	"github.com/zricethezav/gitleaks/v8/regexp"
)

// Rule describes one thing that must not be published. Its examples are part of it: the tests and Alive prove by
// them that it fires.
type Rule struct {
	// ID names the rule in hits: "own/<word>".
	ID string
	// Purpose says in one sentence what the rule finds.
	Purpose string
	// Keywords are texts in lower case of which every match holds at least one.
	Keywords []string
	// Pattern is an RE2 expression. Its first group, if it has one, is the finding.
	Pattern string
	// Except is an expression that, when it equals a whole finding, says that it is none.
	Except string
	// near is a cheap test whether a match is possible at a keyword that ends at end. It may err on the side of a
	// match only. Nil means always.
	near func(text []byte, end int) bool
	// Match lists texts in which the rule must find something, visibly fake. NoMatch lists near misses.
	Match, NoMatch []string
}

// Rules lists the rules of this package, apart from those of gitleaks.
func Rules() []Rule { return slices.Concat(keyRules, addressRules, pathRules) }

// placeholders are the values that the redactor emits. No rule takes one of them for a finding.
const placeholders = `0|PHRleHQ\+|1970-01-01T00:00:00Z|2000-01-01T00:00:00Z|00000000-0000-4000-8000-[0-9]{12}|https://redacted\.invalid/`

// matcher is a compiled rule, ours or one of gitleaks.
type matcher struct {
	id      string
	pattern *regexp.Regexp
	group   bool           // the finding is the first group
	except  *regexp.Regexp // nil: none
	// near, if not nil, is a cheap test whether a match is possible at a keyword that ends at end.
	near func(text []byte, end int) bool
	// confirm, for a rule of gitleaks, applies what the rule asks beyond its pattern.
	confirm func(text []byte, start, end int) bool
}

// ruleset is all built-in rules with one automaton over their keywords.
type ruleset struct {
	matchers []matcher
	trie     *ahocorasick.Trie
	byWord   [][]int // keyword number of the automaton → matchers
	always   []int   // matchers without keywords
	proof    sync.Once
	dead     []string // rules that proof found without effect
}

// builtin compiles the rules of this package and of gitleaks once per process; they cost about 0.2 s.
var builtin = sync.OnceValues(func() (*ruleset, error) {
	set := &ruleset{}
	words := map[string][]int{}
	add := func(m matcher, keywords []string) {
		if len(keywords) == 0 {
			set.always = append(set.always, len(set.matchers))
		}
		for _, k := range keywords {
			words[strings.ToLower(k)] = append(words[strings.ToLower(k)], len(set.matchers))
		}
		set.matchers = append(set.matchers, m)
	}
	for _, r := range Rules() {
		m, err := r.compile()
		if err != nil {
			return nil, err
		}
		add(m, r.Keywords)
	}
	if err := addGitleaks(add); err != nil {
		return nil, err
	}
	b := ahocorasick.NewTrieBuilder()
	for word, matchers := range words {
		b.AddString(word)
		set.byWord = append(set.byWord, matchers)
	}
	set.trie = b.Build()
	return set, nil
})

func (r Rule) compile() (m matcher, err error) {
	defer func() {
		// The compiler of either build only panics.
		if cause := recover(); cause != nil {
			err = fmt.Errorf("compiling rule %s: %v", r.ID, cause)
		}
	}()
	m = matcher{id: r.ID, pattern: regexp.MustCompile(r.Pattern), near: r.near}
	m.group = m.pattern.NumSubexp() > 0
	except := placeholders
	if r.Except != "" {
		except += "|" + r.Except
	}
	m.except = regexp.MustCompile(`^(?:` + except + `)$`)
	return m, nil
}

// match looks for everything in the view of depth d.
func (p *pass) match(d int) {
	text := p.frames[d].data
	p.matchExact(d)
	set := p.s.rules
	if len(p.found) < len(set.matchers) {
		p.found = make([]bool, len(set.matchers))
	}
	clear(p.found)
	some := len(set.always) > 0
	for _, i := range set.always {
		p.found[i] = true
	}
	set.trie.Walk(p.lower, func(last, _, word int64) bool {
		for _, i := range set.byWord[word] {
			if near := set.matchers[i].near; !p.found[i] && (near == nil || near(p.lower, int(last)+1)) {
				p.found[i], some = true, true
			}
		}
		return true
	})
	if !some {
		return
	}
	text = p.wellFormed(text)
	for i, found := range p.found[:len(set.matchers)] {
		if found {
			p.apply(&set.matchers[i], d, text)
		}
	}
}

// matchExact looks for canaries and known values in the view of depth d, and leaves its lower case in p.lower.
func (p *pass) matchExact(d int) {
	p.lower = appendLower(p.lower[:0], p.frames[d].data)
	p.s.exact.find(p.lower, func(rule string, pos int) bool {
		p.hit(rule, d, pos)
		return !p.full
	})
}

// apply runs one rule over text, the view of depth d.
func (p *pass) apply(m *matcher, d int, text []byte) {
	if p.full {
		return
	}
	var found [][]int
	if m.group {
		found = m.pattern.FindAllSubmatchIndex(text, maxMatches)
	} else {
		found = m.pattern.FindAllIndex(text, maxMatches)
	}
	for _, loc := range found {
		start, end := loc[0], loc[1]
		if m.confirm != nil {
			if !m.confirm(text, start, end) {
				continue
			}
		} else {
			if m.group && loc[2] >= 0 {
				start, end = loc[2], loc[3]
			}
			if m.except.Match(text[start:end]) {
				continue
			}
		}
		p.hit(m.id, d, start)
	}
	if len(found) == maxMatches {
		p.limit(d)
	}
}
