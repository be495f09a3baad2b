package protocol

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestTokenTakesNames: words that protocols really use survive.
func TestTokenTakesNames(t *testing.T) {
	for name := range strings.FieldsSeq(`content_block_delta input_json_delta message_start rate_limit_event end_turn tool_use bypassPermissions
		session/update agent_message_chunk available_commands_update assistant item.completed/command_execution text-delta
		hook_started api_retry PreToolUse tool.execution_start assistant.message_delta fs/read_text_file terminal/wait_for_exit
		session/request_permission set_thinking_level toolcall_delta web_search_tool_result server_tool_use MAX_TOKENS
		PROHIBITED_CONTENT STEP_START content_filter danger-full-access gpt-5-codex claude-sonnet-4-5 gemini-2.5-pro webSearchRequests ok v2
		_x.ai/session/setup microcompact_boundary exec_command_begin mcp_tool_call_end ENOENT HTTPServer x-stainless-arch llm qwen3-coder glm-4.6`) {
		if !IsToken(name) {
			t.Errorf("%s is taken for data", name)
		}
	}
}

// TestTokenRefusesRandom: of values drawn at random hardly any looks like a word.
func TestTokenRefusesRandom(t *testing.T) {
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	rng := rand.New(rand.NewPCG(1, 1))
	for _, tt := range []struct {
		name, alphabet  string
		length, perMany int // how many of 10,000 may pass
	}{
		{"lower case", lower, 16, 100}, {"lower case", lower, 24, 20},
		{"base36", lower + digits, 16, 40}, {"base36", lower + digits, 24, 15},
		{"base62", lower + upper + digits, 16, 30}, {"base62", lower + upper + digits, 22, 5},
		{"base32", upper + "234567", 20, 40}, {"hex", "abcdef" + digits, 20, 5},
	} {
		passed := 0
		for range 10_000 {
			b := make([]byte, tt.length)
			for i := range b {
				b[i] = tt.alphabet[rng.IntN(len(tt.alphabet))]
			}
			if IsToken(b) {
				passed++
			}
		}
		if passed > tt.perMany {
			t.Errorf("%s, %d characters: %d of 10,000 pass, at most %d may", tt.name, tt.length, passed, tt.perMany)
		}
	}
}

// TestTokenRefusesUnderscores: one underscore before a name is all.
func TestTokenRefusesUnderscores(t *testing.T) {
	for _, s := range []string{"_", "__", "__name", "_1", "_.name", "-name", ".name", "/name", "name_"} {
		if IsToken(s) {
			t.Errorf("%q is taken for a name", s)
		}
	}
}
