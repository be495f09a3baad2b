package shape_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// acpRun is a turn with a tool call, a permission, and a line of noise. Frames of the host begin with ">".
const acpRun = `> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"terminal":false},"clientInfo":{"name":"host","version":"1"}}}
< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"acme","version":"9.9.9"}}}
> {"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/run/w","mcpServers":[]}}
noise
< {"jsonrpc":"2.0","id":2,"result":{"sessionId":"0196f5de-0000-7000-8000-0123456789ab"}}
> {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"0196f5de-0000-7000-8000-0123456789ab","prompt":[{"type":"text","text":"Say hi."}]}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0196f5de-0000-7000-8000-0123456789ab","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"The pro"}}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0196f5de-0000-7000-8000-0123456789ab","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"be."}}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0196f5de-0000-7000-8000-0123456789ab","update":{"sessionUpdate":"tool_call","toolCallId":"call_1","kind":"execute","status":"pending","title":"ls /run/w/secret","rawInput":{"command":"ls"}}}}
< {"jsonrpc":"2.0","id":1764547200000,"method":"session/request_permission","params":{"sessionId":"0196f5de-0000-7000-8000-0123456789ab","toolCall":{"toolCallId":"call_1"},"options":[{"optionId":"yes-7f","kind":"allow_once","name":"Yes"},{"optionId":"allow_always","kind":"allow_always","name":"Always"}]}}
> {"jsonrpc":"2.0","id":1764547200000,"result":{"outcome":{"outcome":"selected","optionId":"allow_always"}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0196f5de-0000-7000-8000-0123456789ab","update":{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"a.txt"}}]}}}
< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
`

func rpcPolicy(t testing.TB, family contract.Family) redact.Policy {
	t.Helper()
	src, _, err := protocol.FamilyDialect(family)
	if err != nil {
		t.Fatal(err)
	}
	d, err := protocol.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	scanner, err := scan.New(scan.Config{Canaries: []string{"cnry0123456789abcdef"}})
	if err != nil {
		t.Fatal(err)
	}
	return redact.Policy{Family: family, Transport: family.Transports()[0], Dialect: d, Literals: []string{"Say hi.", "The probe."}, Vocabulary: []string{"host", "1"}, Cwd: []string{"/run/w"}, Scanner: scanner}
}

func rpcRaw(t testing.TB, run string) *transcript.Raw {
	t.Helper()
	rec, err := transcript.NewRecorder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rec.Record(transcript.Entry{Dir: contract.FromProcess, Event: contract.EventSpawn})
	for line := range strings.Lines(run) {
		switch side, frame, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); side {
		case ">":
			rec.Record(transcript.Entry{Dir: contract.ServerToCLI, Stream: contract.Stdin, Frame: []byte(frame)})
		case "<":
			rec.Record(transcript.Entry{Dir: contract.CLIToServer, Stream: contract.Stdout, Frame: []byte(frame)})
		default:
			rec.Record(transcript.Entry{Dir: contract.CLIToServer, Stream: contract.Stdout, Data: []byte(line)})
		}
	}
	code := 0
	rec.Record(transcript.Entry{Dir: contract.FromProcess, Event: contract.EventExit, ExitCode: &code})
	raw, err := rec.Finish()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	return raw
}

func rpcShape(t testing.TB, run string) (*redact.Sanitized, *shape.Result) {
	t.Helper()
	s, err := redact.Redact(rpcRaw(t, run), rpcPolicy(t, contract.FamilyACP), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r, err := shape.Of(s)
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

func TestRPCShape(t *testing.T) {
	s, r := rpcShape(t, acpRun)
	var got []string
	for _, f := range r.Shape.FrameShapes {
		got = append(got, string(f.Direction)+" "+f.EventType)
	}
	want := []string{
		"server->cli initialize", "server->cli session/new", "server->cli session/prompt", "server->cli response/session/request_permission",
		"cli->server response/initialize", "cli->server response/session/new", "cli->server session/update/agent_message_chunk", "cli->server session/update/tool_call",
		"cli->server session/request_permission", "cli->server session/update/tool_call_update", "cli->server response/session/prompt", "cli->server noise/between",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(r.Violations) > 0 || r.Untyped > 0 {
		t.Error(r.Violations, r.Untyped)
	}
	record, err := contract.Marshal(r.Shape)
	if err != nil {
		t.Fatal(err)
	}
	if problems := contract.Validate(contract.KindShape, "x.shape.json", record); len(problems) > 0 {
		t.Error(problems)
	}
	var public bytes.Buffer
	if err := s.WriteJSONL(&public); err != nil {
		t.Fatal(err)
	}
	text := public.String()
	for _, kept := range []string{`"Say hi."`, `"The pro"`, `"be."`, `"cwd":"<cwd>"`, `"kind":"execute"`, `"optionId":"allow_always"`, `"optionId":"<enum>"`, `"name":"host"`, `"id":900000`} {
		if !strings.Contains(text, kept) {
			t.Errorf("lost: %s", kept)
		}
	}
	for _, gone := range []string{"0196f5de", "secret", "a.txt", "9.9.9", "yes-7f", "1764547200000", "noise"} {
		if strings.Contains(text, gone) {
			t.Errorf("still there: %s", gone)
		}
	}
	// The public file is a valid transcript, reads back unchanged, and gives the same shape.
	if problems := contract.ValidateTranscript("x", contract.FamilyACP, strings.NewReader(text)); len(problems) > 0 {
		t.Error(problems)
	}
	again, err := redact.Read(strings.NewReader(text), rpcPolicy(t, contract.FamilyACP), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close() //nolint:errcheck // an unlinked spool
	second, err := shape.Of(again)
	if err != nil || second.Shape.Signature != r.Shape.Signature {
		t.Error(err, "the public file gives another shape")
	}
}

func TestRPCShapeMetamorphic(t *testing.T) {
	_, base := rpcShape(t, acpRun)
	same := map[string]func(string) string{
		"another session":  func(s string) string { return strings.ReplaceAll(s, "0196f5de", "0196aaaa") },
		"other ids":        func(s string) string { return strings.ReplaceAll(s, "1764547200000", "1764547299999") },
		"a repeated chunk": func(s string) string { return strings.Replace(s, "be.\"}}}}\n", "be.\"}}}}\n"+chunk("more"), 1) },
		"interleaving": func(s string) string {
			prompt := s[strings.Index(s, "> {\"jsonrpc\":\"2.0\",\"id\":3"):strings.Index(s, "< {\"jsonrpc\":\"2.0\",\"method\"")]
			return strings.Replace(strings.Replace(s, prompt, "", 1), "be.\"}}}}\n", "be.\"}}}}\n"+prompt, 1)
		},
	}
	for name, change := range same {
		if _, r := rpcShape(t, change(acpRun)); r.Shape.Signature != base.Shape.Signature {
			t.Errorf("%s: another signature:\n%v", name, shape.Diff(base.Shape, r.Shape))
		}
	}
	other := map[string]func(string) string{
		"the host asks otherwise": func(s string) string { return strings.Replace(s, `"mcpServers":[]`, `"mcpServers":[],"x":1`, 1) },
		"an answer to nothing":    func(s string) string { return s + `< {"jsonrpc":"2.0","id":77,"result":{}}` + "\n" },
		"an error for a result": func(s string) string {
			return strings.Replace(s, `"result":{"stopReason":"end_turn"}`, `"error":{"code":-32603,"message":"m"}`, 1)
		},
		"another way to end": func(s string) string { return strings.Replace(s, "end_turn", "cancelled", 1) },
		"a field of the CLI": func(s string) string {
			return strings.Replace(s, `"title":"ls /run/w/secret",`, ``, 1)
		},
	}
	for name, change := range other {
		if _, r := rpcShape(t, change(acpRun)); r.Shape.Signature == base.Shape.Signature {
			t.Errorf("%s: the same signature", name)
		}
	}
}

func chunk(text string) string {
	return `< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0196f5de-0000-7000-8000-0123456789ab","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}}}` + "\n"
}

// A transcript without the host's frames backs no shape.
func TestRPCShapeNeedsBothSides(t *testing.T) {
	var oneSided strings.Builder
	for line := range strings.Lines(acpRun) {
		if !strings.HasPrefix(line, ">") {
			oneSided.WriteString(line)
		}
	}
	for _, run := range []string{oneSided.String(), "noise\n", ""} {
		s, err := redact.Redact(rpcRaw(t, run), rpcPolicy(t, contract.FamilyACP), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := shape.Of(s); !errors.Is(err, shape.ErrOneSided) {
			t.Errorf("a shape of one side: %v", err)
		}
		_ = s.Close()
	}
}

func TestRPCViolations(t *testing.T) {
	_, r := rpcShape(t, strings.Replace(acpRun, `"sessionUpdate":"tool_call_update"`, `"sessionUpdate":"plan"`, 1)+chunk("late"))
	want := []string{"pair: session/update/tool_call without session/update/tool_call_update", "terminal: a frame follows the end of the turn"}
	if !slices.Equal(r.Violations, want) {
		t.Error(r.Violations)
	}
	_, r = rpcShape(t, strings.Replace(acpRun, `< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`+"\n", "", 1))
	want = []string{"rpc: session/prompt without an answer", "terminal: no frame of the turn's end instead of 1"}
	if !slices.Equal(r.Violations, want) {
		t.Error(r.Violations)
	}
}

// Frames in a transcript of a stream family are refused, on the way out and on the way in.
func TestFramesOfStreamFamilies(t *testing.T) {
	p := rpcPolicy(t, contract.FamilyACP)
	p.Family, p.Transport = contract.FamilyJSONEvent, contract.TransportJSONL
	var failure *redact.Failure
	if _, err := redact.Redact(rpcRaw(t, acpRun), p, t.TempDir()); !errors.As(err, &failure) || failure.Rule != "structure/frame" {
		t.Error(err)
	}
}

// What an agent advertises is kept beside the shape: it denies some, and what it adds of its own is not the protocol's.
func TestRPCCapabilities(t *testing.T) {
	_, r := rpcShape(t, `> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}
< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":false},"session":{"list":{}},"auth":null,"_meta":{"own":true}}}}
> {"jsonrpc":"2.0","id":2,"method":"session/new","params":{}}
< {"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}
`)
	if diff := cmp.Diff([]string{"loadSession", "promptCapabilities.image", "session.list"}, r.Capabilities); diff != "" {
		t.Error(diff)
	}
	if len(r.Violations) > 0 {
		t.Errorf("a host with a session that asks for no turn: %v", r.Violations)
	}
	_, refused := rpcShape(t, `> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}
< {"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}
`)
	if len(refused.Violations) > 0 {
		t.Errorf("a host that is refused a session: %v", refused.Violations)
	}
}
