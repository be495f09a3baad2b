package scan

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

func newScanner(t testing.TB, cfg Config) *Scanner {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// encoders write a text in another form.
var encoders = map[string]func(string) string{
	"json":       func(s string) string { b, _ := json.Marshal(s); return string(b) },
	"json twice": func(s string) string { return inJSON(s) },
	"json \\u":   escapeAll(`\u%04x`),
	"c \\x":      escapeAll(`\x%02x`),
	"percent":    escapeAll("%%%02X"),
	"query":      url.QueryEscape,
	"hex":        func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":        func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"hex odd":    func(s string) string { return "f" + hex.EncodeToString([]byte(s)) + "0" },
	"base64":     func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 +1":  func(s string) string { return "x" + base64.RawStdEncoding.EncodeToString([]byte("a"+s)) },
	"base64 +2":  func(s string) string { return "xy" + base64.RawStdEncoding.EncodeToString([]byte("ab"+s+"c")) },
	"base64 +3":  func(s string) string { return "xyz" + base64.RawStdEncoding.EncodeToString([]byte("abc "+s+" d")) },
	"base64url":  func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("??>" + s + ">>?")) },
	"base64 lines": func(s string) string {
		return wrapLines(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("-", 32)+" "+s)), 20, "\r\n  ")
	},
	"utf-16le":         wideText(func(u uint16) []byte { return []byte{byte(u), byte(u >> 8)} }),
	"utf-16be":         wideText(func(u uint16) []byte { return []byte{byte(u >> 8), byte(u)} }),
	"utf-16le, base64": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(encodeWide(s))) },
	"colours": func(s string) string {
		return "\x1b]0;" + strings.Join(strings.Split(s, ""), "\x1b[1;38;5;12m") + "\x07"
	},
}

func escapeAll(format string) func(string) string {
	return func(s string) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			fmt.Fprintf(&b, format, c)
		}
		return b.String()
	}
}

func wideText(unit func(uint16) []byte) func(string) string {
	return func(s string) string {
		var b []byte
		for _, u := range utf16.Encode([]rune(s)) {
			b = append(b, unit(u)...)
		}
		return string(b)
	}
}

func encodeWide(s string) string {
	return wideText(func(u uint16) []byte { return []byte{byte(u), byte(u >> 8)} })(s)
}

func wrapLines(s string, n int, end string) string {
	var lines []string
	for len(s) > n {
		lines, s = append(lines, s[:n]), s[n:]
	}
	return strings.Join(append(lines, s), end)
}

func rulesOf(hits []Hit) []string {
	var rules []string
	for _, h := range hits {
		rules = append(rules, h.Rule)
	}
	return rules
}

// TestRules walks all rules: what one matches it must find wherever and however that is written.
func TestRules(t *testing.T) {
	s := newScanner(t, Config{})
	ids := map[string]bool{}
	idPattern := regexp.MustCompile(`^own/[a-z0-9-]+$`)
	for _, r := range Rules() {
		t.Run(r.ID, func(t *testing.T) {
			if !idPattern.MatchString(r.ID) || ids[r.ID] || r.ID == RuleLimit {
				t.Errorf("the id is taken or malformed")
			}
			ids[r.ID] = true
			if r.Purpose == "" || len(r.Keywords) == 0 || len(r.Match) == 0 || len(r.NoMatch) == 0 {
				t.Fatalf("a rule has a purpose, keywords, and examples of both kinds")
			}
			for _, text := range r.Match {
				if !slices.ContainsFunc(r.Keywords, func(k string) bool { return strings.Contains(strings.ToLower(text), k) }) {
					t.Errorf("%q holds no keyword", text)
				}
				expect(t, s, r.ID, text, 1, plain)
				expect(t, s, r.ID, text+" \n<text>", 1, plain)
				expect(t, s, r.ID, "<text>\n "+text+" \n<text>", 1, plain)
				expect(t, s, r.ID, "<text> "+text, 1, plain)
				expect(t, s, r.ID, "<text> "+text+" \n "+text, 2, plain)
				expect(t, s, r.ID, "\xff\xfe "+text+" \xff", 1, plain)
				for name, encode := range encoders {
					expect(t, s, r.ID, "<text>\n'"+encode("<text> "+text+" <text>")+"' <text>", 1, name)
				}
			}
			for _, text := range r.NoMatch {
				for _, form := range []string{text, "<text> " + text + " <text>", inJSON(text), inBase64(text)} {
					if hits := s.Scan([]byte(form)); slices.Contains(rulesOf(hits), r.ID) {
						t.Errorf("%q: got %v, want nothing", form, hits)
					}
				}
			}
		})
	}
}

func expect(t *testing.T, s *Scanner, rule, text string, times int, form string) {
	t.Helper()
	offsets := map[int]bool{}
	hits := s.Scan([]byte(text))
	for _, h := range hits {
		if h.Rule == rule {
			offsets[h.Offset] = true
		}
	}
	if len(offsets) < times {
		t.Errorf("%s: %q: got %v, want %d of %s", form, text, hits, times, rule)
	}
}

// TestWrapped splits long examples over a line end, as terminals do.
func TestWrapped(t *testing.T) {
	s := newScanner(t, Config{})
	for _, r := range Rules() {
		for _, text := range r.Match {
			half := len(text) / 2
			if !tokenTail([]byte(text[:half])) || !tokenHead([]byte(text[half:])) {
				continue
			}
			for _, end := range []string{"\n", "\r\n", "\n    "} {
				expect(t, s, r.ID, "<text> "+text[:half]+end+text[half:]+" <text>", 1, "wrapped")
			}
		}
	}
}

func TestGitleaks(t *testing.T) {
	s := newScanner(t, Config{})
	for _, c := range gitleaksControls {
		for _, text := range []string{c.text, " " + c.text + " # gitleaks:allow false", inJSON(c.text), inBase64(c.text)} {
			expect(t, s, c.rule, text, 1, c.rule)
		}
	}
}
