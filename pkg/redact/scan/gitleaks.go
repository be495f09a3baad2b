package scan

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rs/zerolog"
	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
	"github.com/zricethezav/gitleaks/v8/logging"
	"github.com/zricethezav/gitleaks/v8/regexp"
)

// minGitleaks is how many rules gitleaks brings at least. Fewer means that its configuration was not read.
const minGitleaks = 200

// margin is how much text around a match a rule of gitleaks is shown, in bytes.
const margin = 256

// genericRule looks at any setting whose name holds a word like "key" or "token". Those words are in most lines,
// and its pattern is the slowest of all, so it alone gets a test ahead of it.
const genericRule = "generic-api-key"

// strictEnd is how most patterns of gitleaks end: a quote, a blank or the end must follow. openEnd stands in its place.
const (
	strictEnd = "(?:[\\x60'\"\\s;]|\\\\[nr]|$)"
	openEnd   = "(?:[^A-Za-z0-9_]|$)"
)

// addGitleaks adds the default rules of gitleaks. Four things differ from its own detector, all to fail closed:
// its global allow-list is left out (it passes any value that contains "false", and home paths), a rule that is
// bound to a file name applies to all text, the comment "gitleaks:allow" is ignored, and a value may be followed by
// anything that cannot belong to it, such as the "&" of a query string.
func addGitleaks(add func(m matcher, keywords []string)) error {
	// Its log would quote findings.
	logging.Logger = logging.Logger.Level(zerolog.Disabled)
	// Not its own loader, which works on the process-wide instance of viper.
	v := viper.New()
	v.SetConfigType("toml")
	if err := v.ReadConfig(strings.NewReader(config.DefaultConfig)); err != nil {
		return fmt.Errorf("reading the default rules of gitleaks: %w", err)
	}
	var raw config.ViperConfig
	if err := v.Unmarshal(&raw); err != nil {
		return fmt.Errorf("decoding the default rules of gitleaks: %w", err)
	}
	cfg, err := raw.Translate()
	if err != nil {
		return fmt.Errorf("compiling the default rules of gitleaks: %w", err)
	}
	if len(cfg.Rules) < minGitleaks {
		return fmt.Errorf("gitleaks brings %d rules, at least %d are expected: check the version of the module", len(cfg.Rules), minGitleaks)
	}
	for _, id := range slices.Sorted(slices.Values(cfg.OrderedRules)) {
		rule := cfg.Rules[id]
		if rule.Regex == nil {
			continue // looks at file names only
		}
		if head, ok := strings.CutSuffix(rule.Regex.String(), strictEnd); ok && id != genericRule {
			rule.Regex = regexp.MustCompile(head + openEnd)
		}
		keywords := rule.Keywords
		rule.Path, rule.Keywords = nil, nil
		m := matcher{id: "gitleaks/" + id, pattern: rule.Regex, confirm: confirmWith(rule)}
		if id == genericRule {
			m.near = assigned(10, genericByte)
		}
		add(m, keywords)
	}
	return nil
}

// confirmWith asks gitleaks about a match of rule's pattern, since entropy and allow-lists of a rule are applied
// by its detector only. A detector of one rule is cheap, and needs no sharing: matches are rare.
func confirmWith(rule config.Rule) func(text []byte, start, end int) bool {
	cfg := config.Config{Rules: map[string]config.Rule{rule.RuleID: rule}}
	return func(text []byte, start, end int) bool {
		// The text around is bounded, so that many matches in one long line cost no more than their number.
		from, to := max(0, start-margin), min(len(text), end+margin)
		d := detect.NewDetector(cfg)
		d.IgnoreGitleaksAllow = true
		return len(d.DetectBytes(text[from:to])) > 0
	}
}

// wellFormed returns text, or a copy of the same length with blanks for invalid UTF-8: engines differ in whether a character
// class matches an invalid byte, and a secret behind one must not go unseen.
func (p *pass) wellFormed(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	p.valid = append(p.valid[:0], text...)
	for i := 0; i < len(p.valid); {
		r, n := utf8.DecodeRune(p.valid[i:])
		if r == utf8.RuneError && n == 1 {
			p.valid[i] = ' '
		}
		i += n
	}
	return p.valid
}
