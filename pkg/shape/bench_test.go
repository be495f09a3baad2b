package shape_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/open-design/agent-cli-contracts/internal/usage"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// benchDialect reads frames like those of the big agent CLIs.
var benchDialect = contract.Dialect{
	Name:        "bench",
	EventType:   []contract.EventTypeRule{{Path: "$.type", Then: "$.item.type"}},
	Opaque:      []string{"$.item.arguments", "$.message.content[tool_use].input"},
	Maps:        []string{"$.model_usage"},
	Unions:      []contract.UnionRule{{Path: "$.message.content", Key: "type"}},
	Numbers:     []string{"$.usage.*", "$.item.exit_code"},
	Diagnostics: []string{"$.error.message"},
	Session:     "session.started",
	Pairs:       []contract.PairRule{{Open: "item.started/command_execution", Close: "item.completed/command_execution", ID: "$.item.id"}},
	Events:      []contract.EventRule{},
}

// agentLines gives lines of five kinds, about 800 bytes on average, each with ids, texts and paths of its own.
func agentLines(rng *rand.Rand, n int) [][]byte {
	session := uuid(rng)
	lines := make([][]byte, 0, n)
	for i := range n {
		var line string
		switch i % 5 {
		case 0:
			line = fmt.Sprintf(`{"type":"assistant","message":{"id":"msg_%s","type":"message","role":"assistant","model":"loop-model-1","content":[{"type":"text","text":%q}],"stop_reason":null,"stop_sequence":null,`+
				`"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d,"service_tier":"standard"}},"parent_tool_use_id":null,"session_id":"%s","uuid":"%s"}`,
				base62(rng, 24), prose(rng, 420), rng.IntN(90000), rng.IntN(9000), rng.IntN(90000), rng.IntN(900), session, uuid(rng))
		case 1:
			line = fmt.Sprintf(`{"type":"assistant","message":{"id":"msg_%s","type":"message","role":"assistant","model":"loop-model-1","content":[{"type":"tool_use","id":"call_%s","name":"Write","input":{"file_path":"%s","content":%q}}],"stop_reason":"tool_use","stop_sequence":null,`+
				`"usage":{"input_tokens":%d,"output_tokens":%d,"service_tier":"standard"}},"parent_tool_use_id":null,"session_id":"%s","uuid":"%s"}`,
				base62(rng, 24), base62(rng, 24), path(rng), code(rng, 400), rng.IntN(90000), rng.IntN(900), session, uuid(rng))
		case 2:
			line = fmt.Sprintf(`{"type":"item.started","item":{"id":"item_%d","type":"command_execution","command":"bash -lc 'sed -n 1,%dp %s'","aggregated_output":"","exit_code":null,"status":"in_progress"}}`, i, rng.IntN(900), path(rng))
		case 3:
			line = fmt.Sprintf(`{"type":"item.completed","item":{"id":"item_%d","type":"command_execution","command":"bash -lc 'sed -n 1,%dp %s'","aggregated_output":%q,"exit_code":0,"status":"completed"}}`, i-1, rng.IntN(900), path(rng), code(rng, 1100))
		case 4:
			line = fmt.Sprintf(`{"type":"item.completed","item":{"id":"item_%d","type":"file_change","changes":[{"path":"%s","kind":"update"},{"path":"%s","kind":"add"}],"status":"completed"},"timestamp":"2026-05-%02dT10:%02d:%02d.%03dZ","duration_ms":%d,"summary":%q}`,
				i, path(rng), path(rng), 1+rng.IntN(28), rng.IntN(60), rng.IntN(60), rng.IntN(1000), rng.IntN(100000), prose(rng, 500))
		}
		lines = append(lines, []byte(line+"\n"))
	}
	return lines
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func base62(rng *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[rng.IntN(len(letters))]
	}
	return string(b)
}

func uuid(rng *rand.Rand) string {
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", rng.Uint32(), rng.IntN(1<<16), rng.IntN(1<<12), rng.IntN(1<<12), rng.Uint64N(1<<48))
}

func path(rng *rand.Rand) string {
	return fmt.Sprintf("/srv/work/project/src/%s/%s.go", word(rng), word(rng))
}

func word(rng *rand.Rand) string {
	b := make([]byte, 3+rng.IntN(8))
	for i := range b {
		b[i] = letters[rng.IntN(26)]
	}
	return string(b)
}

func prose(rng *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(word(rng))
		b.WriteString([]string{" ", " ", " ", ", ", ". ", "\n\n", " `"}[rng.IntN(7)])
	}
	return b.String()
}

func code(rng *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "\tif %s := %s(\"%s\"); err != nil {\n\t\treturn %d\n\t}\n", word(rng), word(rng), word(rng), rng.IntN(1000))
	}
	return b.String()
}

// record puts lines into a raw transcript in chunks as pipes give them.
func record(tb testing.TB, dir string, lines func(yield func([]byte) bool)) *transcript.Raw {
	rec, err := transcript.NewRecorder(dir)
	if err != nil {
		tb.Fatal(err)
	}
	rec.Record(transcript.Entry{Dir: contract.FromProcess, Event: contract.EventSpawn})
	var chunk []byte
	at := int64(0)
	flush := func() {
		at++
		rec.Record(transcript.Entry{Dir: contract.CLIToServer, Stream: contract.Stdout, AtMs: at, Data: chunk})
		chunk = chunk[:0]
	}
	for line := range lines {
		if chunk = append(chunk, line...); len(chunk) > 4096 {
			flush()
		}
	}
	flush()
	zero := 0
	rec.Record(transcript.Entry{Dir: contract.FromProcess, Event: contract.EventExit, AtMs: at + 1, ExitCode: &zero})
	raw, err := rec.Finish()
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func benchPolicy(tb testing.TB, src contract.Dialect) redact.Policy {
	d, err := protocol.Compile(src)
	if err != nil {
		tb.Fatal(err)
	}
	scanner, err := scan.New(scan.Config{Canaries: []string{"canary-FAKE-7Q2Z-one", "canary-FAKE-7Q2Z-two"}, Known: []scan.Known{{Value: "fakeuser", Kind: "user", TokenOnly: true}, {Value: "/srv/fake/run-folder", Kind: "run-folder"}}})
	if err != nil {
		tb.Fatal(err)
	}
	literals := []string{"Reply with one sentence.", "The probe was received.", "notes.txt"}
	templates, err := redact.CompileTemplates(nil, literals)
	if err != nil {
		tb.Fatal(err)
	}
	return redact.Policy{Family: "json-event-stream/v1", Transport: "jsonl", Dialect: d, Literals: literals, Vocabulary: []string{"loop-model-1", "Write"}, Templates: templates,
		Cwd: []string{"/srv/work/project"}, Home: []string{"/srv/work/home"}, Scanner: scanner}
}

func normalize(tb testing.TB, raw *transcript.Raw, p redact.Policy, dir string) *shape.Result {
	s, err := redact.Redact(raw, p, dir)
	if err != nil {
		tb.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the spool has no name
	res, err := shape.Of(s)
	if err != nil {
		tb.Fatal(err)
	}
	return res
}

func benchmarkLines(b *testing.B, src contract.Dialect, lines [][]byte) {
	dir := b.TempDir()
	size := 0
	raw := record(b, dir, func(yield func([]byte) bool) {
		for _, l := range lines {
			if size += len(l); !yield(l) {
				return
			}
		}
	})
	defer raw.Close() //nolint:errcheck // the spool has no name
	p := benchPolicy(b, src)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	start := usage.CPU()
	n := 0
	for b.Loop() {
		normalize(b, raw, p, dir)
		n++
	}
	if spent := usage.CPU() - start; spent > 0 {
		b.ReportMetric(float64(n)*float64(size)/1e6/spent.Seconds(), "cpu-MB/s")
	}
}

// BenchmarkDistinct is an agent's stream in which no line repeats.
func BenchmarkDistinct(b *testing.B) {
	benchmarkLines(b, benchDialect, agentLines(rand.New(rand.NewPCG(1, 2)), 20_000))
}

// BenchmarkDistinctDeltas is the same under a dialect that joins deltas, which needs a look ahead.
func BenchmarkDistinctDeltas(b *testing.B) {
	d := benchDialect
	d.Deltas = []string{"$.delta.text"}
	benchmarkLines(b, d, agentLines(rand.New(rand.NewPCG(1, 2)), 20_000))
}

// BenchmarkRepeated is a stream of few lines that come again and again.
func BenchmarkRepeated(b *testing.B) {
	lines := agentLines(rand.New(rand.NewPCG(1, 2)), 50)
	var all [][]byte
	for range 400 {
		all = append(all, lines...)
	}
	benchmarkLines(b, benchDialect, all)
}

// BenchmarkTokens is a stream of short deltas: one structure, every line with an id and a text of its own.
func BenchmarkTokens(b *testing.B) {
	d := benchDialect
	d.Deltas = []string{"$.event.delta.text"}
	rng := rand.New(rand.NewPCG(1, 2))
	session := uuid(rng)
	var lines [][]byte
	for range 40_000 {
		lines = append(lines, fmt.Appendf(nil, `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" %s"}},"session_id":"%s","parent_tool_use_id":null,"uuid":"%s"}`+"\n", word(rng), session, uuid(rng)))
	}
	benchmarkLines(b, d, lines)
}

// BenchmarkMemory normalizes 200 MB of distinct lines and reports the highest heap that was seen.
func BenchmarkMemory(b *testing.B) {
	const size = 200 << 20
	dir := b.TempDir()
	p := benchPolicy(b, benchDialect)
	raw := record(b, dir, func(yield func([]byte) bool) {
		for seed, written := uint64(0), 0; written < size; seed++ {
			for _, l := range agentLines(rand.New(rand.NewPCG(seed, 3)), 1000) {
				if written += len(l); !yield(l) {
					return
				}
			}
		}
	})
	defer raw.Close() //nolint:errcheck // the spool has no name
	b.SetBytes(size)
	runtime.GC()
	for b.Loop() {
		done, peak := make(chan struct{}), make(chan uint64)
		go func() {
			var most uint64
			for {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapInuse+m.StackInuse)
				select {
				case <-done:
					peak <- most
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		}()
		normalize(b, raw, p, dir)
		close(done)
		b.ReportMetric(float64(<-peak)/1e6, "peak-heap-MB")
	}
	b.ReportMetric(float64(usage.PeakRSS())/1e6, "peak-rss-MB")
}
