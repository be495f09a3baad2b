package capture

import (
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// A prompt inside a JSON line stays one line, whatever it holds.
func TestStdinPrompt(t *testing.T) {
	message := map[string]any{"type": "user", "message": map[string]any{"content": []any{map[string]any{"text": "{prompt}", "n": 1.0}}}}
	vars := map[string]string{"prompt": "say \"<a>\"\nand {cwd}", "cwd": "/w"}
	for _, tt := range []struct {
		mode registry.Mode
		want string
	}{
		{registry.Mode{Stdin: contract.StdinTextPrompt}, "say \"<a>\"\nand {cwd}"},
		{registry.Mode{Stdin: contract.StdinJSONLOpen, Message: message}, `{"message":{"content":[{"n":1,"text":"say \"<a>\"\nand {cwd}"}]},"type":"user"}` + "\n"},
	} {
		got, err := stdinPrompt(tt.mode, vars)
		if err != nil || string(got) != tt.want {
			t.Errorf("stdin mode %s: %q, error %v", tt.mode.Stdin, got, err)
		}
	}
}
