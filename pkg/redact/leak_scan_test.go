package redact_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// wraps put a written secret into a file that is about to be published, as the first gate never would.
var wraps = []struct {
	name string
	wrap func(s string) string
}{
	{"alone", func(s string) string { return s }},
	{"in text", func(s string) string { return "<text> " + s + " <text>\n" }},
	{"transcript entry", func(s string) string {
		return `{"dir":"cli->server","stream":"stdout","at_ms":1,"data":` + jsonString(`{"type":"text","text":`+jsonString(s)+"}\n") + "}\n"
	}},
	{"key", func(s string) string { return `{"type":"text",` + jsonString(s) + `:1}` + "\n" }},
	{"markdown", func(s string) string { return "| `" + s + "` | changed |\n" }},
}

// TestLeakScan: the second gate alone finds what has a form of its own, or was planted, in every writing.
func TestLeakScan(t *testing.T) {
	scanner := leakPolicy(t, contract.FamilyPlain).Scanner
	r := drawer(rand.New(rand.NewPCG(*leakSeed, 1)))
	rounds := max(1, *leaks/4000)
	tried, missed := 0, 0
	for range rounds {
		for _, kind := range kinds {
			if !kind.scan {
				continue
			}
			for _, writing := range writings {
				secret := kind.make(r)
				written := writing.write(secret.text, r)
				for _, w := range wraps {
					if strings.HasPrefix(writing.name, "utf-16") && w.name != "alone" && w.name != "in text" {
						written = strings.ToValidUTF8(written, "?")
					}
					tried++
					if hits := scanner.Scan([]byte(w.wrap(written))); len(hits) == 0 {
						if missed++; missed <= 40 {
							t.Errorf("%s, %s, %s: not found, seed %d", kind.name, writing.name, w.name, *leakSeed)
						}
					}
				}
			}
		}
	}
	t.Logf("%d texts with a secret, %d not found", tried, missed)
}
