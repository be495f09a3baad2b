package scan

import (
	"fmt"
	"slices"
	"strings"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
)

// exactSet finds canaries and known values by one automaton over text in lower case.
type exactSet struct {
	trie   *ahocorasick.Trie // nil when there is nothing to find
	values [][]exactValue    // by the automaton's pattern number: one text may be several values
	// ungated is set when a value is not printable ASCII, so that it may stand between bytes that are no text.
	ungated bool
	// meetsNumbers is set when an occurrence of a value could overlap a number that Line leaves out of its key.
	meetsNumbers bool
}

type exactValue struct {
	rule      string
	text      string // as given; only Alive needs it
	tokenOnly bool
}

func newExactSet(cfg Config) *exactSet {
	set := &exactSet{}
	b := ahocorasick.NewTrieBuilder()
	index := map[string]int{}
	add := func(text, rule string, tokenOnly bool) {
		folded := string(appendLower(nil, []byte(text)))
		i, ok := index[folded]
		if !ok {
			i = len(set.values)
			index[folded] = i
			set.values = append(set.values, nil)
			b.AddString(folded)
		}
		if v := (exactValue{rule, text, tokenOnly}); !slices.Contains(set.values[i], v) {
			set.values[i] = append(set.values[i], v)
		}
		set.ungated = set.ungated || longestText([]byte(folded)) < len(folded)
		set.meetsNumbers = set.meetsNumbers || numberEdge.MatchString(folded)
	}
	for i, c := range cfg.Canaries {
		add(c, fmt.Sprintf("canary/%d", i), false)
	}
	for _, k := range cfg.Known {
		if value := strings.TrimSpace(k.Value); value != "" && (k.TokenOnly || len(value) >= minKnown) {
			add(value, "known/"+k.Kind, k.TokenOnly)
		}
	}
	if len(set.values) > 0 {
		set.trie = b.Build()
	}
	return set
}

// controls lists each value with a context in which it must be found.
func (set *exactSet) controls() []control {
	var all []control
	for _, values := range set.values {
		for _, v := range values {
			text := v.text
			if v.tokenOnly {
				text = "/" + text + "/"
			}
			all = append(all, control{v.rule, v.rule, text})
		}
	}
	return all
}

// find calls f with the rule and the offset of each value in text; lower is text in lower case.
func (set *exactSet) find(lower []byte, f func(rule string, pos int) bool) {
	if set.trie == nil {
		return
	}
	set.trie.Walk(lower, func(end, n, pattern int64) bool {
		from, to := int(end-n+1), int(end+1)
		for _, v := range set.values[pattern] {
			if v.tokenOnly && !inContext(lower, from, to) {
				continue
			}
			if !f(v.rule, from) {
				return false
			}
		}
		return true
	})
}

// inContext reports whether text[from:to] is a whole token in a path or in user@host.
func inContext(text []byte, from, to int) bool {
	at := func(i int) byte {
		if i < 0 || i >= len(text) {
			return ' '
		}
		return text[i]
	}
	before, after := at(from-1), at(to)
	switch {
	case nameByte(before) || nameByte(after):
		return false
	case before == '/' || before == '\\' || before == '~':
		return after != '.' || !nameByte(at(to+1)) // "/name.txt" is another name
	case before == '@':
		return nameByte(at(from - 2))
	case after == '@':
		// A package at a version reads alike, but versions begin with a digit.
		c := at(to + 1)
		return before != '.' && nameByte(c) && (c < '0' || c > '9')
	}
	return false
}

func nameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c >= 0x80
}

// appendLower appends src with ASCII letters in lower case, so that offsets stay.
func appendLower(dst, src []byte) []byte {
	n := len(dst)
	dst = append(dst, src...)
	for i, c := range dst[n:] {
		if 'A' <= c && c <= 'Z' {
			dst[n+i] = c + 'a' - 'A'
		}
	}
	return dst
}
