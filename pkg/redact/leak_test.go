package redact_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

var (
	leaks    = flag.Int("leaks", 800, "how many secrets TestLeak plants")
	leakSeed = flag.Uint64("leakseed", 1, "seed of TestLeak")
)

// leakDialect declares a place of every sort that a dialect can declare.
const leakDialect = `{
  "name": "leak", "event_type": [{"path": "$.type", "then": "$.item.type"}],
  "opaque": ["$.item.input", "$.tool.*"], "maps": ["$.map"], "unions": [{"path": "$.content", "key": "type"}], "ids": ["$.session"],
  "numbers": ["$.usage.*"], "diagnostics": ["$.error.message"], "base64": ["$.chunk"], "deltas": ["$.delta"], "enums": {"$.mode": ["fast", "slow"]},
  "terminal": {"events": ["end"]}, "events": []
}`

// leakTemplates have a hole of each type, so that a secret may stand in any of them.
func leakTemplates() []contract.DiagnosticTemplate {
	var list []contract.DiagnosticTemplate
	for _, kind := range contract.HoleTypes() {
		list = append(list, contract.DiagnosticTemplate{ID: "hole-" + kind, Text: "the " + kind + " {x} was refused", Holes: map[string]string{"x": kind}, Class: "upstream"})
	}
	return append(list, contract.DiagnosticTemplate{ID: "version", Text: "fake-cli {x}", Holes: map[string]string{"x": "version"}, Class: "diagnostic"})
}

const leakPrompt = "Say hello, please."

// leakPolicy is a policy with everything on.
func leakPolicy(t testing.TB, family contract.Family) redact.Policy {
	t.Helper()
	p := redact.Policy{
		Family: family, Transport: family.Transports()[0], Literals: []string{leakPrompt, "Hello there.", "notes.md"}, Vocabulary: []string{"Read", "fake-model-1"},
		Cwd: []string{"/srv/run/work"}, Home: []string{"/srv/run/home"},
	}
	if family != contract.FamilyPlain {
		var src contract.Dialect
		if err := json.Unmarshal([]byte(leakDialect), &src); err != nil {
			t.Fatal(err)
		}
		var err error
		if p.Dialect, err = protocol.Compile(src); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if p.Templates, err = redact.CompileTemplates(leakTemplates(), p.Literals); err != nil {
		t.Fatal(err)
	}
	if p.Scanner, err = scan.New(scan.Config{Canaries: []string{plantedCanary}, Known: []scan.Known{
		{Value: plantedKnown, Kind: "secret-env"}, {Value: plantedUser, Kind: "user", TokenOnly: true}, {Value: plantedHost, Kind: "host", TokenOnly: true},
	}}); err != nil {
		t.Fatal(err)
	}
	return p
}

// trial is one planted secret.
type trial struct {
	number               int
	kind, writing, place string
	cut                  bool // into words
	guessed              bool // what has no form of its own, at a place for words, is told from them by statistics
	family               contract.Family
	secret               planted
	written              string
	entries              []transcript.Entry
}

func (tr trial) String() string {
	return fmt.Sprintf("trial %d: %s, %s, %s, %s", tr.number, tr.kind, tr.writing, tr.place, tr.family)
}

// TestLeak plants made-up secrets of every kind, in every writing, at every place of every family. Each must be gone from the
// transcript and everything made of it, or the run must have been stopped, by an error that does not name it. Only a random
// value without a form of its own, at a place where any identifier may stand, is told by statistics, within the bound below.
func TestLeak(t *testing.T) {
	policies := map[contract.Family]redact.Policy{}
	var families []contract.Family
	for _, f := range contract.Family("").Values() {
		families = append(families, contract.Family(f))
		policies[contract.Family(f)] = leakPolicy(t, contract.Family(f))
	}
	rng := rand.New(rand.NewPCG(*leakSeed, 0))
	r := drawer(rng)
	dir := t.TempDir()
	stopped, survived, guessed, missed := 0, 0, 0, 0
	for i := range *leaks {
		// Each list goes round at its own pace, from a random start, so that a long run meets all combinations.
		tr := trial{number: i, family: families[rng.IntN(len(families))]}
		kind, writing := kinds[i%len(kinds)], writings[rng.IntN(len(writings))]
		places := jsonPlaces
		if tr.family == contract.FamilyPlain {
			places = plainPlaces
		}
		place := places[rng.IntN(len(places))]
		tr.kind, tr.writing, tr.place, tr.cut = kind.name, writing.name, place.name, place.cut
		tr.guessed = place.words && (place.cut || !kind.scan)
		tr.secret = kind.make(r)
		tr.written = writing.write(tr.secret.text, r)
		tr.entries = place.plant(tr.written, rng)
		if tr.family.IsRPC() {
			asFrames(tr.entries, rng)
		}
		tr.entries = append(tr.entries, transcript.Entry{Dir: contract.FromProcess, Event: contract.EventExit, ExitCode: new(int)})
		leaked, failed := tr.run(t, policies[tr.family], dir)
		if failed {
			stopped++
		}
		if tr.guessed {
			guessed++
		}
		if leaked != "" && tr.guessed {
			missed++
			t.Logf("%v: a piece of it reads like words in %s", tr, leaked)
			continue
		}
		if leaked != "" {
			if survived++; survived <= 40 {
				t.Errorf("%v: survives in %s; run it with -leaks %d -leakseed %d", tr, leaked, *leaks, *leakSeed)
			}
		}
	}
	t.Logf("%d secrets planted, seed %d: %d runs were stopped, %d survived; of %d that statistics must tell from words %d were not", *leaks, *leakSeed, stopped, survived, guessed, missed)
	if missed > 1+guessed/500 {
		t.Errorf("%d of %d random values passed for words, 1 in 500 may", missed, guessed)
	}
	if stopped == *leaks {
		t.Error("every run was stopped: the bench proves nothing about what is written")
	}
}

// asFrames makes RPC frames, of either direction, of the entries that are whole objects.
func asFrames(entries []transcript.Entry, rng *rand.Rand) {
	for i, e := range entries {
		if text := bytes.TrimSpace(e.Data); len(text) > 0 && text[0] == '{' && jsontext.Value(text).IsValid() { // a name twice is no frame

			entries[i] = transcript.Entry{Dir: contract.CLIToServer, Stream: contract.Stdout, Frame: text}
			if rng.IntN(2) == 0 {
				entries[i].Dir, entries[i].Stream = contract.ServerToCLI, contract.Stdin
			}
		}
	}
}

// run redacts the trial and names the artifact in which the secret is still to be found, if any.
func (tr trial) run(t *testing.T, p redact.Policy, dir string) (leaked string, stopped bool) {
	t.Helper()
	rec, err := transcript.NewRecorder(dir)
	if err != nil {
		t.Fatal(err)
	}
	rec.Record(transcript.Entry{Dir: contract.FromProcess, Event: contract.EventSpawn})
	entries := tr.entries
	if tr.family.IsRPC() {
		entries = inFrames(entries)
	}
	for i, e := range entries {
		e.AtMs = int64(i)
		rec.Record(e)
	}
	raw, err := rec.Finish()
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() //nolint:errcheck // an unlinked spool
	s, err := redact.Redact(raw, p, dir)
	if err != nil {
		if tr.in([]byte(fmt.Sprintf("%v %#v", err, err))) {
			return "the error", true
		}
		return "", true
	}
	defer s.Close() //nolint:errcheck // an unlinked spool
	var out bytes.Buffer
	if err := s.WriteJSONL(&out); err != nil {
		t.Fatal(err)
	}
	if tr.in(out.Bytes()) {
		return "the transcript", false
	}
	got, err := shape.Of(s)
	if err != nil {
		t.Fatalf("%v: %v", tr, err)
	}
	data, err := json.Marshal(map[string]any{"shape": got, "keys": s.OpaqueKeys(), "class": s.StderrClass()})
	if err != nil {
		t.Fatal(err)
	}
	if tr.in(data) {
		return "the shape", false
	}
	again, err := redact.Read(bytes.NewReader(out.Bytes()), p, dir)
	if err != nil {
		t.Errorf("%v: what redaction wrote is refused when it is read: %v", tr, err)
		return "", false
	}
	_ = again.Close()
	return "", false
}

// inFrames makes frames of the lines that are some, by turns the host's and the CLI's.
func inFrames(entries []transcript.Entry) []transcript.Entry {
	out := []transcript.Entry{{Dir: contract.ServerToCLI, Stream: contract.Stdin, Frame: []byte(`{"type":"start"}`)}}
	var lines protocol.Lines
	var doc protocol.Document
	onLine := func(line []byte) error {
		frame, ok := protocol.ParseFrame(contract.FamilyPiRPC, &doc, line) // takes any object
		switch {
		case !ok:
			out = append(out, transcript.Entry{Dir: contract.CLIToServer, Stream: contract.Stdout, Data: bytes.Clone(line)})
		case len(out)%2 == 0:
			out = append(out, transcript.Entry{Dir: contract.ServerToCLI, Stream: contract.Stdin, Frame: frame})
		default:
			out = append(out, transcript.Entry{Dir: contract.CLIToServer, Stream: contract.Stdout, Frame: frame})
		}
		return nil
	}
	for _, e := range entries {
		if e.Stream == contract.Stdout && e.Data != nil {
			_ = lines.Feed(e.Data, onLine) // onLine never fails, and no line is that long
			continue
		}
		_ = lines.Flush(onLine)
		out = append(out, e)
	}
	_ = lines.Flush(onLine)
	return out
}

// How many consecutive bytes of a secret's core count as the secret. Where a value is cut into words that could be any, the
// first two words are not yet told from others.
const (
	window    = 8
	cutWindow = 12
)

// in reports whether a piece of the secret is in the artifact: as it was written, as it is, or cut into pieces.
func (tr trial) in(artifact []byte) bool {
	texts := []string{strings.ToLower(string(artifact)), joinedStrings(artifact)}
	for _, text := range texts {
		for _, want := range []string{tr.secret.core, tr.written} {
			want = strings.ToLower(want)
			n := min(window, len(want))
			if tr.cut {
				n = max(n, min(cutWindow, len(want)))
			}
			if want == strings.ToLower(tr.written) {
				n = min(24, len(want)) // parts of it, such as "https://", are no secret
			}
			for i := 0; i+n <= len(want); i++ {
				if strings.Contains(text, want[i:i+n]) {
					return true
				}
			}
		}
	}
	return false
}

// joinedStrings decodes every JSON string of the artifact and joins what is no placeholder, keys and values apart.
func joinedStrings(artifact []byte) string {
	var keys, values strings.Builder
	for _, line := range bytes.Split(artifact, []byte("\n")) {
		var v any
		if json.Unmarshal(line, &v) == nil {
			joinStrings(v, &keys, &values)
		}
	}
	return strings.ToLower(keys.String() + "\n" + values.String())
}

func joinStrings(v any, keys, values *strings.Builder) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			keys.WriteString(k)
			joinStrings(e, keys, values)
		}
	case []any:
		for _, e := range v {
			joinStrings(e, keys, values)
		}
	case string:
		var inner any
		if json.Unmarshal([]byte(v), &inner) == nil {
			joinStrings(inner, keys, values)
		} else if v != "stdout" && v != "cli->server" && v != "text" {
			values.WriteString(v)
		}
	case float64:
		values.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
	}
}
