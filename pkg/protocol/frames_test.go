package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func feed(t testing.TB, whole bool, chunks ...[]byte) []string {
	t.Helper()
	l := Lines{Whole: whole}
	var got []string
	keep := func(line []byte) error { got = append(got, string(line)); return nil }
	for _, c := range chunks {
		if err := l.Feed(c, keep); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Flush(keep); err != nil {
		t.Fatal(err)
	}
	if err := l.Flush(keep); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestLines(t *testing.T) {
	tests := []struct {
		text  string
		whole bool
		want  []string
	}{
		{"", false, nil},
		{"\n", false, []string{"\n"}},
		{"a\nb", false, []string{"a\n", "b"}},
		{"a\r\n\r\n\nb\n", false, []string{"a\r\n", "\r\n", "\n", "b\n"}},
		{"a\nb\n", true, []string{"a\nb\n"}},
		{"", true, nil},
	}
	for _, tt := range tests {
		for cut := range len(tt.text) + 1 {
			got := feed(t, tt.whole, []byte(tt.text[:cut]), nil, []byte(tt.text[cut:]))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%q cut at %d (-want +got):\n%s", tt.text, cut, diff)
			}
		}
	}
}

// FuzzLines holds that chunk boundaries never show: any chunking gives the same lines, and they are the text.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), []byte{1, 0, 3})
	f.Add([]byte("\r\n\xff\n"), []byte{2})
	f.Fuzz(func(t *testing.T, text, sizes []byte) {
		var chunks [][]byte
		rest := text
		for _, n := range sizes {
			n := min(int(n), len(rest))
			chunks = append(chunks, bytes.Clone(rest[:n]))
			rest = rest[n:]
		}
		got := feed(t, false, append(chunks, rest)...)
		if diff := cmp.Diff(feed(t, false, text), got); diff != "" {
			t.Fatalf("chunks show (-one +many):\n%s", diff)
		}
		if strings.Join(got, "") != string(text) {
			t.Fatal("lines are not the text")
		}
		for i, line := range got {
			if n := strings.Count(line, "\n"); n > 1 || (n == 0 && i < len(got)-1) || line == "" {
				t.Fatalf("line %d of %d has %d line ends", i, len(got), n)
			}
		}
	})
}

func TestLinesErrors(t *testing.T) {
	stop := errors.New("stop")
	l := Lines{}
	if err := l.Feed([]byte("a\nb\n"), func([]byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want fn's error", err)
	}
	chunk := bytes.Repeat([]byte("x"), MaxLine/8)
	for _, whole := range []bool{false, true} {
		l := Lines{Whole: whole}
		var err error
		n := 0
		for ; err == nil && n < 20; n++ {
			err = l.Feed(chunk, func([]byte) error { return nil })
		}
		var tooLong *LineTooLongError
		if !errors.As(err, &tooLong) || n != 9 || strings.Contains(err.Error(), "xx") {
			t.Errorf("whole %v: %v after %d chunks", whole, err, n)
		}
	}
}

func TestEventType(t *testing.T) {
	tests := []struct{ line, want string }{
		{`{"type":"a"}`, "a"},
		{`{"type":"a","item":{"type":"b"}}`, "a/b"},
		{`{"type":"a","item":{"type":"no token"}}`, "a"},
		{`{"type":"a","item":"b"}`, "a"},
		{`{"type":"a","update":{"kind":"k"},"item":{"type":"b"}}`, "a/k"},
		{`{"type":"a","update":7,"item":{"type":"b"}}`, "a"},
		{`{"type":"\u0061"}`, "a"},
		{`{"type":7,"config":{}}`, "config"},
		{`{"type":"no token","odd key":{"name":"odd"}}`, "odd"},
		{`{"config":null}`, "config"},
		{`{"other":1}`, Untyped},
		{`[]`, Untyped},
		{`"type"`, Untyped},
		{`null`, Untyped},
		{`warning: not JSON`, Noise},
		{`{"type":"a"`, Noise},
		{`{"type":"a"}{"type":"b"}`, Noise},
		{"{\"type\":\"a\",\"text\":\"\xff\"}", "a"},
		{`{"type":"a","text":"\ud83d"}`, "a"},
		{``, ""}, {`   `, ""}, {"\r", ""},
	}
	r := testReader(t, testDialect)
	for range 2 { // the second time from the table of names
		for _, tt := range tests {
			f, err := r.Read([]byte(tt.line + "\n"))
			if err != nil || f.EventType != tt.want || f.Unterminated {
				t.Errorf("%s: %q, %v, want %q", tt.line, f.EventType, err, tt.want)
			}
			if wantRepaired := strings.Contains(tt.line, `"text"`); f.Repaired != wantRepaired {
				t.Errorf("%s: Repaired = %v", tt.line, f.Repaired)
			}
		}
	}
	if f, err := r.Read([]byte(`{"type":"a"}`)); err != nil || !f.Unterminated {
		t.Error("a line without its end is not Unterminated")
	}
}

func TestPlainFamily(t *testing.T) {
	if _, err := NewReader("json-event-stream/v1", nil); err == nil {
		t.Error("a JSON family was read without a dialect")
	}
	r, err := NewReader(contract.FamilyPlain, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.Read([]byte("{\"type\":\"a\"}\n"))
	if err != nil || f.EventType != TextFrame || f.Doc != nil {
		t.Errorf("%+v, %v", f, err)
	}
	if got := r.Events(f); len(got) != 1 || got[0].Event != "assistant_text" {
		t.Errorf("events %v", got)
	}
}

func TestEvents(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	tests := []struct {
		line string
		want []Event
	}{
		{`{"type":"start","session_id":"s1"}`, []Event{{"session_started", map[string]json.RawMessage{"id": raw(`"s1"`)}}}},
		{`{"type":"start"}`, []Event{{Event: "session_started"}}},
		{`{"type":"end","usage":{"input":1, "x" : [ 2 ]}}`, []Event{{"usage", map[string]json.RawMessage{"input_tokens": raw("1"), "all": raw(`{"input":1,"x":[2]}`)}}, {Event: "done"}}},
		{`{"type":"end","usage":null}`, []Event{{Event: "done"}}},
		{`{"type":"end"}`, []Event{{Event: "done"}}},
		{`{"type":"other","item":{"type":"x"}}`, []Event{{"raw", map[string]json.RawMessage{"event_type": raw(`"other/x"`)}}}},
		{`{"what":1}`, []Event{{"raw", map[string]json.RawMessage{"event_type": raw(`"untyped"`)}}}},
		{`{"type":"says","first":true,"session_id":"s","content":[{"type":"text","text":"a","final":"yes"},{"type":"call","id":"1"},{"type":"text","text":"b","final":"no"},{"type":"call"}]}`, []Event{
			{Event: "init_or_status"}, {"assistant_text", map[string]json.RawMessage{"text": raw(`"a"`)}},
			{"tool_use", map[string]json.RawMessage{"id": raw(`"1"`), "in": raw(`"s"`)}}, {"tool_use", map[string]json.RawMessage{"in": raw(`"s"`)}},
		}},
		{`{"type":"says","first":false,"content":[]}`, []Event{{Event: "done"}}},
		{`{"type":"says","first":1}`, nil},
		{`noise`, []Event{{"raw", map[string]json.RawMessage{"event_type": raw(`"noise"`)}}}},
		{``, nil},
	}
	r := testReader(t, testDialect)
	for _, tt := range tests {
		f, err := r.Read([]byte(tt.line))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, r.Events(f)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.line, diff)
		}
	}
}

func TestDialectQuestions(t *testing.T) {
	r := testReader(t, testDialect)
	d := r.Dialect
	if !d.Ambient("ping") || d.Ambient("start") || !d.AmbientPaths("start")["$.note"] || d.AmbientPaths("end") != nil {
		t.Error("ambient")
	}
	if !d.Terminal("end") || d.Terminal("bye") || !d.After("bye") || d.After("end") {
		t.Error("terminal")
	}
	if !d.Paired("call") || !d.Paired("answer") || d.Paired("end") {
		t.Error("paired")
	}
	var none *Dialect
	if none.Ambient("x") || none.AmbientPaths("x") != nil || none.Terminal("x") || none.After("x") || none.Paired("x") {
		t.Error("no dialect declares nothing")
	}
	for line, want := range map[string][]Pair{
		`{"type":"call","item":{"id":"1"}}`:   {{0, true, `"1"`}},
		`{"type":"answer","item":{"id":"1"}}`: {{0, false, `"1"`}},
		`{"type":"answer"}`:                   nil,
		`{"type":"end","item":{"id":"1"}}`:    nil,
		`{"type":"says","content":[{"type":"call","id":"1"},{"type":"text","id":"2"},{"type":"call","id":"3"}]}`: {{1, true, `"1"`}, {1, true, `"3"`}},
		`{"type":"hears","content":[{"type":"answer","call_id":"3"}]}`:                                           {{1, false, `"3"`}},
	} {
		f, err := r.Read([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r.Pairs(f)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
	if open, closing := d.PairNames(0); open != "call" || closing != "answer" {
		t.Errorf("pair names %s, %s", open, closing)
	}
}

func TestCompile(t *testing.T) {
	again, err := Compile(testDialect)
	if err != nil || again.Hash != testReader(t, testDialect).Dialect.Hash {
		t.Errorf("one dialect has two hashes: %v", err)
	}
	other := testDialect
	other.Session = "begin"
	if d, err := Compile(other); err != nil || d.Hash == again.Hash {
		t.Errorf("two dialects have one hash: %v", err)
	}
	bad := []contract.Dialect{
		{Name: "b", EventType: []contract.EventTypeRule{{}}},
		{Name: "b", EventType: []contract.EventTypeRule{{Path: "$.a", Has: "$.b", Name: "c"}}},
		{Name: "b", EventType: []contract.EventTypeRule{{Has: "$.b"}}},
		{Name: "b", EventType: []contract.EventTypeRule{{Path: "$.b", Name: "c"}}},
		{Name: "b", EventType: []contract.EventTypeRule{{Path: "type"}}},
		{Name: "b", EventType: []contract.EventTypeRule{{Path: "$.a", Then: "b"}}},
		{Name: "b", EventType: []contract.EventTypeRule{{Has: "b", Name: "c"}}},
		{Name: "b", Events: []contract.EventRule{{EventType: "a", When: "x"}}},
		{Name: "b", Events: []contract.EventRule{{EventType: "a", Fields: map[string]string{"f": "$.a[]"}}}},
		{Name: "b", Events: []contract.EventRule{{EventType: "a", Each: "$.a[]", When: "$.b[].c"}}},
		{Name: "b", Pairs: []contract.PairRule{{ID: "id"}}},
		{Name: "b", Pairs: []contract.PairRule{{ID: "$.id", CloseID: "id"}}},
	}
	for i, src := range bad {
		if _, err := Compile(src); err == nil || !strings.Contains(err.Error(), "dialect b") {
			t.Errorf("dialect %d: %v, want an error that names the dialect", i, err)
		}
	}
}

// FuzzReader holds that no bytes break the reader, and that it names a frame the same way each time.
func FuzzReader(f *testing.F) {
	for _, text := range documents {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"type":"call","item":{"type":"x","id":1},"content":[{"type":"text"}],"by_model":{"a":1}}`))
	r := testReader(f, testDialect)
	f.Fuzz(func(t *testing.T, line []byte) {
		first, err := r.Read(line)
		if err != nil {
			if !errors.Is(err, ErrTooManyPaths) {
				t.Fatal(err)
			}
			r = testReader(t, testDialect)
			return
		}
		r.Events(first)
		r.Pairs(first)
		fresh, err := testReader(t, testDialect).Read(line)
		if err == nil && fresh.EventType != first.EventType {
			t.Fatalf("%q or %q", fresh.EventType, first.EventType)
		}
	})
}

func TestAmbientPaths(t *testing.T) {
	src := testDialect
	src.Ambient = append(slices.Clone(src.Ambient),
		contract.AmbientRule{EventType: "start/*", Path: "$.all", Reason: "race"}, contract.AmbientRule{EventType: "start/a", Path: "$.one", Reason: "race"})
	d, err := Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	for eventType, want := range map[string][]string{
		"start": {"$.note"}, "start/a": {"$.all", "$.one"}, "start/b/c": {"$.all"}, "started/a": nil,
	} {
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(d.AmbientPaths(eventType)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", eventType, diff)
		}
	}
}

// A line at the bound is a line; one byte more is an error, in whatever pieces it comes, and nothing more is kept.
func TestLineBound(t *testing.T) {
	if MaxLine != 64<<20 {
		t.Errorf("the bound is %d", MaxLine)
	}
	defer func(n int) { maxLine = n }(maxLine)
	maxLine = 100_000
	for _, whole := range []bool{false, true} {
		for _, piece := range []int{1000, 4096, 99_999, maxLine} {
			feed := func(size int) (lines, longest int, err error) {
				l := Lines{Whole: whole}
				each := func(line []byte) error {
					lines, longest = lines+1, max(longest, len(line))
					return nil
				}
				for left := size; left > 0 && err == nil; left -= piece {
					text := bytes.Repeat([]byte("x"), min(piece, left))
					if left <= piece {
						text[len(text)-1] = '\n'
					}
					err = l.Feed(text, each)
				}
				if len(l.partial) > maxLine {
					t.Errorf("%d bytes are kept", len(l.partial))
				}
				if err == nil {
					err = l.Flush(each)
				}
				return lines, longest, err
			}
			if lines, longest, err := feed(maxLine); lines != 1 || longest != maxLine || err != nil {
				t.Errorf("whole %t, pieces of %d, at the bound: %d lines, the longest of %d bytes, %v", whole, piece, lines, longest, err)
			}
			var tooLong *LineTooLongError
			if lines, _, err := feed(maxLine + 1); lines != 0 || !errors.As(err, &tooLong) {
				t.Errorf("whole %t, pieces of %d, beyond: %d lines, %v", whole, piece, lines, err)
			}
		}
	}
}
