//go:build unix

package capture

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// fakePeer is an agent that speaks the Agent Client Protocol. Its version stands in the handshake only; what it does in
// the turn is what its prompt says.
func fakePeer(baseURL string) {
	in := bufio.NewScanner(os.Stdin)
	note, said := os.Getenv("HOME")+"/session.jsonl", ""
	say := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	for in.Scan() {
		var f struct {
			ID     int    `json:"id"`
			Method string `json:"method"`
			Params struct {
				Cwd    string `json:"cwd"`
				ID     string `json:"sessionId"`
				Prompt []struct {
					Text string `json:"text"`
					URI  string `json:"uri"`
				} `json:"prompt"`
			} `json:"params"`
		}
		if json.Unmarshal(in.Bytes(), &f) != nil {
			os.Exit(3)
		}
		switch f.Method {
		case "initialize":
			say(`{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":1,"agentInfo":{"name":"fake","version":"1.2.3"}}}`, f.ID)
		case "session/new":
			say(`{"jsonrpc":"2.0","id":%d,"result":{"sessionId":"s-%d"}}`, f.ID, os.Getpid())
		case "session/load":
			if _, err := os.Stat(os.Getenv("HOME") + "/refuse"); err == nil {
				say(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32603,"message":"Internal error"}}`, f.ID)
				continue
			}
			if data, err := os.ReadFile(note); err == nil && f.Params.ID == string(data) {
				said = "Hello."
			}
			say(`{"jsonrpc":"2.0","id":%d,"result":{}}`, f.ID)
		case "session/prompt":
			_ = os.WriteFile(note, []byte(f.Params.ID), 0o600)
			if f.Params.Prompt[0].Text == "refuse" {
				_ = os.WriteFile(os.Getenv("HOME")+"/refuse", nil, 0o600)
			}
			peerTurn(baseURL, f.Params.Prompt[0].Text, said, say)
			if len(f.Params.Prompt) > 1 {
				if data, err := os.ReadFile(f.Params.Prompt[1].URI); err != nil || string(data) != "hello" {
					os.Exit(4)
				}
			}
			say(`{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`, f.ID)
			if f.Params.Prompt[0].Text == "stay" {
				time.Sleep(time.Hour)
			}
		}
	}
}

func peerTurn(baseURL, prompt, said string, say func(string, ...any)) {
	body := strings.NewReader(`{"model":"fake-model","stream":true,"input":[{"said":"` + said + `"},{"text":"` + prompt + `"}],"tools":[{"type":"function","name":"look"}]}`)
	if resp, err := http.Post(baseURL+"/v1/responses", "application/json", body); err == nil {
		_ = resp.Body.Close()
	}
	if prompt == "leak" {
		say(`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","%s":1}}}`, os.Getenv("PRIVATE_NOTE"))
	}
	say(`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello."}}}}`)
}

// peerTarget is the fake agent in an RPC mode.
func peerTarget(t testing.TB, prompt string) (*Capturer, Target) {
	t.Helper()
	target := fakeTarget(t, prompt)
	target.Agent.VersionProbe = contract.VersionProbe{Handshake: "acp", Pattern: `^(\d+\.\d+\.\d+)$`, Template: "{version}", Scheme: "semver"}
	target.Agent.Modes = []contract.Mode{{
		ID: "acp", Family: contract.FamilyACP, Transport: contract.TransportJSONRPC, StdinMode: contract.StdinRPC, Client: "open-design",
		Argv: []contract.ArgvForm{{Argv: []string{"fake-acp", "{base_url}"}}},
	}}
	const profile = "../../registry/clients/open-design.json"
	data, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	client, problems := contract.Decode[contract.Client](contract.KindClient, profile, data)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	c := newCapturer(t, true)
	c.Catalog.Clients = map[contract.ClientID]contract.Client{client.ID: client}
	return c, target
}

func TestCaptureRPC(t *testing.T) {
	c, target := peerTarget(t, "talk")
	target.Repeat = 2
	target.Probe.Host = &contract.HostPolicy{Images: []contract.Image{{Name: "dot.png", MIMEType: "image/png", Base64: "aGVsbG8="}}}
	got, err := c.Capture(context.Background(), target)
	if err != nil {
		t.Fatal(err)
	}
	if got.Shape.Shape.Exit != contract.ExitSuccess || len(got.Shape.Violations) > 0 || got.Evidence.ModelRequests != 1 {
		t.Errorf("exit %s, violations %v, %d requests", got.Shape.Shape.Exit, got.Shape.Violations, got.Evidence.ModelRequests)
	}
	fixture := filepath.Join(c.Out, "registry", string(registry.FixturePath(contract.FamilyACP, got.Shape.Shape.Signature)))
	in, err := os.Open(fixture)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close() //nolint:errcheck // read only
	var host []string
	err = transcript.ReadLines(in, func(e transcript.Entry) error {
		if e.Dir == contract.ServerToCLI {
			host = append(host, string(e.Frame))
		}
		return nil
	})
	if err != nil || len(host) != 3 || !strings.Contains(host[2], `"text":"talk"`) || !strings.Contains(host[2], `"uri":"<cwd>/dot.png"`) || !strings.Contains(host[0], `"name":"open-design"`) {
		t.Errorf("%v: the frames of the host: %s", err, host)
	}
}

// A peer that stays after its turn is ended by SIGTERM, and the transcript says who did that.
func TestCaptureRPCPeerStays(t *testing.T) {
	t.Parallel()
	c, target := peerTarget(t, "stay")
	got, err := c.Capture(context.Background(), target)
	if err != nil {
		t.Fatal(err)
	}
	if got.Shape.Shape.Exit != contract.ExitSignal || len(got.Shape.Violations) > 0 {
		t.Errorf("exit %s, violations %v", got.Shape.Shape.Exit, got.Shape.Violations)
	}
}

// The session of the first run is loaded by the second, and whether the CLI then tells the model what was said must be
// as the mode says.
func TestCaptureRPCResumed(t *testing.T) {
	c, target := peerTarget(t, "talk")
	target.Probe.Expected.Run = &contract.RunConditions{Resume: true}
	target.Agent.Modes[0].Resume = []contract.ResumeForm{{Session: "$.result.sessionId"}}
	if _, err := c.Capture(context.Background(), target); err != nil {
		t.Fatal(err)
	}
	if text := fixtureOf(t, c); !strings.Contains(text, `"method":"session/load"`) || strings.Contains(text, `"session/new"`) {
		t.Error(text)
	}
	target.Agent.Modes[0].Resume[0].Forgets = "it does not"
	if _, err := c.Capture(context.Background(), target); err == nil || !strings.Contains(err.Error(), "remove forgets") {
		t.Errorf("a session that is not forgotten: %v", err)
	}
	target.Agent.Modes[0].Resume[0] = contract.ResumeForm{File: "{home}/session.jsonl", Forgets: "a path is no id"}
	if _, err := c.Capture(context.Background(), target); err != nil {
		t.Errorf("a session that is forgotten: %v", err)
	}
	target.Agent.Modes[0].Resume[0] = contract.ResumeForm{File: "{home}/none-*.jsonl"}
	if _, err := c.Capture(context.Background(), target); err == nil || !strings.Contains(err.Error(), "left 0 session files") {
		t.Errorf("no session file: %v", err)
	}
	target.Probe.Prompt = "refuse"
	target.Agent.Modes[0].Resume[0] = contract.ResumeForm{Session: "$.result.sessionId"}
	if _, err := c.Capture(context.Background(), target); err == nil || !strings.Contains(err.Error(), "it refuses the session") {
		t.Errorf("a session that is refused: %v", err)
	}
}

func TestCaptureRPCRefuses(t *testing.T) {
	c, target := peerTarget(t, "leak")
	if _, err := c.Capture(context.Background(), target); err == nil || !strings.Contains(err.Error(), "redaction failed") {
		t.Errorf("a canary in a frame: %v", err)
	}
	c, target = peerTarget(t, "talk")
	target.Version = "1.2.4"
	var version *VersionError
	if _, err := c.Capture(context.Background(), target); !errors.As(err, &version) || version.Got != "1.2.3" {
		t.Errorf("another version than asked for: %v", err)
	}
	c, target = peerTarget(t, "talk")
	c.Catalog.Clients = nil
	var unknown *registry.UnknownError
	if _, err := c.Capture(context.Background(), target); !errors.As(err, &unknown) {
		t.Errorf("no client profile: %v", err)
	}
}
