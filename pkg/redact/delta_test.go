package redact_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

func delta(text string) string {
	quoted, _ := json.Marshal(text)
	return fmt.Sprintf(`{"type":"t","delta":%s}`, quoted) + "\n"
}

// deltaTexts gives the deltas of a sanitized stream, joined by "|".
func deltaTexts(t *testing.T, sanitized string) string {
	t.Helper()
	var texts []string
	for line := range strings.Lines(sanitized) {
		var frame struct{ Delta *string }
		if json.Unmarshal([]byte(line), &frame) == nil && frame.Delta != nil {
			texts = append(texts, *frame.Delta)
		}
	}
	return strings.Join(texts, "|")
}

func TestDeltas(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"one literal in pieces", "Hello| there,| world", "Hello| there,| world"},
		{"in one piece", "Hello there, world", "Hello there, world"},
		{"twice", "Hello| there, world|Hello there|, world", "Hello| there, world|Hello there|, world"},
		{"two literals", "Say |hello.|Hello there, |world", "Say |hello.|Hello there, |world"},
		{"empty pieces between", "Hello||| there, world", "Hello||| there, world"},
		{"something before", "secret |Hello there, |world", "<text>|Hello there, |world"},
		{"something after", "Hello there, |world| secret", "Hello there, |world|<text>"},
		{"a part is nothing", "Hello| there", "<text>|<text>"},
		{"a piece that runs over", "Hello| there, world, secret", "<text>|<text>"},
		{"begun and begun again", "Hello|Hello| there, world", "<text>|Hello| there, world"},
		{"a word of a literal alone", "world|hello.", "<text>|<text>"},
		{"placeholders", "<text>|Hello there, |world", "<text>|Hello there, |world"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var in strings.Builder
			for _, piece := range strings.Split(tt.in, "|") {
				in.WriteString(delta(piece) + `{"type":"other","text":"between"}` + "\n")
			}
			if got := deltaTexts(t, stream(t, sanitize(t, policy(t), out(in.String()), exit()), contract.Stdout)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestDeltasOfCutLines: which deltas survive is decided line by line as the lines are sanitized, so that no delta is let
// through by the decision about another.
func TestDeltasOfCutLines(t *testing.T) {
	cut := func(s string) string { return strings.TrimSuffix(s, "\n") }
	timeout := transcript.Entry{Dir: contract.FromProcess, Event: contract.EventTimeout}
	got := stream(t, sanitize(t, policy(t), out(cut(delta("told in confidence"))), timeout, out(delta("me too")+delta("Hello there, world")), exit()), contract.Stdout)
	if got := deltaTexts(t, got); got != "" && strings.Contains(got, "confidence") {
		t.Errorf("a delta passed that is no literal: %q", got)
	}
}
