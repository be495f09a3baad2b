package shape_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// FuzzOf: whatever a CLI prints, its shape is a valid record, and the published transcript has the same shape as the run.
func FuzzOf(f *testing.F) {
	for _, line := range agentLines(rand.New(rand.NewPCG(5, 6)), 10) {
		f.Add(line, []byte("err\n"), 0)
	}
	f.Add([]byte("noise\n{\"type\":\"a\",\"list\":[{},{\"x\":1}]}\nnoise\n{\"type\":\"a\",\"list\":[]}\n\"text\"\nnoise"), []byte(""), 1)
	f.Add([]byte(`{"type":"x","type":"y","delta":{"text":"a","text":1}}`+"\n[]\n[[]]\n{}\n"), []byte("x"), -1)
	d := benchDialect
	d.Deltas = []string{"$.delta.text"}
	d.Terminal = contract.Terminal{Events: []string{"done"}, PerTurn: 1}
	d.Ambient = []contract.AmbientRule{{EventType: "a", Path: "$.list", Reason: "r"}, {EventType: "ping", Reason: "r"}}
	p := benchPolicy(f, d)
	f.Fuzz(func(t *testing.T, stdout, stderr []byte, code int) {
		if len(stdout)+len(stderr) > 1<<14 {
			return
		}
		code &= 0xff
		dir := t.TempDir()
		rec, err := transcript.NewRecorder(dir)
		if err != nil {
			t.Fatal(err)
		}
		rec.Record(transcript.Entry{Dir: contract.CLIToServer, Stream: contract.Stdout, Data: stdout})
		rec.Record(transcript.Entry{Dir: contract.CLIToServer, Stream: contract.Stderr, Data: stderr})
		rec.Record(transcript.Entry{Dir: contract.FromProcess, Event: contract.EventExit, ExitCode: &code})
		raw, err := rec.Finish()
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		clean, err := redact.Redact(raw, p, dir)
		var failure *redact.Failure
		if errors.As(err, &failure) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		defer clean.Close()
		first, err := shape.Of(clean)
		if err != nil {
			return // more event types than a protocol has
		}
		data, err := contract.Marshal(first.Shape)
		if err != nil {
			t.Fatal(err)
		}
		if problems := contract.Validate(contract.KindShape, "x.shape.json", data); len(problems) > 0 {
			t.Fatalf("no valid record: %v", problems)
		}
		var file bytes.Buffer
		if err := clean.WriteJSONL(&file); err != nil {
			t.Fatal(err)
		}
		public, err := redact.Read(&file, p, dir)
		if err != nil {
			t.Fatal(err)
		}
		defer public.Close()
		second, err := shape.Of(public)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("the published transcript has another shape (-run +published)\n%s", diff)
		}
		if diff := shape.Diff(first.Shape, second.Shape); len(diff) > 0 {
			t.Fatalf("equal shapes differ: %v", diff)
		}
	})
}
