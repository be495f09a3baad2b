package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func chunk(at int64, stream contract.StreamName, data string) Entry {
	dir := contract.CLIToServer
	if stream == contract.Stdin {
		dir = contract.ServerToCLI
	}
	return Entry{Dir: dir, Stream: stream, AtMs: at, Data: []byte(data)}
}

func code(n int) *int { return &n }

// samples hold every kind of entry and every kind of content.
func samples() []Entry {
	return []Entry{
		{Dir: contract.FromProcess, Event: contract.EventSpawn},
		{Dir: contract.ServerToCLI, Stream: contract.Stdin, Ref: "prompt"},
		chunk(1, contract.Stdin, "typed\n"),
		chunk(2, contract.Stdout, `{"type":"a","text":"<b>&\u2028"}`+"\n"),
		chunk(2, contract.Stdout, ""),
		chunk(3, contract.Stdout, "umlaut ü, emoji \U0001F600, nul \x00, escape \x1b[0m, del \x7f, line \u2028\r\n"),
		chunk(4, contract.Stderr, "cut in a rune \xe2\x82"),
		chunk(5, contract.Stderr, "\xff\x00\xfe"),
		{Dir: contract.CLIToServer, Stream: contract.Stdout, AtMs: 6, Frame: []byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":{}}`)},
		{Dir: contract.ServerToCLI, Stream: contract.Stdin, AtMs: 6, Frame: []byte(`{}`)},
		{Dir: contract.FromProcess, Event: contract.EventTimeout, AtMs: 7},
		{Dir: contract.FromProcess, Event: contract.EventKill, AtMs: 7, Signal: "SIGKILL"},
		{Dir: contract.FromProcess, Event: contract.EventExit, AtMs: 8, ExitCode: code(-1)},
		{Dir: contract.FromProcess, Event: contract.EventExit, AtMs: 9, ExitCode: code(1<<32 - 1)},
		{Dir: contract.FromProcess, Event: contract.EventExit, AtMs: 9, Signal: "SIGRTMIN+3"},
	}
}

func record(t testing.TB, entries ...Entry) *Raw {
	t.Helper()
	rec, err := NewRecorder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		rec.Record(e)
	}
	raw, err := rec.Finish()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	return raw
}

func entries(t testing.TB, raw *Raw) []Entry {
	t.Helper()
	var out []Entry
	err := raw.Each(func(e Entry) error {
		e.Data, e.Frame = bytes.Clone(e.Data), bytes.Clone(e.Frame)
		out = append(out, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func bundle(t testing.TB, raw *Raw) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := raw.WriteBundle(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	want := samples()
	raw := record(t, want...)
	if raw.Len() != len(want) {
		t.Errorf("Len() = %d, want %d", raw.Len(), len(want))
	}
	if diff := cmp.Diff(want, entries(t, raw), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("through the spool (-want +got):\n%s", diff)
	}
	text := bundle(t, raw)
	back, err := ReadBundle(bytes.NewReader(text), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close() //nolint:errcheck // the spool has no name
	if diff := cmp.Diff(want, entries(t, back), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("through the bundle (-want +got):\n%s", diff)
	}
	if !bytes.Equal(text, bundle(t, back)) {
		t.Error("the bundle of a bundle differs")
	}
	if sum := contract.HashSum(sha256.Sum256(text)); raw.Hash() != sum || back.Hash() != sum {
		t.Errorf("Hash() = %s and %s, want that of the bundle's bytes %s", raw.Hash(), back.Hash(), sum)
	}
}

func TestBundleSize(t *testing.T) {
	for _, open := range []func(string) (*Recorder, error){NewRecorder, NewTape} {
		rec, err := open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range samples() {
			rec.Record(e)
		}
		raw, err := rec.Finish()
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := errors.Join(raw.WriteBundle(&out), raw.Close()); err != nil || raw.BundleSize() != int64(out.Len()) {
			t.Errorf("said %d bytes, wrote %d: %v", raw.BundleSize(), out.Len(), err)
		}
	}
}

func TestStreamHash(t *testing.T) {
	raw := record(t, chunk(0, contract.Stdout, "ab"), chunk(1, contract.Stderr, "x"), chunk(2, contract.Stdout, "c"))
	if h, ok := raw.StreamHash(contract.Stdout); !ok || h != contract.HashBytes([]byte("abc")) {
		t.Errorf("stdout: %s, %v", h, ok)
	}
	if h, ok := raw.StreamHash(contract.Stderr); !ok || h != contract.HashBytes([]byte("x")) {
		t.Errorf("stderr: %s, %v", h, ok)
	}
	if _, ok := raw.StreamHash(contract.Stdin); ok {
		t.Error("stdin had no bytes and has a hash")
	}
}

func TestLargeEntry(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 1<<17) // 2 MiB, beyond every buffer
	want := []Entry{chunk(0, contract.Stdout, big), chunk(1, contract.Stdout, "small"), chunk(2, contract.Stdout, big[1:])}
	raw := record(t, want...)
	for i, e := range entries(t, raw) {
		if !bytes.Equal(e.Data, want[i].Data) {
			t.Errorf("entry %d changed", i)
		}
	}
	back, err := ReadBundle(bytes.NewReader(bundle(t, raw)), t.TempDir())
	if err != nil || back.Hash() != raw.Hash() {
		t.Errorf("large bundle: %v", err)
	}
}

// TestNothingPrints holds every way of turning bytes into text that a log or a message might take. Only %p of an Entry
// is beyond a type's reach: fmt asks no method there, and vet refuses it.
func TestNothingPrints(t *testing.T) {
	const secret = "s3cret-FAKE"
	e := chunk(0, contract.Stdout, secret)
	raw := record(t, e)
	rec, err := NewRecorder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rec.Record(e)
	type holder struct{ E Entry }
	values := map[string]any{"Raw": raw, "Raw value": *raw, "Entry": e, "*Entry": &e, "[]Entry": []Entry{e}, "map": map[string]Entry{"x": e}, "struct": holder{e}, "Recorder": rec}
	for name, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%b", "%c", "%U", "%t", "%e", "%10.3v"} {
			got := fmt.Sprintf(verb, v)
			for _, form := range []string{secret, fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret), fmt.Sprintf("% x", secret), fmt.Sprintf("%v", []byte(secret)), fmt.Sprintf("%#v", []byte(secret))} {
				if strings.Contains(got, form) {
					t.Errorf("%s of %s shows its bytes", verb, name)
				}
			}
		}
	}
	for name, v := range map[string]any{"Raw": raw, "Entry": e, "[]Entry": []Entry{e}, "struct": holder{e}} {
		if _, err := json.Marshal(v); !errors.Is(err, ErrSecret) {
			t.Errorf("json.Marshal of %s: %v, want ErrSecret", name, err)
		}
	}
	for _, v := range []interface{ MarshalText() ([]byte, error) }{raw, e} {
		if _, err := v.MarshalText(); !errors.Is(err, ErrSecret) {
			t.Errorf("MarshalText of %T: %v, want ErrSecret", v, err)
		}
	}
	if _, err := rec.Finish(); err != nil {
		t.Fatal(err)
	}
}

func TestSpoolHasNoName(t *testing.T) {
	dir := t.TempDir()
	f, err := OpenSpool(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // a test's file
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 && os.PathSeparator == '/' {
		t.Errorf("the folder holds %d files while the spool is open", len(left))
	}
	if _, err := OpenSpool(dir + "/missing"); err == nil {
		t.Error("a spool in a missing folder opened")
	}
}

func TestConcurrentRecord(t *testing.T) {
	rec, err := NewRecorder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 200
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				// Offsets of one writer jump back and forth, as stamps of several readers do.
				rec.Record(chunk(int64((i*7+w)%50), contract.Stdout, fmt.Sprintf("%d/%d\n", w, i)))
			}
		})
	}
	wg.Wait()
	raw, err := rec.Finish()
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() //nolint:errcheck // the spool has no name
	last, next := int64(-1), map[int]int{}
	for _, e := range entries(t, raw) {
		if e.AtMs < last {
			t.Fatal("offsets go back")
		}
		last = e.AtMs
		var w, i int
		if _, err := fmt.Sscanf(string(e.Data), "%d/%d\n", &w, &i); err != nil || i != next[w] {
			t.Fatalf("an entry of writer %d is damaged or out of order", w)
		}
		next[w]++
	}
	if raw.Len() != writers*each {
		t.Errorf("%d entries, want %d", raw.Len(), writers*each)
	}
}

func TestFinish(t *testing.T) {
	rec, err := NewRecorder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rec.Record(chunk(0, contract.Stdout, "a"))
	raw, err := rec.Finish()
	if err != nil {
		t.Fatal(err)
	}
	before := raw.Hash()
	rec.Record(chunk(1, contract.Stdout, "b"))
	if raw.Len() != 1 || raw.Hash() != before {
		t.Error("an entry after Finish changed the Raw")
	}
	if _, err := rec.Finish(); err == nil {
		t.Error("a second Finish gave no error")
	}
	if got := entries(t, raw); len(got) != 1 {
		t.Error("a second Finish took the first one's spool away")
	}
	if err := raw.Close(); err != nil {
		t.Error(err)
	}
	if err := raw.Each(func(Entry) error { return nil }); err == nil {
		t.Error("a closed Raw can be read")
	}
}

func TestRecordRefusesWrongStream(t *testing.T) {
	rec, err := NewRecorder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rec.Record(Entry{Dir: contract.ServerToCLI, Stream: contract.Stdout, Data: []byte("x")})
	if _, err := rec.Finish(); err == nil {
		t.Error("an entry that no transcript can hold was recorded")
	}
}

func TestReadLinesErrors(t *testing.T) {
	const spawn = `{"dir":"process","event":"spawn","at_ms":0}`
	tests := []struct{ name, line string }{
		{"no JSON", `secretly`},
		{"blank line", ``},
		{"array", `[]`},
		{"two values", spawn + spawn},
		{"text behind", spawn + `}`},
		{"unknown field", `{"dir":"process","event":"spawn","at_ms":0,"secretly":1}`},
		{"field twice", `{"dir":"cli->server","stream":"stdout","at_ms":0,"data":"secretly","data":""}`},
		{"field in other letters", `{"dir":"cli->server","stream":"stdout","at_ms":0,"DATA":"secretly"}`},
		{"invalid UTF-8", "{\"dir\":\"cli->server\",\"stream\":\"stdout\",\"at_ms\":0,\"data\":\"secretly\xff\"}"},
		{"half a surrogate pair", `{"dir":"cli->server","stream":"stdout","at_ms":0,"data":"secretly\ud83d"}`},
		{"no offset", `{"dir":"process","event":"spawn"}`},
		{"negative offset", `{"dir":"process","event":"spawn","at_ms":-1}`},
		{"offset not whole", `{"dir":"process","event":"spawn","at_ms":0.5}`},
		{"data and ref", `{"dir":"server->cli","stream":"stdin","at_ms":0,"data":"secretly","data_ref":"prompt"}`},
		{"neither data nor ref", `{"dir":"server->cli","stream":"stdin","at_ms":0}`},
		{"empty ref", `{"dir":"server->cli","stream":"stdin","at_ms":0,"data_ref":""}`},
		{"bad base64", `{"dir":"cli->server","stream":"stdout","at_ms":0,"data_base64":"secretly!"}`},
		{"frame null", `{"dir":"cli->server","stream":"stdout","at_ms":0,"frame":null}`},
		{"frame string", `{"dir":"cli->server","stream":"stdout","at_ms":0,"frame":"secretly"}`},
		{"frame array", `{"dir":"cli->server","stream":"stdout","at_ms":0,"frame":["secretly"]}`},
		{"stdout to the CLI", `{"dir":"server->cli","stream":"stdout","at_ms":0,"data":"secretly"}`},
		{"stdin from the CLI", `{"dir":"cli->server","stream":"stdin","at_ms":0,"data":"secretly"}`},
		{"no stream", `{"dir":"cli->server","at_ms":0,"data":"secretly"}`},
		{"event of a chunk", `{"dir":"cli->server","stream":"stdout","at_ms":0,"data":"","event":"spawn"}`},
		{"signal of a chunk", `{"dir":"cli->server","stream":"stdout","at_ms":0,"data":"","signal":"secretly"}`},
		{"exit of a chunk", `{"dir":"cli->server","stream":"stdout","at_ms":0,"data":"","exit_code":7}`},
		{"unknown direction", `{"dir":"secretly","stream":"stdout","at_ms":0,"data":""}`},
		{"unknown event", `{"dir":"process","event":"secretly","at_ms":0}`},
		{"no event", `{"dir":"process","at_ms":0}`},
		{"stream of a process event", `{"dir":"process","stream":"stdout","event":"exit","at_ms":0,"exit_code":0}`},
		{"data of a process event", `{"dir":"process","event":"exit","at_ms":0,"exit_code":0,"data":"secretly"}`},
		{"signal that is text", `{"dir":"process","event":"exit","at_ms":0,"signal":"secretly"}`},
		{"code and signal", `{"dir":"process","event":"exit","at_ms":0,"exit_code":1,"signal":"SIGTERM"}`},
		{"huge exit code", `{"dir":"process","event":"exit","at_ms":0,"exit_code":4294967296}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			err := ReadLines(strings.NewReader(spawn+"\n"+tt.line+"\n"+spawn+"\n"), func(Entry) error { n++; return nil })
			var bad *LineError
			if !errors.As(err, &bad) || bad.Line != 2 || n != 1 {
				t.Fatalf("error %v after %d entries, want a LineError at line 2 after 1", err, n)
			}
			if strings.Contains(err.Error(), "secretly") {
				t.Error("the error quotes the line")
			}
		})
	}
}

func TestReadBundleRefusesTimeGoingBack(t *testing.T) {
	_, err := ReadBundle(strings.NewReader(`{"dir":"process","event":"spawn","at_ms":5}`+"\n"+`{"dir":"process","event":"exit","at_ms":4,"exit_code":0}`+"\n"), t.TempDir())
	var bad *LineError
	if !errors.As(err, &bad) || bad.Line != 2 {
		t.Errorf("got %v, want a LineError at line 2", err)
	}
}

func TestReadLinesBound(t *testing.T) {
	defer func(n int) { maxLine = n }(maxLine)
	maxLine = 200_000
	line := func(size int) string {
		const head, tail = `{"dir":"cli->server","stream":"stdout","at_ms":0,"data":"`, `"}`
		return head + strings.Repeat("x", size-len(head)-len(tail)-1) + tail + "\n"
	}
	none := func(Entry) error { return nil }
	if err := ReadLines(strings.NewReader(line(maxLine)), none); err != nil {
		t.Errorf("a line of the longest size: %v", err)
	}
	endless := io.MultiReader(strings.NewReader(line(100)), &repeat{'x'})
	var bad *LineError
	if err := ReadLines(endless, none); !errors.As(err, &bad) || bad.Line != 2 {
		t.Errorf("an endless line: %v, want a LineError at line 2", err)
	}
}

// repeat is a reader without an end.
type repeat struct{ c byte }

func (r *repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.c
	}
	return len(p), nil
}

func TestReadLinesPassesErrors(t *testing.T) {
	stop := errors.New("stop")
	line := `{"dir":"process","event":"spawn","at_ms":0}` // without a line end
	if err := ReadLines(strings.NewReader(line), func(Entry) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want fn's error", err)
	}
	if err := ReadLines(io.MultiReader(strings.NewReader(line+"\n"), errReader{stop}), func(Entry) error { return nil }); !errors.Is(err, stop) {
		t.Errorf("got %v, want the reader's error", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// FuzzReadBundle holds that whatever is accepted is written again as the same entries, and never causes a panic.
func FuzzReadBundle(f *testing.F) {
	for _, e := range samples() {
		f.Add(append(e.AppendJSON(nil), '\n'))
	}
	f.Add([]byte(`{"at_ms":0,"dir":"cli->server","stream":"stdout","data":"\u0000\ud83d\ude00"}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		raw, err := ReadBundle(bytes.NewReader(text), dir)
		if err != nil {
			return
		}
		defer raw.Close() //nolint:errcheck // the spool has no name
		first := bundle(t, raw)
		back, err := ReadBundle(bytes.NewReader(first), dir)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		defer back.Close() //nolint:errcheck // the spool has no name
		if !bytes.Equal(first, bundle(t, back)) || back.Hash() != raw.Hash() {
			t.Error("reading and writing is not stable")
		}
	})
}

// A tape leaves its hashes to the end; they are those of a recorder.
func TestTapeHashesLikeARecorder(t *testing.T) {
	var raws []*Raw
	for _, open := range []func(string) (*Recorder, error){NewRecorder, NewTape} {
		rec, err := open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range samples() {
			rec.Record(e)
		}
		raw, err := rec.Finish()
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		raws = append(raws, raw)
	}
	if raws[0].Hash() != raws[1].Hash() {
		t.Errorf("bundle hashes: %s, %s", raws[0].Hash(), raws[1].Hash())
	}
	if diff := cmp.Diff(raws[0].streams, raws[1].streams); diff != "" {
		t.Error(diff)
	}
}
