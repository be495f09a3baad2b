package replay_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

const conversation = `{"dir":"process","event":"spawn","at_ms":0}
{"dir":"server->cli","stream":"stdin","at_ms":1,"frame":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}}
{"dir":"cli->server","stream":"stdout","at_ms":2,"frame":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}}
{"dir":"cli->server","stream":"stdout","at_ms":3,"frame":{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{}}}
{"dir":"server->cli","stream":"stdin","at_ms":4,"frame":{"jsonrpc":"2.0","id":1,"result":{}}}
{"dir":"server->cli","stream":"stdin","at_ms":4,"frame":{"jsonrpc":"2.0","id":2,"method":"session/new","params":{}}}
{"dir":"cli->server","stream":"stdout","at_ms":4,"frame":{"jsonrpc":"2.0","id":2,"result":{}}}
{"dir":"process","event":"exit","at_ms":5,"exit_code":0,"signal":null}
`

func rpcFixture(t *testing.T) *replay.Fixture {
	t.Helper()
	l := open(t, nil)
	agent, err := l.Catalog.Agent("sample")
	if err != nil {
		t.Fatal(err)
	}
	agent.Modes = []contract.Mode{{ID: "acp", Family: contract.FamilyACP, Transport: contract.TransportJSONRPC, Argv: []contract.ArgvForm{{Argv: []string{"acp"}}}}}
	mode, err := registry.ResolveMode(agent, "acp", "1.2.0")
	if err != nil {
		t.Fatal(err)
	}
	policy, err := l.Catalog.Policy(agent, mode, "1.2.0")
	if err != nil {
		t.Fatal(err)
	}
	policy.Scanner = l.Scanner
	raw, err := transcript.ReadBundle(strings.NewReader(conversation), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() //nolint:errcheck // a spool
	s, err := redact.Redact(raw, policy, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &replay.Fixture{Sanitized: s, Mode: mode}
}

// A live host numbers its requests as it likes; the answers carry its ids, and the requests of the CLI their own.
func TestChildSpeaksRPC(t *testing.T) {
	f := rpcFixture(t)
	host := `{"id":"a-7","jsonrpc":"2.0","method":"initialize","params":{}}` + "\n" + `{"jsonrpc":"2.0","id":1,"result":{"outcome":"x"}}` + "\n" + `{"jsonrpc":"2.0","id":1,"method":"session/new"}`
	var out bytes.Buffer
	end, err := replay.Child{Stdin: strings.NewReader(host), Stdout: &out}.Play(context.Background(), f)
	if err != nil || end.Code != 0 || end.StdinBytes != int64(len(host)) {
		t.Fatalf("%+v, %v", end, err)
	}
	want := `{"jsonrpc":"2.0","id":"a-7","result":{"protocolVersion":1}}` + "\n" + `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{}}` + "\n" +
		`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
	if out.String() != want {
		t.Errorf("got %s", out.String())
	}
	if _, err := (replay.Child{Stdin: strings.NewReader("\n"), Stdout: &out}).Play(context.Background(), f); !errors.Is(err, replay.ErrHostGone) {
		t.Errorf("a host that says nothing: %v", err)
	}
}

// A host's parser gets each frame of the CLI as a line.
func TestStdoutOfRPC(t *testing.T) {
	var out bytes.Buffer
	if err := rpcFixture(t).WriteStdout(&out); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 3 || !strings.Contains(lines[1], "session/request_permission") {
		t.Errorf("got %q", out.String())
	}
}
