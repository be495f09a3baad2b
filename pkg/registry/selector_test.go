package registry

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func TestParseSelector(t *testing.T) {
	hex := strings.Repeat("a", 64)
	tests := []struct {
		in   string
		want Selector
		ok   bool
	}{
		{"codex", Selector{Agent: "codex"}, true},
		{"codex@0.133.0", Selector{Agent: "codex", Version: "0.133.0"}, true},
		{"codex@0.133.0:chat_tool_success", Selector{Agent: "codex", Version: "0.133.0", Probe: "chat-tool-success"}, true},
		{"codex@0.133.0#sha256-" + hex, Selector{Agent: "codex", Version: "0.133.0", Shape: contract.Hash("sha256:" + hex)}, true},
		{"", Selector{}, false},
		{"../codex", Selector{}, false},
		{"codex@", Selector{}, false},
		{"codex@../../x", Selector{}, false},
	}
	for _, tt := range tests {
		got, err := ParseSelector(tt.in)
		if (err == nil) != tt.ok {
			t.Errorf("ParseSelector(%q): error %v, want ok %v", tt.in, err, tt.ok)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("ParseSelector(%q): -want +got\n%s", tt.in, diff)
		}
	}
}
