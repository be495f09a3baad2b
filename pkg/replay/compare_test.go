package replay_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
)

// events reads a short form: a list of names, or objects with fields.
func events(t *testing.T, text string) []protocol.Event {
	t.Helper()
	out, err := replay.ParseEvents([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCompare(t *testing.T) {
	const golden = `{"event":"session_started"} {"event":"assistant_text","fields":{"text":"a","n":1}} {"event":"done"}`
	tests := []struct {
		name, events string
		want         []replay.Difference
	}{
		{"equal", golden, nil},
		{"equal JSON in another spelling", `{"event":"session_started"} {"event":"assistant_text","fields":{"text":"\u0061","n":1.0}} {"event":"done"}`, nil},
		{"lost", `{"event":"session_started"} {"event":"done"}`, []replay.Difference{{Kind: replay.EventLost, Index: 1, Event: "assistant_text"}}},
		{"lost at the end", `{"event":"session_started"} {"event":"assistant_text","fields":{"text":"a","n":1}}`, []replay.Difference{{Kind: replay.EventLost, Index: 2, Event: "done"}}},
		{"nothing", ``, []replay.Difference{{Kind: replay.EventLost, Event: "session_started"}, {Kind: replay.EventLost, Index: 1, Event: "assistant_text"}, {Kind: replay.EventLost, Index: 2, Event: "done"}}},
		{"extra", `{"event":"session_started"} {"event":"warning"} {"event":"assistant_text","fields":{"text":"a","n":1}} {"event":"done"}`,
			[]replay.Difference{{Kind: replay.EventExtra, Index: 1, Event: "warning"}}},
		{"changed", `{"event":"session_started"} {"event":"assistant_text","fields":{"text":"b","m":2}} {"event":"done"}`,
			[]replay.Difference{{Kind: replay.FieldChanged, Index: 1, Event: "assistant_text", Fields: []string{"m", "n", "text"}}}},
		{"foreign names are not shown", `{"event":"session_started"} {"event":"\u001b[31m"} {"event":"assistant_text","fields":{"text":"a","n":1}} {"event":"done"}`,
			[]replay.Difference{{Kind: replay.EventExtra, Index: 1, Event: "<name>"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, replay.Compare(events(t, golden), events(t, tt.events))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCompareOfLongListsStaysCheap(t *testing.T) {
	var a, b []protocol.Event
	for range 5000 {
		a = append(a, protocol.Event{Event: "raw", Fields: map[string]json.RawMessage{"n": json.RawMessage("1")}})
		b = append(b, protocol.Event{Event: "raw", Fields: map[string]json.RawMessage{"n": json.RawMessage("2")}})
	}
	if got := len(replay.Compare(a, b)); got != 5000 {
		t.Errorf("%d differences, want 5000", got)
	}
}

func TestParseEvents(t *testing.T) {
	tests := []struct {
		in   string
		want int // -1 is an error
	}{
		{``, 0}, {"\n", 0}, {`[]`, 0}, {`[{"event":"done"}]`, 1}, {`{"event":"done"}` + "\n" + `{"event":"error","fields":{"x":null}}`, 2},
		{`{}`, -1}, {`[`, -1}, {`[{"event":"done"}`, -1}, {`[{"event":"done"}] trailing`, -1}, {`[] []`, -1}, {`{"event":"done"}]`, -1},
		{`{"event":"done","extra":1}`, -1}, {`secret`, -1}, {`1`, -1},
	}
	for _, tt := range tests {
		got, err := replay.ParseEvents([]byte(tt.in))
		if n := len(got); (err != nil) != (tt.want < 0) || err == nil && n != tt.want {
			t.Errorf("%q: %d events, %v", tt.in, n, err)
		}
	}
}

func FuzzParseEvents(f *testing.F) {
	for _, seed := range []string{``, `[{"event":"done"}]`, `{"event":"done","fields":{"a":[1]}}`, `[[`, `{"event":"x"}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := replay.ParseEvents(data)
		if err == nil && len(replay.Compare(got, got)) > 0 {
			t.Error("events differ from themselves")
		}
	})
}
