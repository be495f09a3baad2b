package redact_test

import (
	"errors"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// TestEveryRuleInEveryFamily makes the first gate let the example of each rule pass, as one of the probe's own texts: the
// second gate must stop the run in every family, on both streams.
func TestEveryRuleInEveryFamily(t *testing.T) {
	for _, name := range contract.Family("").Values() {
		family := contract.Family(name)
		p := leakPolicy(t, family)
		for _, rule := range scan.Rules() {
			p.Literals = []string{rule.Match[0]}
			text := rule.Match[0]
			if family != contract.FamilyPlain {
				text = `{"type":"text","text":` + jsonString(text) + `}`
			}
			for stream, entry := range map[string]transcript.Entry{"stdout": chunk(contract.Stdout, text+"\n"), "stderr": chunk(contract.Stderr, rule.Match[0]+"\n")} {
				entries := []transcript.Entry{entry}
				if family.IsRPC() {
					entries = inFrames(entries)
				}
				s, err := redact.Redact(record(t, entries...), p, t.TempDir())
				var failure *redact.Failure
				if !errors.As(err, &failure) {
					t.Errorf("%s, %s, %s: passed", family, rule.ID, stream)
					s.Close()
				}
			}
		}
	}
}
