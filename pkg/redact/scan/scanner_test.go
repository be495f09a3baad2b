package scan

import (
	"bytes"
	"encoding/base64"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const fakeCanary = "canary-FAKE-7Q2Z"

func TestNewRefuses(t *testing.T) {
	for name, cfg := range map[string]Config{
		"short canary":  {Canaries: []string{fakeCanary, "abc"}},
		"kind is value": {Known: []Known{{Value: "somebody", Kind: "Some Body"}}},
		"no kind":       {Known: []Known{{Value: "somebody"}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(cfg)
			if err == nil {
				t.Fatal("no error")
			}
			if strings.Contains(err.Error(), "abc") || strings.Contains(strings.ToLower(err.Error()), "body") {
				t.Errorf("the error quotes a value: %v", err)
			}
		})
	}
}

func TestHits(t *testing.T) {
	s := newScanner(t, Config{
		Canaries: []string{fakeCanary},
		Known: []Known{
			{Value: "fakeuser", Kind: "user", TokenOnly: true},
			{Value: "bo", Kind: "user", TokenOnly: true},
			{Value: "fakebox", Kind: "host", TokenOnly: true},
			{Value: "/srv/fake/work", Kind: "cwd"},
			{Value: `D:\fake\new\table`, Kind: "cwd-windows"},
			{Value: "zażółć-gęślą", Kind: "name"},
			{Value: "short", Kind: "secret-env"},
			{Value: "", Kind: "account"},
		},
	})
	b64 := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	for _, tt := range []struct {
		name, in string
		want     []Hit
	}{
		{"clean", cleanText, nil},
		{"canary", "x " + fakeCanary, []Hit{{"canary/0", 2, "plain"}}},
		{"other case", strings.ToUpper(fakeCanary), []Hit{{"canary/0", 0, "plain"}}},
		{"in json", `{"a":"\u0063anary-FAKE-7Q2Z"}`, []Hit{{"canary/0", 6, "json"}}},
		{"in base64 in json", `{"a":"\\/` + b64(fakeCanary) + `"}`, []Hit{{"canary/0", 9, "base64"}}},
		{"base64 twice", "x " + b64("<text> "+b64(fakeCanary)), []Hit{{"canary/0", 10, "base64>base64"}}},
		{"between binary bytes", b64("\x00\x01\x02" + fakeCanary + "\xff\xfe"), []Hit{{"canary/0", 4, "base64"}}},
		{"percent in json", `\"%63anary-FAKE-7Q2Z`, []Hit{{"canary/0", 2, "percent"}}},
		{"home in json", `{"data":"{\"cwd\":\"C:\\\\Users\\\\fake\"}"}`, []Hit{{"own/windows-home", 35, "plain"}}},
		{"known", "in /srv/fake/work/x", []Hit{{"known/cwd", 3, "plain"}}},
		{"known Windows path", `"D:\\fake\\new\\table"`, []Hit{{"known/cwd-windows", 1, "json"}}},
		{"known in other letters", "zażółć-gęślą", []Hit{{"known/name", 0, "plain"}}},
		{"known in other letters, base64", b64("\x00\x80zażółć-gęślą\x80"), []Hit{{"known/name", 0, "base64"}}},
		{"short known", "short and sweet", nil},
		{"user as a word", "fakeuser is a word, bo too", nil},
		{"user in a path", "/srv/fakeuser/x /srv/bo", []Hit{{"known/user", 5, "plain"}, {"known/user", 21, "plain"}}},
		{"user in a longer name", "/srv/fakeuser2/x /a/fakeuser.txt /xbo/bo-x", nil},
		{"user at host", "fakeuser@fakebox", []Hit{{"known/user", 0, "plain"}, {"known/host", 9, "plain"}}},
		{"package at version", "fakeuser@1.2.3 @fakebox/name", nil},
		{"tilde", "~fakeuser", []Hit{{"known/user", 1, "plain"}}},
		{"spec's example", `{"dir":"cli->server","stream":"stdout","at_ms":10,"data":"token=sk-live"}`, []Hit{{"own/assignment", 64, "plain"}, {"own/sk-key", 64, "plain"}}},
		{"published record", `{"signature":"sha256:` + strings.Repeat("0a1b2c3d", 8) + `","integrity":"sha512-` + b64(strings.Repeat("\x9f\x01\xe2q", 16)) + `","commit":"0123456789abcdef0123456789abcdef01234567"}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, s.Scan([]byte(tt.in))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestHitHoldsNoValue keeps the type from growing a field that could: its texts come from rules and kinds.
func TestHitHoldsNoValue(t *testing.T) {
	var fields []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Hit]()) {
		fields = append(fields, f.Name)
	}
	if diff := cmp.Diff([]string{"Rule", "Offset", "Encoding"}, fields); diff != "" {
		t.Error(diff)
	}
}

func TestPlaceholders(t *testing.T) {
	s := newScanner(t, Config{})
	values := []string{"<text>", "<path>", "<cwd>", "<home>", "<url>", "<id:1>", "<timestamp>", "<email>", "<token>", "<account>", "<version>", "<duration>", "<key:1>",
		"<enum>", "0", "1970-01-01T00:00:00Z", "2000-01-01T00:00:00Z", "00000000-0000-4000-8000-000000000001", "PHRleHQ+", "https://redacted.invalid/"}
	keys := []string{"text", "token", "api_key", "authorization", "password", "secret", "email", "url", "cwd", "credentials", "access_token", "private_key"}
	for _, v := range values {
		for _, k := range keys {
			for _, line := range []string{v, `{"` + k + `":"` + v + `"}`, k + "=" + v, k + ": " + v, inJSON(`{"` + k + `":"` + v + `"}`), v + v, v + " " + v} {
				if hits := s.Scan([]byte(line)); hits != nil {
					t.Errorf("%q: %v", line, hits)
				}
			}
		}
	}
}

func TestLimits(t *testing.T) {
	s := newScanner(t, Config{})
	nested := "<text> and more text"
	for range MaxDepth + 2 {
		nested = base64.StdEncoding.EncodeToString([]byte(nested))
	}
	for name, in := range map[string][]byte{
		"too deep":      []byte(nested),
		"backslashes":   bytes.Repeat([]byte{'\\'}, 1<<(MaxDepth+2)),
		"too many hits": bytes.Repeat([]byte("/home/fake "), maxMatches+MaxHits),
		"too large":     make([]byte, MaxBytes+1),
	} {
		t.Run(name, func(t *testing.T) {
			hits := s.Scan(in)
			if rules := rulesOf(hits); len(hits) == 0 || len(hits) > MaxHits || !strings.Contains(strings.Join(rules, " "), RuleLimit) {
				t.Errorf("got %d hits, want %s among at most %d", len(hits), RuleLimit, MaxHits)
			}
		})
	}
}

func TestLine(t *testing.T) {
	s := newScanner(t, Config{Canaries: []string{fakeCanary}})
	entry := func(at, id string) []byte {
		return []byte(`{"dir":"server->client","at_ms":` + at + `,"data":"<id:` + id + `>"}`)
	}
	key := s.lines.key
	if key(entry("1", "1")) != key(entry("20", "3000000")) {
		t.Error("lines that differ in placeholder numbers and time only count as two")
	}
	for _, other := range [][]byte{entry("1", "12345678"), entry("12345678", "1"), entry("x", "1"), []byte("<id:1")} {
		if key(other) == key(entry("1", "1")) {
			t.Errorf("%s counts as the same line", other)
		}
	}
	if hits := s.Line(entry("1", "1")); hits != nil {
		t.Fatal(hits)
	}
	for range 2 {
		if hits := s.Line([]byte(fakeCanary)); len(hits) != 1 {
			t.Errorf("a line with a hit gave %v", hits)
		}
	}
	if got := len(s.lines.young); got != 1 {
		t.Errorf("%d lines are remembered, want the clean one", got)
	}
}

// TestLineKeepsNumbers: a known value that could overlap a number makes numbers count.
func TestLineKeepsNumbers(t *testing.T) {
	s := newScanner(t, Config{Known: []Known{{Value: `ms":4711,"data`, Kind: "account"}}})
	if hits := s.Line([]byte(`{"at_ms":1,"data":""}`)); hits != nil {
		t.Fatal(hits)
	}
	if hits := s.Line([]byte(`{"at_ms":4711,"data":""}`)); len(hits) != 1 {
		t.Errorf("got %v", hits)
	}
}

func TestLineCacheIsBounded(t *testing.T) {
	var c lineCache
	for i := range 5 * lineGeneration / 2 {
		c.add([32]byte{byte(i), byte(i >> 8), byte(i >> 16)})
	}
	if n := len(c.young) + len(c.old); n > 2*lineGeneration {
		t.Errorf("%d lines are remembered", n)
	}
}

func TestAlive(t *testing.T) {
	s := newScanner(t, Config{Canaries: []string{fakeCanary, "canary FAKE with blanks"}, Known: []Known{{Value: "fakeuser", Kind: "user", TokenOnly: true}, {Value: "fake-secret-value", Kind: "secret-env"}}})
	if err := s.Alive(); err != nil {
		t.Error(err)
	}
}

func TestAliveIn(t *testing.T) {
	s := newScanner(t, Config{Canaries: []string{fakeCanary}, Known: []Known{{Value: "fakeuser", Kind: "user", TokenOnly: true}}})
	for _, text := range []string{"", "<text>\n", cleanText} {
		if err := s.AliveIn([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	deaf := newScanner(t, Config{Canaries: []string{fakeCanary}})
	deaf.exact.trie = nil
	if err := deaf.AliveIn([]byte(cleanText)); err == nil || !strings.Contains(err.Error(), "canary/0") || strings.Contains(err.Error(), fakeCanary) {
		t.Errorf("a scanner that finds no canary: %v", err)
	}
}

func TestAliveNamesDeadRules(t *testing.T) {
	s := newScanner(t, Config{Canaries: []string{fakeCanary}})
	rules := &ruleset{matchers: slices.Clone(s.rules.matchers), trie: s.rules.trie, byWord: s.rules.byWord, always: s.rules.always}
	for i, m := range rules.matchers {
		if m.id == "own/email" || m.id == "gitleaks/github-pat" {
			rules.matchers[i].confirm = func([]byte, int, int) bool { return false }
		}
	}
	s.rules = rules
	err := s.Alive()
	if err == nil || !strings.Contains(err.Error(), "own/email") || !strings.Contains(err.Error(), "gitleaks/github-pat") || strings.Contains(err.Error(), "own/jwt") {
		t.Errorf("got %v", err)
	}
	if err := newScanner(t, Config{Known: []Known{{Value: "<version>", Kind: "account"}}}).Alive(); err == nil || strings.Contains(err.Error(), "<version>") {
		t.Errorf("a known value that clean texts hold: %v", err)
	}
}

// TestConcurrent is for the race detector.
func TestConcurrent(t *testing.T) {
	s := newScanner(t, Config{Canaries: []string{fakeCanary}})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				if s.Line([]byte(cleanText)) != nil || len(s.Scan([]byte(inJSON(fakeCanary)+gitleaksControls[0].text))) < 2 {
					t.Error("results differ between goroutines")
				}
			}
		})
	}
	wg.Wait()
}
