package scan

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// cleanText is a transcript entry as the redactor writes it. It holds every placeholder.
const cleanText = `{"dir":"server->client","stream":"stdout","at_ms":12,"data":"{\"type\":\"message\",\"text\":\"<text>\",\"path\":\"<path>\",\"cwd\":\"<cwd>\",` +
	`\"home\":\"<home>\",\"url\":\"<url>\",\"id\":\"<id:1>\",\"at\":\"<timestamp>\",\"email\":\"<email>\",\"token\":\"<token>\",\"account\":\"<account>\",` +
	`\"version\":\"<version>\",\"duration\":\"<duration>\",\"api_key\":\"<key:1>\",\"kind\":\"<enum>\",\"input_tokens\":0,\"at\":\"1970-01-01T00:00:00Z\",` +
	`\"until\":\"2000-01-01T00:00:00Z\",\"session_token\":\"00000000-0000-4000-8000-000000000001\",\"secret\":\"PHRleHQ+\",\"link\":\"https://redacted.invalid/\"}\n"}`

// gitleaksControls are made-up values of well-known rules of gitleaks. They prove that its patterns, keywords and
// entropy checks are in force; each is put together here, so that this file holds nothing that looks real.
var gitleaksControls = []struct{ rule, text string }{
	{"gitleaks/github-pat", "gh" + "p_FAKE0fake1FAKE2fake3FAKE4fake5FAKE6fa"},
	{"gitleaks/aws-access-token", "AK" + "IAFAKEFAKE2345QRST"},
	{"gitleaks/npm-access-token", "np" + "m_FAKE0fake1FAKE2fake3FAKE4fake5FAKE6f"},
	{"gitleaks/generic-api-key", `my_credential_auth = "f4k3` + `Qx7Lm2Zt9Rv5Wb8Nc1"`},
	{"gitleaks/private-key", "-----BEGIN PRIVATE" + " KEY-----\n" + strings.Repeat("FAKEfake", 12) + "\n-----END PRIVATE KEY-----"},
}

// control is a text and the rule that must find something in it. Name says which it is without quoting it.
type control struct{ rule, name, text string }

// Alive is the positive control: it proves that a clean text gives no hit, and that the first example of each
// rule, each canary and each known value gives one when it is put into the clean text, as it stands, inside an escaped JSON
// string and in base64. The error lists every rule that failed; without one, "no hits" means something. Rules and scanners do
// not change, so each is proven once.
func (s *Scanner) Alive() error {
	s.proof.Do(func() { s.dead = s.prove() })
	return s.dead
}

// AliveIn is the positive control on a copy of a text that is about to be published: each canary and known value, put into the
// middle of it, must be found.
func (s *Scanner) AliveIn(text []byte) error {
	half := len(text) / 2
	dead := s.missed(text[:half], s.exact.controls(), func(t string) string { return " " + t + " " }, text[half:])
	if len(dead) > 0 {
		return fmt.Errorf("the scanner does not find its own controls in a copy of the text, so a clean result proves nothing: %s", strings.Join(dead, ", "))
	}
	return nil
}

// forms are the ways in which a control is put into a text.
var forms = []struct {
	name string
	wrap func(string) string
}{{plain, func(t string) string { return t }}, {"json", inJSON}, {"base64", inBase64}}

func (s *Scanner) prove() error {
	if hits := s.Scan([]byte(cleanText)); len(hits) > 0 {
		return fmt.Errorf("the scanner finds something in a text of placeholders (%s, %d in all): a canary or known value is too common, choose another", hits[0], len(hits))
	}
	dead := s.rules.prove()
	for _, form := range forms {
		line := func(t string) string { return "\n" + form.wrap(" "+t+" ") + "\n" }
		for _, name := range s.missed([]byte(cleanText), s.exact.controls(), line, nil) {
			dead = append(slices.Clip(dead), fmt.Sprintf("%s (%s)", name, form.name))
		}
	}
	if len(dead) > 0 {
		return fmt.Errorf("the scanner does not find its own controls, so a clean result proves nothing: %s", strings.Join(dead, ", "))
	}
	return nil
}

// missed puts exact controls into one text and lists those that the scanner does not find in their own place. A scan of its
// own for each would take longer than that of most transcripts.
func (s *Scanner) missed(before []byte, controls []control, wrap func(string) string, after []byte) (dead []string) {
	text := slices.Clone(before)
	ends := make([]int, len(controls))
	for i, c := range controls {
		text = append(text, wrap(c.text)...)
		ends[i] = len(text)
	}
	hits := s.Scan(append(text, after...))
	start := len(before)
	for i, c := range controls {
		if !slices.ContainsFunc(hits, func(h Hit) bool { return h.Rule == c.rule && start <= h.Offset && h.Offset < ends[i] }) {
			dead = append(dead, c.name)
		}
		start = ends[i]
	}
	return dead
}

// Warm compiles and proves the rules ahead of the first scanner. A caller that waits for something else runs it beside
// that; what is wrong with the rules, New and Alive report.
func Warm() {
	if rules, err := builtin(); err == nil {
		rules.prove()
	}
}

// prove lists the rules that do not find their own example. All scanners share them, so that one proof holds for all.
func (r *ruleset) prove() []string {
	r.proof.Do(func() {
		var controls []control
		for _, rule := range Rules() {
			controls = append(controls, control{rule.ID, rule.ID, rule.Match[0]})
		}
		for _, c := range gitleaksControls {
			controls = append(controls, control{c.rule, c.rule, c.text})
		}
		r.dead = newScannerOf(r, Config{}).unseen(controls)
	})
	return r.dead
}

// unseen lists the controls that the scanner does not find, each in a text of its own: patterns look at what stands around.
func (s *Scanner) unseen(controls []control) []string {
	var dead []string
	for _, c := range controls {
		for _, form := range forms {
			hits := s.Scan([]byte(cleanText + "\n" + form.wrap(" "+c.text+" ") + "\n"))
			if !slices.ContainsFunc(hits, func(h Hit) bool { return h.Rule == c.rule }) {
				dead = append(dead, fmt.Sprintf("%s (%s)", c.name, form.name))
			}
		}
	}
	return dead
}

func inJSON(text string) string {
	once, _ := json.Marshal(text) // a string always encodes
	twice, _ := json.Marshal(string(once))
	return string(twice)
}

func inBase64(text string) string {
	return base64.StdEncoding.EncodeToString([]byte("... " + text + " ..."))
}
