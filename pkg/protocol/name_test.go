package protocol_test

import (
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/protocol"
)

func TestIsName(t *testing.T) {
	for _, s := range []string{
		"gpt-5.5", "o3", "loop/loop-model", "custom:Loop-0", "kilo/~vendor/name-latest", "claude-opus-4-5-20251101", "llama-3.1-8b-instruct:free",
		"qwen2.5-coder-32b-instruct", "deepseek-v4-flash", "models/gemini-2.5-flash-preview-09-2025", "accounts/fireworks/models/kimi-k2p5", "nemotron-3-ultra-free",
		"mcp__contracts__lookup", "functions.exec_command", "Bash", "look", "allowed-tools", "kilo/microsoft/wizardlm-2-8x22b", "kilo/sao10k/l3.1-euryale-70b", "deepseek-v4-pro-0813",
	} {
		if !protocol.IsName(s) {
			t.Errorf("%q is no name", s)
		}
	}
	for _, s := range []string{
		"", "two words", "/home/someone/model", "C:/models/x", "~/.config/x.json", "someone@example.com", "https://example.com/model", "12345", "2026-01-01",
		"sk-ant-" + strings.Repeat("x9Qz", 6), "ghp_" + strings.Repeat("aB3dE", 7), "5f2b6a0c9d8e7f60", "4111111111111111", "one/two/three/four/five",
		"qzxkvjwpfhgt", strings.Repeat("a-", 60), "settings.json", "<text>",
		"9f8a7c6b5d4e3f2a1b0c9d8e7f6a5b4c", "1b4e28ba-2fa1-41d2-883f-a0b9c3d4e567", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "XK9F2-8H3KD-PW7Q4-ZM6T1",
		"aB3dE9fGh.K2mNp7QrS.t8VwX4yZz", "qzxk-vjwp-fhgt-xqzk", "dGhpcyBpcy-Bub3Qg_YSBrZXk-x9Qz",
	} {
		if protocol.IsName(s) {
			t.Errorf("%q passes for a name", s)
		}
	}
}
