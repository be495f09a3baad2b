package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// documents are JSON texts that readers tend to get wrong, and texts that are no JSON.
var documents = []string{
	`null`, `true`, `0`, `-0.5e+10`, `""`, `{}`, `[]`, ` {"a" : [1, 2 , {"b":null}] } `, `{"":1,"a.b":2,"it's":3,"\\":4}`,
	`{"a":1,"a":{"b":2},"a":[3]}`, `"\u0041\n\ud83d\ude00\/"`, `"\ud83d"`, `["\udc00x"]`, `[[[[]]]]`, `{"type":"x","item":{"type":"y"}}`,
	`{"a":1}{"b":2}`, `1 2`, `{"a":1}}`, `[1,]`, `{"a":}`, `{"a"}`, `{a:1}`, `{"a":1,}`, `[1 2]`, `{"a" 1}`, `01`, `1.`, `.5`, `+1`, `1e`, `tru`, `nul`, `NaN`,
	`"a`, `"\x"`, `"\u12"`, "\"a\tb\"", "\ufeff{}", ``, ` `, `]`, `}`, `,`, `:`, "\x00", "\"\xff\"", `{"a":"b"]`, `[}`, `-`, `"\`,
}

// value reads the node at i the way encoding/json reads into any.
func (d *Document) value(i int) (any, int) {
	n := &d.Nodes[i]
	switch n.Kind {
	case 'n':
		return nil, n.Next
	case 't', 'f':
		return n.Kind == 't', n.Next
	case '"':
		return n.Text(), n.Next
	case '0':
		return json.Number(n.Value), n.Next
	case '[':
		list := []any{}
		for j := i + 1; j < n.Next; {
			var v any
			v, j = d.value(j)
			list = append(list, v)
		}
		return list, n.Next
	}
	object := map[string]any{}
	for j := i + 1; j < n.Next; {
		key := unquote(d.Nodes[j].Key)
		object[key], j = d.value(j)
	}
	return object, n.Next
}

// reference is what encoding/json makes of a text.
func reference(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return v, nil
}

func checkDocument(t *testing.T, d *Document, text []byte) {
	t.Helper()
	err := d.Parse(text)
	if !utf8.Valid(text) {
		if err == nil {
			t.Fatalf("%q: invalid UTF-8 was accepted", text)
		}
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	if err != nil {
		err = d.parseRepaired(text)
	}
	if errors.Is(err, errDepth) {
		return
	}
	want, wantErr := reference(text)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%q: error %v, encoding/json says %v", text, err, wantErr)
	}
	if err != nil {
		return
	}
	got, end := d.value(0)
	if end != len(d.Nodes) {
		t.Fatalf("%q: the root ends at node %d of %d", text, end, len(d.Nodes))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q (-encoding/json +Document):\n%s", text, diff)
	}
	compact, _ := d.Append(nil, 0, nil)
	again, err := reference(compact)
	if err != nil {
		t.Fatalf("%q: Append wrote what is no JSON: %v", text, err)
	}
	if diff := cmp.Diff(want, again); diff != "" {
		t.Fatalf("%q: Append changed the value:\n%s", text, diff)
	}
	for i := range d.Nodes {
		if n := &d.Nodes[i]; n.Kind == '"' && string(n.AppendText(nil)) != n.Text() {
			t.Fatalf("%q: AppendText and Text differ", text)
		}
	}
}

// TestDocument parses every text into one Document, so that nothing of a frame shows in the next.
func TestDocument(t *testing.T) {
	var d Document
	for _, text := range documents {
		checkDocument(t, &d, []byte(text))
	}
}

func FuzzDocument(f *testing.F) {
	for _, text := range documents {
		f.Add([]byte(text))
	}
	var d Document
	f.Fuzz(func(t *testing.T, text []byte) { checkDocument(t, &d, text) })
}

func TestDocumentDepth(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	var d Document
	if err := d.Parse(nested(maxDepth)); err != nil {
		t.Errorf("depth %d: %v", maxDepth, err)
	}
	if err := d.Parse(nested(maxDepth + 1)); !errors.Is(err, errDepth) {
		t.Errorf("depth %d: %v, want errDepth", maxDepth+1, err)
	}
	if err := d.Parse(nested(1 << 20)); !errors.Is(err, errDepth) {
		t.Errorf("depth 1 Mi: %v, want errDepth", err)
	}
	if err := d.Parse([]byte(`{"a":1}`)); err != nil || len(d.Nodes) != 2 {
		t.Errorf("after a failure: %v, %d nodes", err, len(d.Nodes))
	}
}

// testDialect has one entry of everything.
var testDialect = contract.Dialect{
	Name:      "test",
	EventType: []contract.EventTypeRule{{Path: "$.type", Then: "$.update.kind", Has: "$.update"}, {Path: "$.type", Then: "$.item.type"}, {Path: "$['odd key'].name"}, {Has: "$.config", Name: "config"}},
	Opaque:    []string{"$.input"}, Maps: []string{"$.by_model", "$.list[]"}, IDs: []string{"$.handle"}, Numbers: []string{"$.usage.*"},
	Diagnostics: []string{"$.error"}, Base64: []string{"$.chunk"}, Deltas: []string{"$.delta"},
	Unions:   []contract.UnionRule{{Path: "$.content", Key: "type"}, {Path: "$.content[group].parts", Key: "kind"}},
	Enums:    map[string][]string{"$.mode": {"fast", "slow"}},
	Ambient:  []contract.AmbientRule{{EventType: "ping", Reason: "timer"}, {EventType: "start", Path: "$.note", Reason: "race"}},
	Session:  "start",
	Terminal: contract.Terminal{Events: []string{"end"}, PerTurn: 1, After: []string{"bye"}},
	Pairs: []contract.PairRule{
		{Open: "call", Close: "answer", ID: "$.item.id"},
		{Open: "says", Close: "hears", ID: "$.content[call].id", CloseID: "$.content[answer].call_id"},
	},
	Events: []contract.EventRule{
		{EventType: "start", Event: "session_started", Fields: map[string]string{"id": "$.session_id"}},
		{EventType: "end", Event: "usage", Fields: map[string]string{"input_tokens": "$.usage.input", "all": "$.usage"}, When: "$.usage"},
		{EventType: "end", Event: "done"},
		{EventType: "says", Event: "init_or_status", When: "$.first", Equals: true},
		{EventType: "says", Event: "tool_use", Each: "$.content[call]", Fields: map[string]string{"id": "$.content[call].id", "in": "$.session_id"}},
		{EventType: "says", Event: "assistant_text", Each: "$.content[text]", Fields: map[string]string{"text": "$.content[text].text"}, When: "$.content[text].final", Equals: "yes"},
		{EventType: "says", Event: "done", When: "$.first", Equals: false},
	},
}

func testReader(t testing.TB, src contract.Dialect) *Reader {
	t.Helper()
	d, err := Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader("json-event-stream/v1", d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPaths(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{`{"a":{"b":[{"c":1},2]}}`, []string{"$", "$.a", "$.a.b", "$.a.b[]", "$.a.b[].c", "$.a.b[]"}},
		{`{"":1,"a.b":2,"it's":3,"\\":4,"a b":5,"1x":6,"_meta":7,"$ref":8,"x-y":9,"ü":10,"\n":11,"\u0061":12}`,
			[]string{"$", "$['']", "$['a.b']", `$['it\'s']`, `$['\\']`, "$['a b']", "$['1x']", "$._meta", "$.$ref", "$.x-y", "$['ü']", "$['\n']", "$.a"}},
		{`[[1],[]]`, []string{"$", "$[]", "$[][]", "$[]"}},
		{`{"by_model":{"m-1":{"n":1},"\u006d":2}}`, []string{"$", "$.by_model", "$.by_model.{key}", "$.by_model.{key}.n", "$.by_model.{key}"}},
		{`{"list":[{"k":1}]}`, []string{"$", "$.list", "$.list[]", "$.list[].{key}"}},
		{`{"content":[{"type":"text","text":""},{"x":1},{"type":"not a token"},7,{"type":"group","parts":[{"kind":"k"}]}]}`,
			[]string{"$", "$.content", "$.content[text]", "$.content[text].type", "$.content[text].text", "$.content[?]", "$.content[?].x", "$.content[?]", "$.content[?].type",
				"$.content[?]", "$.content[group]", "$.content[group].type", "$.content[group].parts", "$.content[group].parts[k]", "$.content[group].parts[k].kind"}},
	}
	r := testReader(t, testDialect)
	for _, tt := range tests {
		f, err := r.Read([]byte(tt.text))
		if err != nil || f.Doc == nil {
			t.Fatalf("%s: %v", tt.text, err)
		}
		var got []string
		for _, n := range f.Doc.Nodes {
			got = append(got, n.Path.Name)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, diff)
		}
	}
}

// TestPathExpr holds that a dialect can name every key that a frame may have.
func TestPathExpr(t *testing.T) {
	for _, key := range []string{"a", "a.b", "it's", `\`, `\'`, "a b", "[x]", "ü", "$", "", "a]['b"} {
		got, err := parsePath("$" + keyStep(key) + ".z")
		if err != nil {
			t.Errorf("%q: %v", key, err)
			continue
		}
		if diff := cmp.Diff(pathExpr{key, "z"}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", key, diff)
		}
	}
	for _, bad := range []string{"", "a", ".a", "$a", "$.", "$.a[]", "$.a[0]", "$['a", "$['a'", "$..a", "$.a b"} {
		if _, err := parsePath(bad); err == nil {
			t.Errorf("path %q was accepted", bad)
		}
	}
}

func TestAttributes(t *testing.T) {
	r := testReader(t, testDialect)
	f, err := r.Read([]byte(`{"type":"x","input":{"id":"1","deep":[{"type":"y"}]},"handle":"h","session_id":"s","itemId":"i","paid":"p","usage":{"input":1,"more":{"n":[2]}},"usages":3,` +
		`"error":"e","chunk":"c","delta":"d","mode":"fast","by_model":{"id":"m"}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Attr{
		"$": 0, "$.type": AttrEnum | AttrStable, "$.input": AttrOpaque | AttrNamed, "$.input.id": AttrOpaque | AttrID, "$.input.deep": AttrOpaque, "$.input.deep[]": AttrOpaque,
		"$.input.deep[].type": AttrOpaque | AttrEnum | AttrStable, "$.handle": AttrID | AttrNamed, "$.session_id": AttrID, "$.itemId": AttrID, "$.paid": 0, "$.usage": 0,
		"$.usage.input": AttrNumber, "$.usage.more": AttrNumber, "$.usage.more.n": AttrNumber, "$.usage.more.n[]": AttrNumber, "$.usages": 0,
		"$.error": AttrDiagnostic | AttrNamed, "$.chunk": AttrBase64 | AttrNamed, "$.delta": AttrDelta | AttrNamed, "$.mode": AttrEnum | AttrNamed, "$.by_model": AttrMap | AttrNamed, "$.by_model.{key}": 0,
	}
	got := map[string]Attr{}
	indexes := map[int]bool{}
	for _, n := range f.Doc.Nodes {
		got[n.Path.Name] = n.Path.Attr
		indexes[n.Path.Index] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	if len(indexes) != len(want) || !indexes[0] || !indexes[len(want)-1] {
		t.Errorf("path indexes are not dense: %v", indexes)
	}
}

func TestTooManyPaths(t *testing.T) {
	var b strings.Builder
	b.WriteByte('{')
	for i := range MaxPaths {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"k` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + json.Number(strings.Repeat("1", 1+i%3)).String() + "_" + itoa(i) + `":1`)
	}
	b.WriteByte('}')
	r := testReader(t, testDialect)
	if _, err := r.Read([]byte(b.String())); !errors.Is(err, ErrTooManyPaths) {
		t.Errorf("got %v, want ErrTooManyPaths", err)
	}
	r = testReader(t, testDialect)
	if _, err := r.Read([]byte(`{"by_model":` + b.String() + `}`)); err != nil {
		t.Errorf("a declared map with as many keys: %v", err)
	}
}

func itoa(i int) string { b, _ := json.Marshal(i); return string(b) }

func TestIsToken(t *testing.T) {
	for _, s := range []string{
		"a", "text", "tool_use", "end_turn", "item.completed/command_execution", "session/update", "agent_message_chunk", "danger-full-access", "on-request", "UserPromptSubmit",
		"HTTPSRedirect", "RESOURCE_EXHAUSTED", "sha256", "gpt-5.5", "claude-opus-4-8", "web_search_20250305", "v1", "contentBlockDelta", "OpenAIGPT4oMini", "a.b.c.d.e.f.g.h",
	} {
		if want := s != "web_search_20250305"; IsToken(s) != want || IsToken([]byte(s)) != want {
			t.Errorf("IsToken(%q) = %v", s, !want)
		}
	}
	for _, s := range []string{
		"", " ", "a b", "a__b", "__a", "a_", "a.", "1a", "-a", "ü", "a\n", "a/b/", "a@b.example", "/home/x", "C:\\x", "a=b", "<id:1>", "hunter2!", strings.Repeat("a", 49),
		"a.b.c.d.e.f.g.h.i", "abc12345", "a1b2c3d4e5f6g7", "aB3dE6gH9jKl", "kJsDmQxLpWvBnZyT", "sk-kQ7Lm2Zt9Rv5Wb8Nc1", "x-AbCdEfGhIjKl",
		"550e8400-e29b-41d4-a716-446655440000", "0123456789abcdef",
	} {
		if IsToken(s) || IsToken([]byte(s)) {
			t.Errorf("IsToken(%q) = true", s)
		}
	}
}
