package modelserver

import (
	"math"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func TestNewRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		want   string // part of the error
	}{
		{"dialect", func(c *Config) { c.Dialect = "carrier-pigeon" }, `no dialect "carrier-pigeon"; known: anthropic-messages`},
		{"prefix", func(c *Config) { c.Prefix = "short" }, "32 lowercase hexadecimal"},
		{"canary", func(c *Config) { c.Canary = "a b" }, "canary"},
		{"model", func(c *Config) { c.Model = "" }, "model id is empty"},
		{"limit", func(c *Config) { c.MaxRequests = -1 }, "limit is negative"},
		{"no steps", func(c *Config) { c.Script.Steps = nil }, "no steps"},
		{"empty step", func(c *Config) { c.Script.Steps = append(c.Script.Steps, contract.ScriptStep{}) }, "step 2: exactly one of"},
		{"two kinds", func(c *Config) { c.Script.Steps[0].Empty = true }, "not 2 (text, empty)"},
		{"repeat", func(c *Config) { c.Script.Steps = []contract.ScriptStep{{Empty: true, Repeat: true}, text} }, "step 1: repeat is only for the last step"},
		{"intent", func(c *Config) { c.Script.Steps[0] = contract.ScriptStep{Tool: &contract.ToolStep{Intent: "fly"}} }, `intent "fly"; it has tools for: list-files`},
		{"arguments", func(c *Config) { c.Tools["list-files"][0].Arguments["cmd"] = math.NaN() }, `tool "run" for "list-files" are not JSON`},
		{"status", func(c *Config) { c.Script.Steps[0] = contract.ScriptStep{Error: &contract.ErrorStep{Status: 200}} }, "status 200"},
		{"stall", func(c *Config) { c.Script.Steps[0] = contract.ScriptStep{Stall: &contract.StallStep{}} }, "at least one second"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := testConfig(text)
			tt.change(&cfg)
			if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New: %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestNewReportsEverything(t *testing.T) {
	_, err := New(Config{Dialect: "openai-responses"})
	for _, want := range []string{"prefix", "model id", "no steps"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New: %v, want an error with %q", err, want)
		}
	}
}
