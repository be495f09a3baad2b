package scan

import (
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// TestGitleaksFires makes a text for every rule of gitleaks from its own pattern: one that stands alone, and one that is
// followed by what often follows a value. A rule for which no text fires is dead.
func TestGitleaksFires(t *testing.T) {
	s := newScanner(t, Config{})
	rng := rand.New(rand.NewPCG(1, 2))
	count := 0
	for _, m := range s.rules.matchers {
		if !strings.HasPrefix(m.id, "gitleaks/") {
			continue
		}
		count++
		tree, err := syntax.Parse(m.pattern.String(), syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		fires := func(before, after string) bool {
			// Entropy and stop words refuse some texts.
			return slices.ContainsFunc(make([]struct{}, 60), func(struct{}) bool {
				var text strings.Builder
				draw(&text, tree, rng)
				return slices.Contains(rulesOf(s.Scan([]byte(before+strings.Trim(text.String(), " \n")+after))), m.id)
			})
		}
		named := strings.ReplaceAll(m.id, "-", " ") + " " // some rules want a name near by
		if !fires(named, "") {
			t.Errorf("%s fires on none of 60 texts made from its pattern", m.id)
		}
		if strings.HasSuffix(m.pattern.String(), openEnd) && !fires(`{"text":"`+named, "\\u0026alt=sse\"}") {
			t.Errorf("%s does not fire in a query string in JSON", m.id)
		}
	}
	if count < minGitleaks {
		t.Errorf("%d rules, want %d", count, minGitleaks)
	}
}

// draw writes a text that the expression matches, most of the time.
func draw(out *strings.Builder, re *syntax.Regexp, rng *rand.Rand) {
	switch re.Op {
	case syntax.OpLiteral:
		out.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		// Letters and digits first: the rest of a class is punctuation that may end what follows.
		var all []rune
		for i := 0; i < len(re.Rune); i += 2 {
			for c := max(re.Rune[i], ' '); c <= min(re.Rune[i+1], '~'); c++ {
				all = append(all, c)
			}
		}
		plain := slices.DeleteFunc(slices.Clone(all), func(c rune) bool { return !nameByte(byte(c)) })
		if len(plain) > 0 {
			all = plain
		}
		if len(all) > 0 {
			out.WriteRune(all[rng.IntN(len(all))])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteByte('.') // what a dot in a pattern is meant to be
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			draw(out, sub, rng)
		}
	case syntax.OpAlternate:
		draw(out, re.Sub[rng.IntN(len(re.Sub))], rng)
	case syntax.OpStar, syntax.OpQuest, syntax.OpPlus, syntax.OpRepeat:
		low, high := re.Min, re.Max
		switch re.Op {
		case syntax.OpStar, syntax.OpQuest:
			low, high = 0, 1
		case syntax.OpPlus:
			low, high = 1, 30
		}
		if high < 0 || high > low+20 {
			high = low + 20
		}
		for range low + rng.IntN(high-low+1) {
			if sub := re.Sub[0]; sub.Op == syntax.OpAnyCharNotNL && low > 1 {
				out.WriteByte("abcdefghijklmnopqrstuvwxyz0123456789"[rng.IntN(36)])
			} else {
				draw(out, sub, rng)
			}
		}
	}
}
