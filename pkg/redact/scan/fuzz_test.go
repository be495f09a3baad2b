package scan

import (
	"maps"
	"slices"
	"testing"
)

// FuzzScan: foreign bytes never make it panic, point outside of the data, or return without bounds.
func FuzzScan(f *testing.F) {
	f.Add([]byte(cleanText))
	for _, r := range Rules() {
		for _, encode := range encoders {
			f.Add([]byte(encode(r.Match[0])))
		}
	}
	f.Add([]byte("\\u12\\ud800\\u\x1b[\x1b]\xc2\x9b%4%%\x00a\x00b"))
	s := newScanner(f, Config{Canaries: []string{fakeCanary}})
	f.Fuzz(func(t *testing.T, data []byte) {
		hits := s.Scan(data)
		if len(hits) > MaxHits {
			t.Errorf("%d hits", len(hits))
		}
		for _, h := range hits {
			if h.Offset < 0 || h.Offset > len(data) || h.Rule == "" || h.Encoding == "" {
				t.Errorf("%+v in %d bytes", h, len(data))
			}
		}
		if again := s.Scan(data); !slices.Equal(hits, again) {
			t.Errorf("%v, then %v", hits, again)
		}
	})
}

// FuzzCanary: a canary is found wherever it stands and however it was encoded, or the scan says that it gave up.
func FuzzCanary(f *testing.F) {
	names := slices.Sorted(maps.Keys(encoders))
	for i := range names {
		for j := range names {
			f.Add([]byte("<text> "), []byte(" <text>"), byte(i), byte(j))
			f.Add([]byte("ab\\"), []byte("cd\x1b["), byte(i), byte(j))
		}
	}
	s := newScanner(f, Config{Canaries: []string{fakeCanary}})
	f.Fuzz(func(t *testing.T, before, after []byte, inner, outer byte) {
		text := fakeCanary
		chain := []string{names[int(inner)%len(names)], names[int(outer)%len(names)]}
		switch {
		case chain[1] != "colours":
		case chain[0] == "colours", chain[0] == "utf-16le", chain[0] == "utf-16be":
			return // to no terminal may escape sequences stand within one, or within a character
		}
		for _, name := range chain {
			text = string(before) + encoders[name](string(before)+text+string(after)) + string(after)
		}
		for _, h := range s.Scan([]byte(text)) {
			if h.Rule == "canary/0" || h.Rule == RuleLimit {
				return
			}
		}
		t.Errorf("not found in %v: %.300q", chain, text)
	})
}

// FuzzNear: the cheap test ahead of a pattern never says no where the pattern matches.
func FuzzNear(f *testing.F) {
	for _, r := range Rules() {
		for _, text := range append(r.Match, r.NoMatch...) {
			f.Add([]byte(text))
		}
	}
	for _, text := range []string{gitleaksControls[3].text, "secret:::=??a1=|:b2c3d4e5f6", "token = '=========='", "password=:?|,x"} {
		f.Add([]byte(text))
	}
	set := newScanner(f, Config{}).rules
	f.Fuzz(func(t *testing.T, data []byte) {
		lower := appendLower(nil, data)
		near := map[int]bool{}
		set.trie.Walk(lower, func(last, _, word int64) bool {
			for _, i := range set.byWord[word] {
				near[i] = near[i] || set.matchers[i].near == nil || set.matchers[i].near(lower, int(last)+1)
			}
			return true
		})
		for i, m := range set.matchers {
			if m.near != nil && !near[i] && m.pattern.Match(data) {
				t.Errorf("%s matches %q", m.id, data)
			}
		}
	})
}
