//go:build unix

package protocol

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// What the child wrote before its end is recorded, however late the readers are and although something holds the pipes.
func TestHeldPipesAreRead(t *testing.T) {
	for i := range 50 {
		rec, err := transcript.NewRecorder(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		var near, far [3]*os.File
		for j := range near {
			if near[j], far[j], err = os.Pipe(); err != nil {
				t.Fatal(err)
			}
		}
		text := bytes.Repeat([]byte("all of it\n"), 6000) // as much as a pipe holds
		for _, f := range far[1:] {
			if _, err := f.Write(text); err != nil {
				t.Fatal(err)
			}
		}
		exited := make(chan struct{})
		close(exited)
		s := Stream{Mode: contract.StdinNone, Limits: Limits{Total: time.Minute, Drain: 1}, Start: time.Now(), Rec: rec, Exited: exited}
		stop, err := s.Drive(t.Context(), Pipes{Stdin: far[0], Stdout: near[1], Stderr: near[2]})
		if err != nil || stop != StopHeld {
			t.Fatalf("%s, %v", stop, err)
		}
		raw, err := rec.Finish()
		if err != nil {
			t.Fatal(err)
		}
		sizes := map[contract.StreamName]int{}
		if err := raw.Each(func(e transcript.Entry) error {
			sizes[e.Stream] += len(e.Data)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if sizes[contract.Stdout] != len(text) || sizes[contract.Stderr] != len(text) {
			t.Fatalf("run %d: %v of %d bytes", i, sizes, len(text))
		}
		for _, f := range append(near[:], far[:]...) {
			_ = f.Close()
		}
		_ = raw.Close()
	}
}
