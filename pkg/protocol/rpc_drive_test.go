package protocol

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// peer is an agent of ACP in a goroutine: it reads the host's frames line by line and writes what a test says.
type peer struct {
	*child
	lines *bufio.Scanner
}

func (p *peer) read() string {
	if !p.lines.Scan() {
		return ""
	}
	return p.lines.Text()
}

func (p *peer) say(format string, args ...any) { write(p.stdout, fmt.Sprintf(format, args...)+"\n") }

// open answers everything up to the prompt, which it reads.
func (p *peer) open() {
	p.read()
	p.say(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`)
	p.read()
	p.say(`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`)
	p.read()
}

const text = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}`
const ended = `{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}`

// close answers the prompt and leaves when standard input ends, as a good agent does.
func (p *peer) close() {
	p.say(ended)
	for p.read() != "" {
	}
	p.exitAll()
}

type rpcOutcome struct {
	stop    Stop
	err     error
	entries []transcript.Entry
}

// frames are the recorded frames of one side, and what is none in brackets.
func (o rpcOutcome) frames(dir contract.FrameDirection) []string {
	var out []string
	for _, e := range o.entries {
		switch {
		case e.Dir != dir || e.Stream == contract.Stderr:
		case e.Frame != nil:
			out = append(out, string(e.Frame))
		default:
			out = append(out, "["+string(e.Data)+"]")
		}
	}
	return out
}

// converse drives an agent. The pipes break when the drive has ended, as a kill does.
func converse(t testing.TB, profile string, turn Turn, limits Limits, play func(*peer)) rpcOutcome {
	t.Helper()
	return converseIn(t, contract.FamilyACP, profile, turn, limits, play)
}

func converseIn(t testing.TB, family contract.Family, profile string, turn Turn, limits Limits, play func(*peer)) rpcOutcome {
	t.Helper()
	rec, err := transcript.NewRecorder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	turn.Prompt, turn.Cwd = "hi", "/w"
	client, err := NewClient(family, loadClient(t, profile), turn)
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	errR, errW := io.Pipe()
	exited := make(chan struct{})
	var once sync.Once
	p := &peer{child: &child{stdin: inR, stdout: outW, stderr: errW, exit: func() { once.Do(func() { close(exited) }) }}, lines: bufio.NewScanner(inR)}
	var done sync.WaitGroup
	done.Go(func() { play(p) })
	finished := make(chan rpcOutcome, 1)
	r := &RPC{Family: family, Client: client, Limits: limits, Start: time.Now(), Rec: rec, Exited: exited}
	if turn.Host.Script != nil {
		r.Patience = 10 * time.Millisecond
	}
	go func() {
		stop, err := r.Drive(context.Background(), Pipes{Stdin: inW, Stdout: outR, Stderr: errR})
		finished <- rpcOutcome{stop: stop, err: err}
	}()
	var o rpcOutcome
	select {
	case o = <-finished:
	case <-time.After(30 * time.Second):
		t.Fatal("the drive hangs")
	}
	for _, c := range []io.Closer{inR, outR, errR} {
		_ = c.Close()
	}
	done.Wait()
	raw, err := rec.Finish()
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() //nolint:errcheck // the spool has no name
	err = raw.Each(func(e transcript.Entry) error {
		e.Data, e.Frame = bytes.Clone(e.Data), bytes.Clone(e.Frame)
		o.entries = append(o.entries, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

var patient = Limits{Total: 20 * time.Second, FirstByte: 20 * time.Second, Inactivity: 20 * time.Second, Linger: 20 * time.Second}

func TestRPCTurn(t *testing.T) {
	o := converse(t, "open-design", Turn{}, patient, func(p *peer) {
		write(p.stderr, "note\n")
		p.open()
		p.say("  { \"method\" : \"session/update\" , \"jsonrpc\":\"2.0\", \"params\":{ \"update\":{}} }\r")
		p.close()
	})
	if o.stop != StopEOF || o.err != nil {
		t.Fatal(o.stop, o.err)
	}
	// Frames are recorded as objects, whatever their spelling, and each answer stands behind what it answers.
	var order []string
	for _, e := range o.entries {
		if e.Stream != contract.Stderr {
			order = append(order, string(e.Dir))
		}
	}
	want := []string{"server->cli", "cli->server", "server->cli", "cli->server", "server->cli", "cli->server", "cli->server"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	got := o.frames(contract.CLIToServer)
	if got[2] != `{"method":"session/update","jsonrpc":"2.0","params":{"update":{}}}` {
		t.Error(got[2])
	}
}

func TestRPCNoise(t *testing.T) {
	o := converse(t, "open-design", Turn{}, patient, func(p *peer) {
		p.say("Loading…")
		p.say("")
		p.say(`{"level":"info"}`)
		p.open()
		p.say(`[1]`)
		p.say(`{"jsonrpc":"2.0","id":9,"result":1,"error":{"code":1,"message":"both"}}`)
		p.say(`{"jsonrpc":"2.0","method":"x","params":{"a":1,"a":2}}`)
		p.say("{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":\"\xff\"}}")
		p.close()
	})
	want := []string{
		"[Loading…\n]", "[{\"level\":\"info\"}\n]",
		`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`, `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`,
		"[[1]\n]", "[" + `{"jsonrpc":"2.0","id":9,"result":1,"error":{"code":1,"message":"both"}}` + "\n]",
		`{"jsonrpc":"2.0","method":"x","params":{"a":2}}`, "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":\"\uFFFD\"}}",
		ended,
	}
	if diff := cmp.Diff(want, o.frames(contract.CLIToServer)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if o.stop != StopEOF {
		t.Error(o.stop)
	}
}

func TestRPCStorm(t *testing.T) {
	const storm = 100_000
	o := converse(t, "open-design", Turn{}, patient, func(p *peer) {
		p.open()
		w := bufio.NewWriter(p.stdout)
		for range storm {
			_, _ = fmt.Fprintf(w, text+"\n", "x")
		}
		_ = w.Flush()
		p.close()
	})
	if got := len(o.frames(contract.CLIToServer)); got != storm+3 || o.stop != StopEOF {
		t.Error(got, o.stop)
	}
}

// An agent that asks without reading must not block its own output; one that goes on asking is stopped.
func TestRPCAsksWithoutReading(t *testing.T) {
	o := converse(t, "standard", Turn{}, patient, func(p *peer) {
		p.open()
		for i := range 5000 {
			p.say(`{"jsonrpc":"2.0","id":"%d","method":"terminal/create","params":{}}`, i)
		}
		for range 5000 {
			p.read()
		}
		p.close()
	})
	if got := len(o.frames(contract.ServerToCLI)); got != 5003 || o.stop != StopEOF {
		t.Error(got, o.stop)
	}
	long := strings.Repeat("i", 1<<20)
	o = converse(t, "standard", Turn{}, patient, func(p *peer) {
		p.open()
		for range 70 {
			p.say(`{"jsonrpc":"2.0","id":"%s","method":"terminal/create","params":{}}`, long)
		}
		p.exitAll()
	})
	if o.err == nil || o.stop != StopOutput {
		t.Error(o.stop, o.err)
	}
}

func TestRPCLargeFrame(t *testing.T) {
	large := strings.Repeat("x", 20<<20)
	o := converse(t, "open-design", Turn{}, patient, func(p *peer) {
		p.open()
		p.say(text, large)
		p.close()
	})
	got := o.frames(contract.CLIToServer)
	if len(got) != 4 || len(got[2]) < len(large) || o.stop != StopEOF {
		t.Error(len(got), o.stop)
	}
}

func TestRPCLineWithoutEnd(t *testing.T) {
	o := converse(t, "open-design", Turn{}, patient, func(p *peer) {
		chunk := strings.Repeat("x", 4<<20)
		for range MaxLine>>22 + 1 {
			write(p.stdout, chunk)
		}
		p.exitAll()
	})
	var long *LineTooLongError
	if !errors.As(o.err, &long) {
		t.Error(o.stop, o.err)
	}
}

// A host that has aborted leaves standard input open: the agent ends when its process is ended, not by itself.
func TestRPCAbortHoldsStdin(t *testing.T) {
	t.Parallel()
	turn := Turn{Host: contract.HostPolicy{CancelAt: contract.CancelAtPrompt}}
	limits := Limits{Total: 20 * time.Second, Inactivity: 20 * time.Second, Linger: 3 * time.Second}
	closed := false
	o := converseIn(t, contract.FamilyPiRPC, "open-design", turn, limits, func(p *peer) {
		p.read()
		p.read()
		p.say(`{"id":2,"type":"response","command":"abort","success":true}`)
		p.say(`{"type":"agent_end"}`)
		over := make(chan struct{})
		go func() { p.read(); close(over) }()
		select {
		case <-over: // well before the drive ends
			closed = true
		case <-time.After(200 * time.Millisecond):
			<-over
		}
	})
	if o.stop != StopLingers || closed {
		t.Error(o.stop, "standard input closed:", closed)
	}
	if got := o.frames(contract.CLIToServer); len(got) != 2 {
		t.Error("what the agent says after its host has done is recorded:", got)
	}
}

func TestRPCExitInMidFrame(t *testing.T) {
	for _, tt := range []struct{ last, want string }{
		{`{"jsonrpc":"2.0","method":"session/up`, `[{"jsonrpc":"2.0","method":"session/up]`},
		{ended, ended}, // whole, but for its newline
	} {
		o := converse(t, "open-design", Turn{}, patient, func(p *peer) {
			p.open()
			write(p.stdout, tt.last)
			p.exitAll()
		})
		got := o.frames(contract.CLIToServer)
		if len(got) != 3 || got[2] != tt.want || o.stop != StopEOF {
			t.Error(got, o.stop)
		}
	}
}

func TestRPCLimits(t *testing.T) {
	long, short := 20*time.Second, 200*time.Millisecond
	tests := map[Stop]struct {
		limits Limits
		play   func(*peer)
	}{
		// Half a frame, then silence.
		StopInactivity: {Limits{Total: long, Inactivity: short}, func(p *peer) { p.open(); write(p.stdout, `{"jsonrpc":`); p.read() }},
		// A launch flag was renamed: the agent waits for something else.
		StopFirstByte: {Limits{Total: long, FirstByte: short, Inactivity: long}, func(p *peer) { p.read(); p.read() }},
		// The turn is over and standard input closed, and the agent stays.
		StopLingers: {Limits{Total: long, Inactivity: long, Linger: short}, func(p *peer) { p.open(); p.say(ended); p.read() }},
		// An endless turn.
		StopTotal: {Limits{Total: short, Inactivity: long}, func(p *peer) { p.open(); p.read() }},
		StopOutput: {Limits{Total: long, MaxOutput: 1000}, func(p *peer) {
			p.open()
			for range 20 {
				p.say(text, "a lot")
			}
			p.read()
		}},
	}
	for want, tt := range tests {
		t.Run(string(want), func(t *testing.T) {
			t.Parallel()
			if o := converse(t, "open-design", Turn{}, tt.limits, tt.play); o.stop != want {
				t.Error(o.stop)
			}
		})
	}
}

// An agent that ends before its turn does is an answer.
func TestRPCExitsEarly(t *testing.T) {
	o := converse(t, "open-design", Turn{}, patient, func(p *peer) { p.exitAll() })
	if got := o.frames(contract.ServerToCLI); len(got) != 1 || o.stop != StopEOF {
		t.Error(got, o.stop)
	}
}

// A request of a script that nobody answers holds nothing up, and its answer may still come.
func TestRPCScriptWithoutAnswers(t *testing.T) {
	script := &contract.HostScript{Requests: []contract.HostRequest{{Method: "x/one", Params: map[string]any{}}, {Method: "x/two", Params: map[string]any{}}, {Method: "x/three", Params: map[string]any{}}}}
	o := converse(t, "open-design", Turn{Host: contract.HostPolicy{Script: script}}, patient, func(p *peer) {
		p.read()
		p.read() // one has no answer
		p.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		for p.read() != "" {
		}
		p.exitAll()
	})
	if o.stop != StopEOF || o.err != nil || len(o.frames(contract.ServerToCLI)) != 3 || len(o.frames(contract.CLIToServer)) != 1 {
		t.Errorf("%s %v: %v", o.stop, o.err, o.entries)
	}
}
