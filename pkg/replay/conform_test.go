package replay

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

const talk = `{"dir":"server->cli","stream":"stdin","at_ms":0,"frame":{"id":1,"type":"prompt","message":"Say hi."}}
{"dir":"cli->server","stream":"stdout","at_ms":1,"frame":{"id":1,"type":"response","command":"prompt","success":true}}
{"dir":"cli->server","stream":"stdout","at_ms":2,"frame":{"type":"extension_ui_request","id":"<id:1>","method":"confirm"}}
{"dir":"server->cli","stream":"stdin","at_ms":3,"frame":{"type":"extension_ui_response","id":"<id:1>","confirmed":true}}
{"dir":"cli->server","stream":"stdout","at_ms":4,"frame":{"type":"agent_end"}}
{"dir":"process","event":"exit","at_ms":5,"exit_code":0,"signal":null}
`

// openDesign is the client profile that captures speak with.
func openDesign(t *testing.T) contract.Client {
	t.Helper()
	data, err := os.ReadFile("../../registry/clients/open-design.json")
	if err != nil {
		t.Fatal(err)
	}
	profile, problems := contract.Decode[contract.Client](contract.KindClient, "open-design.json", data)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return profile
}

// readTalk reads a transcript of Pi's RPC mode.
func readTalk(t *testing.T, text string) *redact.Sanitized {
	t.Helper()
	src, _, err := protocol.FamilyDialect(contract.FamilyPiRPC)
	if err != nil {
		t.Fatal(err)
	}
	dialect, err := protocol.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	scanner, err := scan.New(scan.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := redact.Read(strings.NewReader(text), redact.Policy{
		Family: contract.FamilyPiRPC, Transport: contract.TransportPiRPC, Dialect: dialect, Literals: []string{"Say hi."}, Scanner: scanner,
	}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestConform(t *testing.T) {
	profile := openDesign(t)
	tests := map[string]struct {
		old, new string
		entry    int // -1: conforms
	}{
		"as the profile says": {"", "", -1},
		"another prompt":      {`"message":"Say hi."`, `"message":"<text>"`, 1},
		"another answer":      {`"confirmed":true`, `"confirmed":false`, 4},
		"one frame too many":  {`{"dir":"process"`, `{"dir":"server->cli","stream":"stdin","at_ms":4,"frame":{"id":2,"type":"abort"}}` + "\n" + `{"dir":"process"`, 6},
		"an answer missing":   {`{"dir":"server->cli","stream":"stdin","at_ms":3,"frame":{"type":"extension_ui_response","id":"<id:1>","confirmed":true}}` + "\n", "", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := readTalk(t, strings.Replace(talk, tt.old, tt.new, 1))
			host, err := Host(contract.Agent{}, "1.0.0", registry.Mode{Family: contract.FamilyPiRPC}, contract.Probe{Prompt: "Say hi.\n"}, profile, "")
			if err != nil {
				t.Fatal(err)
			}
			var diverges *ClientError
			switch err := Conform(s, host); {
			case tt.entry < 0 && err != nil:
				t.Error(err)
			case tt.entry >= 0 && (!errors.As(err, &diverges) || diverges.Entry != tt.entry):
				t.Errorf("%v, want entry %d", err, tt.entry)
			}
		})
	}
}

// A prompt that is repeated to its size stands in no fixture, and its host is the one that sent it.
func TestConformLargePrompt(t *testing.T) {
	s := readTalk(t, strings.Replace(talk, "Say hi.", "<text>", 1))
	probe := contract.Probe{Prompt: "Say hi.\n", Expected: &contract.MinEvents{Run: &contract.RunConditions{PromptRepeat: 3000}}}
	host, err := Host(contract.Agent{}, "1.0.0", registry.Mode{Family: contract.FamilyPiRPC}, probe, openDesign(t), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := Conform(s, host); err != nil {
		t.Error(err)
	}
}
