package registry

import (
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Older texts write probes with underscores: lookups accept that, and find the canonical id.
func TestProbeNames(t *testing.T) {
	c := &Catalog{Probes: map[contract.ProbeID]contract.Probe{"chat-text-success": {ID: "chat-text-success"}}}
	for _, name := range []string{"chat-text-success", "chat_text_success", "chat_text-success"} {
		if p, err := c.Probe(name); err != nil || p.ID != "chat-text-success" {
			t.Errorf("%s: %s, %v", name, p.ID, err)
		}
		if sel, err := ParseSelector("acme@1.0.0:" + name); err != nil || sel.Probe != "chat-text-success" {
			t.Errorf("%s: %+v, %v", name, sel, err)
		}
	}
	if _, err := c.Probe("chat text success"); err == nil {
		t.Error("blanks are no spelling of a probe")
	}
	if alias := contract.ProbeID("chat-text-success").Alias(); alias != "chat_text_success" || contract.ProbeID("chat").Alias() != "" {
		t.Errorf("alias %q", alias)
	}
}
