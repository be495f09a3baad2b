package protocol

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// child is the far side of the pipes: a goroutine in a process's place.
type child struct {
	stdin          io.Reader
	stdout, stderr io.WriteCloser
	exit           func()          // the process itself ends; its pipes may stay open
	driven         <-chan struct{} // closed when the drive is over
}

// exitAll ends the process and closes what it held.
func (c *child) exitAll() {
	_ = c.stdout.Close()
	_ = c.stderr.Close()
	c.exit()
}

type outcome struct {
	stop    Stop
	entries []transcript.Entry
	stdin   string // what the child could read until its stdin was closed
}

// run drives a child; after a stop that is not its own end the pipes are broken, as a kill does.
func run(t *testing.T, ctx context.Context, s Stream, play func(*child)) outcome {
	t.Helper()
	rec, err := transcript.NewRecorder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	errR, errW := io.Pipe()
	exited := make(chan struct{})
	var once sync.Once
	var seen bytes.Buffer
	driven := make(chan struct{})
	c := &child{driven: driven, stdin: io.TeeReader(inR, &seen), stdout: outW, stderr: errW, exit: func() { once.Do(func() { close(exited) }) }}
	s.Start, s.Rec, s.Exited = time.Now(), rec, exited
	var done sync.WaitGroup
	done.Go(func() { play(c) })
	finished := make(chan outcome, 1)
	go func() {
		stop, err := s.Drive(ctx, Pipes{Stdin: inW, Stdout: outR, Stderr: errR})
		if err != nil {
			t.Error(err)
		}
		finished <- outcome{stop: stop}
	}()
	var o outcome
	select {
	case o = <-finished:
	case <-time.After(20 * time.Second):
		t.Fatal("the drive hangs")
	}
	close(driven)
	for _, p := range []io.Closer{inR, outR, errR} {
		_ = p.Close()
	}
	done.Wait()
	raw, err := rec.Finish()
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() //nolint:errcheck // the spool has no name
	err = raw.Each(func(e transcript.Entry) error {
		e.Data = bytes.Clone(e.Data)
		o.entries = append(o.entries, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	o.stdin = seen.String()
	return o
}

func (o outcome) text(stream contract.StreamName) string {
	var b strings.Builder
	for _, e := range o.entries {
		if e.Stream == stream {
			b.Write(e.Data)
		}
	}
	return b.String()
}

func write(w io.Writer, s string) { _, _ = io.WriteString(w, s) }

func TestDriveStdinModes(t *testing.T) {
	tests := []struct {
		mode  contract.StdinMode
		stdin string
		ref   bool
	}{
		{contract.StdinNone, "", false},
		{contract.StdinPromptFile, "", false},
		{contract.StdinTextPrompt, "the prompt", true},
	}
	for _, tt := range tests {
		t.Run(string(tt.mode), func(t *testing.T) {
			o := run(t, context.Background(), Stream{Mode: tt.mode, Prompt: []byte("the prompt")}, func(c *child) {
				_, _ = io.ReadAll(c.stdin) // ends only when stdin is closed
				write(c.stderr, "note\n")
				write(c.stdout, "one\ntwo")
				c.exitAll()
			})
			if o.stop != StopEOF || o.stdin != tt.stdin {
				t.Errorf("stop %s, stdin %q", o.stop, o.stdin)
			}
			if o.text(contract.Stdout) != "one\ntwo" || o.text(contract.Stderr) != "note\n" {
				t.Error("output is not byte-exact")
			}
			var refs []string
			for _, e := range o.entries {
				if e.Dir == contract.ServerToCLI {
					refs = append(refs, e.Ref+string(e.Data))
				}
			}
			want := []string(nil)
			if tt.ref {
				want = []string{"prompt"}
			}
			if diff := cmp.Diff(want, refs); diff != "" {
				t.Errorf("stdin entries (-want +got):\n%s", diff)
			}
			if tt.ref && o.entries[0].Ref != "prompt" {
				t.Error("the prompt does not come first")
			}
		})
	}
}

func TestDriveRefusesRPC(t *testing.T) {
	s := Stream{Mode: contract.StdinRPC}
	if _, err := s.Drive(context.Background(), Pipes{}); !errors.Is(err, ErrStdinMode) {
		t.Errorf("got %v, want ErrStdinMode", err)
	}
}

// TestDriveOpenStdin holds stdin open until the frame that ends the turn, however it is cut.
func TestDriveOpenStdin(t *testing.T) {
	o := run(t, context.Background(), Stream{Mode: contract.StdinJSONLOpen, Prompt: []byte("{}\n"), Turn: testReader(t, testDialect), Limits: Limits{Total: 10 * time.Second}}, func(c *child) {
		line := make([]byte, 3)
		_, _ = io.ReadFull(c.stdin, line)
		closed := make(chan struct{})
		go func() { _, _ = io.ReadAll(c.stdin); close(closed) }()
		write(c.stdout, "{\"type\":\"start\"}\nnoise\n{\"type\":\"bye\"}\n{\"type\":")
		select {
		case <-closed:
			t.Error("stdin was closed before the turn ended")
		case <-time.After(60 * time.Millisecond):
		}
		write(c.stdout, "\"end\"}\n")
		<-closed
		c.exitAll()
	})
	if o.stop != StopEOF || o.stdin != "{}\n" {
		t.Errorf("stop %s, stdin %q", o.stop, o.stdin)
	}
}

func TestDriveLimits(t *testing.T) {
	const short = 80 * time.Millisecond
	cancelled, cancel := context.WithCancel(context.Background())
	time.AfterFunc(short, cancel)
	defer cancel()
	silent := func(c *child) { _, _ = io.ReadAll(c.stdin); _, _ = c.stdout.Write(nil) }
	// talks writes until the pipe breaks.
	talks := func(c *child) {
		for {
			if _, err := io.WriteString(c.stdout, "x\n"); err != nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	tests := []struct {
		name    string
		ctx     context.Context
		limits  Limits
		play    func(*child)
		want    Stop
		timeout bool
	}{
		{"total", nil, Limits{Total: short, FirstByte: time.Minute, Inactivity: time.Minute}, talks, StopTotal, true},
		{"first byte", nil, Limits{Total: time.Minute, FirstByte: short}, silent, StopFirstByte, true},
		{"output on stderr is a first byte", nil, Limits{Total: 4 * short, FirstByte: short}, func(c *child) { write(c.stderr, "x"); silent(c) }, StopTotal, true},
		{"inactivity", nil, Limits{Total: time.Minute, FirstByte: time.Minute, Inactivity: short}, func(c *child) { write(c.stdout, "x"); silent(c) }, StopInactivity, true},
		{"output", nil, Limits{Total: time.Minute, MaxOutput: 100}, func(c *child) {
			write(c.stderr, strings.Repeat("e", 60))
			write(c.stdout, strings.Repeat("o", 60))
			for range 100 {
				write(c.stdout, strings.Repeat("x", 1000))
			}
		}, StopOutput, false},
		{"cancelled", cancelled, Limits{Total: time.Minute}, silent, StopCancelled, false},
		{"prompt that nobody reads", nil, Limits{Total: short}, func(c *child) { _, _ = c.stdout.Write(nil) }, StopTotal, true},
		{"pipes held after the exit", nil, Limits{Total: time.Minute, FirstByte: time.Minute, Drain: short}, func(c *child) { write(c.stdout, "x"); c.exit() }, StopHeld, false},
		{"silence after the exit is no fault", nil, Limits{Total: time.Minute, FirstByte: short / 4, Inactivity: short / 4, Drain: 4 * short}, func(c *child) {
			c.exit()
			time.Sleep(2 * short)
			write(c.stdout, "late")
			c.exitAll()
		}, StopEOF, false},
		{"pipes held without a drain", nil, Limits{Total: 3 * short, FirstByte: short / 4}, func(c *child) { c.exit() }, StopTotal, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx := tt.ctx
			if ctx == nil {
				ctx = context.Background()
			}
			o := run(t, ctx, Stream{Mode: contract.StdinTextPrompt, Prompt: bytes.Repeat([]byte("p"), 1<<20), Limits: tt.limits}, tt.play)
			if o.stop != tt.want || o.stop.Timeout() != tt.timeout {
				t.Errorf("stop %s, want %s", o.stop, tt.want)
			}
			if n := len(o.text(contract.Stdout)) + len(o.text(contract.Stderr)); tt.want == StopOutput && (n < 100 || n > 100+64<<10) {
				t.Errorf("%d bytes were recorded", n)
			}
		})
	}
}

// TestDriveEarlyExit is a child that ends without having read a long prompt.
func TestDriveEarlyExit(t *testing.T) {
	o := run(t, context.Background(), Stream{Mode: contract.StdinTextPrompt, Prompt: bytes.Repeat([]byte("p"), 1<<20)}, func(c *child) {
		write(c.stderr, "usage: …\n")
		c.exitAll()
	})
	if o.stop != StopEOF || o.text(contract.Stderr) != "usage: …\n" {
		t.Errorf("stop %s", o.stop)
	}
}

// A child that waits for the end of an open standard input waits until its host gives up.
func TestDriveKeepsStdinOpen(t *testing.T) {
	s := Stream{Mode: contract.StdinTextPrompt, Prompt: []byte("hello"), KeepOpen: true, Limits: Limits{FirstByte: 100 * time.Millisecond}}
	o := run(t, context.Background(), s, func(c *child) {
		_, _ = io.ReadAll(c.stdin)
		c.exitAll()
	})
	if o.stop != StopFirstByte || o.stdin != "hello" {
		t.Errorf("stop %s after %q", o.stop, o.stdin)
	}
}

// The same where the end of the turn would close it.
func TestDriveKeepsStdinOpenBehindTheTurn(t *testing.T) {
	s := Stream{Mode: contract.StdinJSONLOpen, Prompt: []byte("{}\n"), Turn: testReader(t, testDialect), KeepOpen: true, Limits: Limits{Inactivity: 100 * time.Millisecond}}
	o := run(t, context.Background(), s, func(c *child) {
		write(c.stdout, "{\"type\":\"end\"}\n")
		_, _ = io.ReadAll(c.stdin)
		c.exitAll()
	})
	if o.stop != StopInactivity {
		t.Errorf("stop %s", o.stop)
	}
}

// The first silence is the host's word, the second its end.
func TestDriveSilence(t *testing.T) {
	t.Parallel()
	calls := 0
	words := make(chan struct{}, 1)
	// A busy machine must not make a second silence of the answer.
	o := run(t, context.Background(), Stream{Mode: contract.StdinNone, Limits: Limits{Inactivity: 2 * time.Second}, Silent: func() { calls++; words <- struct{}{} }}, func(c *child) {
		write(c.stdout, "one\n")
		<-words
		write(c.stdout, "two\n")
		c.exitAll()
	})
	if o.stop != StopEOF || calls != 1 || o.text(contract.Stdout) != "one\ntwo\n" {
		t.Errorf("stop %s after %d calls, output %q", o.stop, calls, o.text(contract.Stdout))
	}
	calls = 0
	o = run(t, context.Background(), Stream{Mode: contract.StdinNone, Limits: Limits{Inactivity: 100 * time.Millisecond}, Silent: func() { calls++ }}, func(c *child) {
		write(c.stdout, "one\n")
		<-c.driven
		c.exitAll()
	})
	if o.stop != StopInactivity || calls != 1 {
		t.Errorf("stop %s after %d calls", o.stop, calls)
	}
}
