package protocol

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func familyReader(t testing.TB, family contract.Family) *Reader {
	t.Helper()
	src, ok, err := FamilyDialect(family)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	d, err := Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(family, d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRPCNames(t *testing.T) {
	tests := map[contract.Family][][2]string{ // ">" is the host's
		contract.FamilyACP: {
			{`> {"jsonrpc":"2.0","id":1,"method":"initialize"}`, "initialize"},
			{`< {"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{}}`, "session/request_permission"},
			{`< {"jsonrpc":"2.0","id":1,"result":{}}`, "response/initialize"},
			{`> {"jsonrpc":"2.0","id":1,"result":{}}`, "response/session/request_permission"},
			{`< {"jsonrpc":"2.0","id":1,"result":{}}`, Unmatched}, // answered already
			{`> {"jsonrpc":"2.0","id":2,"method":"session/new"}`, "session/new"},
			{`> {"jsonrpc":"2.0","id":3,"method":"session/prompt"}`, "session/prompt"},
			{`< {"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"m"}}`, "error/session/prompt"}, // out of order
			{`< {"jsonrpc":"2.0","id":2,"result":{}}`, "response/session/new"},
			{`< {"jsonrpc":"2.0","id":"2","result":{}}`, Unmatched}, // an id is what it is
			{`< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`, Unmatched},
			{`< {"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"plan"}}}`, "session/update/plan"},
			{`< {"jsonrpc":"2.0","method":"session/update","params":{}}`, "session/update"},
			{`< {"jsonrpc":"2.0","id":4,"method":"a b c"}`, Untyped},
			{`> {"jsonrpc":"2.0","id":4,"result":{}}`, "response/" + Untyped},
		},
		contract.FamilyPiRPC: {
			{`> {"id":1,"type":"prompt","message":"m"}`, "prompt"},
			{`< {"id":1,"type":"response","command":"prompt","success":true}`, "response/prompt"},
			{`> {"id":2,"type":"abort"}`, "abort"},
			{`< {"id":2,"type":"response","command":"abort","success":false}`, "error/abort"},
			{`< {"type":"response","command":"parse","success":false}`, Unmatched},
			{`< {"type":"extension_ui_request","id":"u","method":"confirm"}`, "extension_ui_request/confirm"},
			{`> {"type":"extension_ui_response","id":"u","confirmed":true}`, "response/extension_ui_request/confirm"},
			{`> {"type":"extension_ui_response","id":"u","confirmed":true}`, Unmatched},
			{`< {"type":"message_update","assistantMessageEvent":{"type":"text_delta"}}`, "message_update/text_delta"},
			{`< {"type":"agent_end"}`, "agent_end"},
		},
	}
	for family, frames := range tests {
		r := familyReader(t, family)
		var got, want []string
		for _, f := range frames {
			dir := contract.CLIToServer
			side, frame, _ := strings.Cut(f[0], " ")
			if side == ">" {
				dir = contract.ServerToCLI
			}
			read, err := r.ReadFrame(dir, []byte(frame))
			if err != nil {
				t.Fatal(err)
			}
			got, want = append(got, read.EventType), append(want, f[1])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", family, diff)
		}
	}
}

func TestUnanswered(t *testing.T) {
	r := familyReader(t, contract.FamilyACP)
	for _, frame := range []string{`{"jsonrpc":"2.0","id":1,"method":"initialize"}`, `{"jsonrpc":"2.0","id":2,"method":"session/new"}`} {
		if _, err := r.ReadFrame(contract.ServerToCLI, []byte(frame)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.ReadFrame(contract.CLIToServer, []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)); err != nil {
		t.Fatal(err)
	}
	if got := r.Unanswered(contract.ServerToCLI); len(got) != 1 || got[0] != "session/new" {
		t.Error(got)
	}
	if got := r.Unanswered(contract.CLIToServer); len(got) > 0 {
		t.Error(got)
	}
}

// A dialect of an agent adds to the family's: its rules come first, and its events take the place of the family's.
func TestExtend(t *testing.T) {
	family, _, err := FamilyDialect(contract.FamilyACP)
	if err != nil {
		t.Fatal(err)
	}
	own := contract.Dialect{
		Name: "vendor", Extends: "family", EventType: []contract.EventTypeRule{{Has: "$.params.vendor", Name: "vendor"}}, Opaque: []string{"$.params.vendor"},
		Ambient: []contract.AmbientRule{{EventType: "session/update/usage_update", Reason: "r"}},
		Events:  []contract.EventRule{{EventType: "session/update/plan", Event: "raw"}}, Enums: map[string][]string{"$.params.configId": {"x"}},
	}
	d := Extend(family, own)
	compiled, err := Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(contract.FamilyACP, compiled)
	if err != nil {
		t.Fatal(err)
	}
	name := func(frame string) string {
		f, err := r.ReadFrame(contract.CLIToServer, []byte(frame))
		if err != nil {
			t.Fatal(err)
		}
		return f.EventType
	}
	if got := name(`{"jsonrpc":"2.0","method":"session/update","params":{"vendor":1,"update":{"sessionUpdate":"plan"}}}`); got != "vendor" {
		t.Error(got)
	}
	if got := name(`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"plan"}}}`); got != "session/update/plan" {
		t.Error(got)
	}
	if !compiled.Ambient("session/update/usage_update") || !compiled.Terminal("response/session/prompt") {
		t.Error("ambient or terminal events are lost")
	}
	plans := 0
	for _, e := range d.Events {
		if e.EventType == "session/update/plan" {
			plans++
		}
	}
	if plans != 1 || len(d.Enums["$.params.configId"]) != 1 || len(family.Enums["$.params.configId"]) == 1 {
		t.Error(plans, d.Enums["$.params.configId"])
	}
	if !strings.Contains(strings.Join(d.Opaque, " "), "$.params.vendor") || len(d.Opaque) != len(family.Opaque)+1 {
		t.Error(d.Opaque)
	}
}

func FuzzParseFrame(f *testing.F) {
	for _, seed := range []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"a":1,"a":"\ud800"}`, "{\"\xff\":0}", `[]`, `{"jsonrpc":"2.0","error":{"code":1e999}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, family := range []contract.Family{contract.FamilyACP, contract.FamilyPiRPC} {
			var doc, again Document
			frame, ok := ParseFrame(family, &doc, line)
			if !ok {
				continue
			}
			second, ok := ParseFrame(family, &again, frame)
			if !ok || string(second) != string(frame) {
				t.Errorf("a frame does not read as itself: %q, %q", frame, second)
			}
		}
	})
}
