package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// run is a stream with something of each kind in it.
var run = strings.Join([]string{
	`{"type":"t","id":"a","session_id":"0b0e7a3c-1111-4222-8333-444455556666"}`,
	"noise of someone\r",
	"",
	`{"type":"t","text":"zażółć 😀 \u00e9","message":"not logged in: run acme login","usage":{"in":7},"x":1}`,
	strings.TrimSpace(delta("Hello")), strings.TrimSpace(delta(" there, world")), strings.TrimSpace(delta("secretly")),
	`{"type":"t","by_model":{"who":{},"model-one":{}},"input":{"a b":"c","k":["/x"]},"id":"b","parent_id":"a"}`,
	`{"type":"t","id":"a","session_id":"0b0e7a3c-1111-4222-8333-444455556666"}`,
	`{"type":"cut off`,
}, "\n")

const runErrors = "not logged in: run acme login\nwho knows\nretry 2 in 1.5s: x"

// chunks cuts a stream at random places.
func chunks(rng *rand.Rand, stream func(string) transcript.Entry, data string) []transcript.Entry {
	var list []transcript.Entry
	for data != "" {
		n := 1 + rng.IntN(min(len(data), 60))
		list, data = append(list, stream(data[:n])), data[n:]
	}
	return list
}

// mix merges the chunks of two streams by chance.
func mix(rng *rand.Rand, a, b []transcript.Entry) []transcript.Entry {
	var list []transcript.Entry
	for len(a) > 0 && len(b) > 0 {
		if rng.IntN(2) == 0 {
			a, b = b, a
		}
		list, a = append(list, a[0]), a[1:]
	}
	return append(append(list, a...), b...)
}

// TestRechunk: the same bytes in other chunks give the same sanitized bytes.
func TestRechunk(t *testing.T) {
	p := policy(t)
	whole := sanitize(t, p, out(run), stderr(runErrors), exit())
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		s, err := redact.Redact(record(t, append(mix(rng, chunks(rng, out, run), chunks(rng, stderr, runErrors)), exit())...), p, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []contract.StreamName{contract.Stdout, contract.Stderr} {
			if got, want := stream(t, s, name), stream(t, whole, name); got != want {
				t.Fatalf("other chunks give\n%s\nnot\n%s", got, want)
			}
		}
		s.Close()
	}
}

// TestTwice: redacting what redaction wrote gives the same bytes.
func TestTwice(t *testing.T) {
	p := policy(t)
	once := sanitize(t, p, transcript.Entry{Dir: contract.ServerToCLI, Stream: contract.Stdin, Data: []byte("typed")}, out(run), stderr(runErrors), exit())
	raw, err := transcript.ReadBundle(strings.NewReader(published(t, once)), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	twice, err := redact.Redact(raw, p, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer twice.Close()
	if got, want := published(t, twice), published(t, once); got != want {
		t.Errorf("twice gives\n%s\nonce\n%s", got, want)
	}
}

// TestVolatile: what differs from run to run leaves no trace.
func TestVolatile(t *testing.T) {
	p := policy(t)
	other := strings.NewReplacer("0b0e7a3c-1111-4222-8333-444455556666", "ffffffff-9999-4888-8777-666655554444", `"a"`, `"other"`, `"b"`, `"more"`, "someone", "nobody", "zażółć 😀", "x", "secretly", "openly", `"who"`, `"me"`, `"x":1`, `"x":2`, "/x", "/yy/z").Replace(run)
	if a, b := sanitize(t, p, out(run), exit()), sanitize(t, p, out(other), exit()); a.Hash() != b.Hash() {
		t.Errorf("two runs of one kind give\n%s\nand\n%s", published(t, a), published(t, b))
	}
}

// secretForms are ways in which a secret may stand in what a CLI prints.
var secretForms = []func(string) string{
	func(s string) string { return s },
	strings.ToUpper,
	func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("x" + s)) },
	func(s string) string { return hex.EncodeToString([]byte(s)) },
	func(s string) string { q, _ := json.Marshal(s); r, _ := json.Marshal(string(q)); return string(r) },
	func(s string) string { return s[:9] + "\x1b[0m" + s[9:] },
	func(s string) string { return strings.ReplaceAll(s, "-", "%2D") },
}

// FuzzRedact: whatever a CLI prints, with a secret in it in any form and place, what comes out holds the secret in no
// decoding, reads back as itself, and is the same for other chunks.
func FuzzRedact(f *testing.F) {
	for line := range strings.Lines(run) {
		for form := range secretForms {
			f.Add([]byte(line), []byte("err\n"), uint16(form*7), byte(form), uint64(form))
		}
	}
	f.Add([]byte(delta("Hello")+delta(" there, world")), []byte(runErrors), uint16(3), byte(0), uint64(1))
	f.Add([]byte(`{"type":"t","id":"`), []byte(""), uint16(18), byte(2), uint64(3))
	p := policy(f)
	judge, err := scan.New(scan.Config{Canaries: []string{secret}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, stdout, stderrText []byte, at uint16, form byte, seed uint64) {
		if len(stdout)+len(stderrText) > 1<<14 {
			return
		}
		planted := secretForms[int(form)%len(secretForms)](secret)
		i := int(at) % (len(stdout) + 1)
		text := string(stdout[:i]) + planted + string(stdout[i:])
		rng := rand.New(rand.NewPCG(seed, 1))
		entries := mix(rng, chunks(rng, out, text), chunks(rng, stderr, string(stderrText)+planted))
		s, err := redact.Redact(record(t, append(entries, exit())...), p, t.TempDir())
		var failure *redact.Failure
		if errors.As(err, &failure) {
			if hits := judge.Scan([]byte(err.Error())); len(hits) > 0 {
				t.Fatalf("the failure holds the secret: %v", hits)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		file := published(t, s)
		if hits := judge.Scan([]byte(file)); len(hits) > 0 {
			t.Fatalf("the result holds the secret: %v", hits)
		}
		again, err := redact.Read(strings.NewReader(file), p, t.TempDir())
		if err != nil {
			t.Fatalf("the result does not read back: %v", err)
		}
		defer again.Close()
		if again.Hash() != s.Hash() || again.StderrClass() != s.StderrClass() {
			t.Fatal("the result reads back as another")
		}
		whole, err := redact.Redact(record(t, out(text), exit()), p, t.TempDir())
		if err != nil {
			t.Fatalf("as one chunk it fails: %v", err)
		}
		defer whole.Close()
		if stream(t, whole, contract.Stdout) != stream(t, s, contract.Stdout) {
			t.Fatal("as one chunk it gives another text")
		}
	})
}
