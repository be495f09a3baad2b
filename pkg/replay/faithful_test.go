package replay_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// printed is the raw transcript of a CLI that prints lines, in chunks of a size.
func printed(t *testing.T, chunk int, lines ...string) *transcript.Raw {
	t.Helper()
	rec, err := transcript.NewRecorder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for text := strings.Join(lines, "\n"); text != ""; {
		n := min(chunk, len(text))
		rec.Record(transcript.Entry{Dir: contract.CLIToServer, Stream: contract.Stdout, Data: []byte(text[:n])})
		text = text[n:]
	}
	rec.Record(transcript.Entry{Dir: contract.FromProcess, Event: contract.EventExit, ExitCode: new(int)})
	raw, err := rec.Finish()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	return raw
}

func TestFaithful(t *testing.T) {
	dialect, err := protocol.Compile(contract.Dialect{
		Name: "test", EventType: []contract.EventTypeRule{{Path: "$.type"}}, IDs: []string{"$.id"}, Numbers: []string{"$.tokens"}, Enums: map[string][]string{"$.tool": {"look", "read"}},
		Events: []contract.EventRule{
			{EventType: "use", Event: "tool_use", Fields: map[string]string{"id": "$.id", "name": "$.tool", "input": "$.input"}},
			{EventType: "result", Event: "tool_result", Fields: map[string]string{"id": "$.id", "is_error": "$.failed", "output": "$.output"}},
			{EventType: "usage", Event: "usage", Fields: map[string]string{"output_tokens": "$.tokens"}},
			{EventType: "text", Event: "assistant_text", Fields: map[string]string{"text": "$.text"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	scanner, err := scan.New(scan.Config{})
	if err != nil {
		t.Fatal(err)
	}
	policy := redact.Policy{Family: contract.FamilyJSONEvent, Transport: contract.TransportJSONL, Dialect: dialect, Scanner: scanner, Vocabulary: []string{"look", "read"}}
	turn := []string{
		`{"type":"use","id":"call-77","tool":"look","input":{"dir":"private"}}`,
		`{"type":"use","id":"call-78","tool":"read","input":{"file":"private"}}`,
		`{"type":"result","id":"call-78","failed":false,"output":"a private answer"}`,
		`{"type":"result","id":"call-77","failed":true,"output":"a private error"}`,
		`{"type":"usage","tokens":70}`,
		`{"type":"text","text":"private words"}`,
	}
	s, err := redact.Redact(printed(t, 11, turn...), policy, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // a spool
	events, err := replay.Reference(s, "")
	if err != nil || len(events) != len(turn)+1 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	edit := func(line int, old, with string) []string {
		lines := append([]string(nil), turn...)
		if lines[line] = strings.Replace(turn[line], old, with, 1); lines[line] == turn[line] {
			t.Fatalf("line %d lacks %s", line, old)
		}
		return lines
	}
	for _, tt := range []struct {
		name, want string
		raw        []string
	}{
		{name: "the run itself", raw: turn},
		{name: "other values", raw: edit(2, "a private answer", "something else")},
		{name: "other ids that pair", raw: []string{strings.Replace(turn[0], "77", "1", 1), strings.Replace(turn[1], "78", "2", 1), strings.Replace(turn[2], "78", "2", 1), strings.Replace(turn[3], "77", "1", 1), turn[4], turn[5]}},
		{name: "an id that paired", raw: edit(2, "78", "79"), want: "event 2 (tool_result) is another one in the raw output: field id pairs where"},
		{name: "an id that did not pair", raw: edit(1, "78", "77"), want: "event 1 (tool_use) is another one in the raw output: field id does not pair"},
		{name: "another tool", raw: edit(0, "look", "read"), want: "event 0 (tool_use) is another one in the raw output: field name has another value"},
		{name: "another flag", raw: edit(3, "true", "false"), want: "field is_error has another value"},
		{name: "another number of tokens", raw: edit(4, "70", "71"), want: "field output_tokens has another value"},
		{name: "another kind", raw: edit(5, `"private words"`, `["private"]`), want: "field text is of another kind"},
		{name: "another field", raw: edit(5, `"text":"private words"`, `"words":"private"`), want: "its fields differ"},
		{name: "another event", raw: edit(5, `"text"`, `"usage"`), want: "there it is usage"},
		{name: "one more", raw: append(turn[:6:6], turn[5]), want: "there it is assistant_text"},
		{name: "one less", raw: turn[:5], want: "there it is done"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := replay.Faithful(printed(t, 7, tt.raw...), s, "", events)
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var unfaithful *replay.UnfaithfulError
			if !errors.As(err, &unfaithful) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "private") {
				t.Errorf("the error quotes the output: %v", err)
			}
		})
	}
}
