package protocol

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// Pipes are the open ends of a child's standard streams. Drive closes Stdin.
type Pipes struct {
	Stdin          io.WriteCloser
	Stdout, Stderr io.Reader
}

// Limits bound a run. Zero means no limit.
type Limits struct {
	// Total bounds the run, FirstByte the wait for any output, Inactivity the silence after that.
	Total, FirstByte, Inactivity time.Duration
	// Drain is how long the pipes may stay open after the process itself has ended: something that it started holds them.
	// It takes the place of the others then; without it only Total goes on.
	Drain time.Duration
	// Linger is how long a child of an RPC family may go on after its standard input has closed.
	Linger time.Duration
	// MaxOutput bounds standard output and error together, in bytes.
	MaxOutput int64
}

// Stop says why a drive ended.
type Stop string

// The reasons. After StopEOF the child ends by itself; after StopHeld it has ended, but what it started has not; after
// any other the caller kills it.
const (
	StopEOF        Stop = "eof"
	StopHeld       Stop = "pipes-held"
	StopTotal      Stop = "total-timeout"
	StopFirstByte  Stop = "first-byte-timeout"
	StopInactivity Stop = "inactivity-timeout"
	StopOutput     Stop = "output-limit"
	StopCancelled  Stop = "cancelled"
	// StopLingers says that the turn is over and standard input closed, and the child goes on.
	StopLingers Stop = "lingers"
)

// Timeout reports whether a time limit ended the drive.
func (s Stop) Timeout() bool {
	return s == StopTotal || s == StopFirstByte || s == StopInactivity
}

// Stream drives a child of a stream family: it writes the prompt as the mode says, records everything byte-exact, and
// watches the limits. Offsets count from start.
type Stream struct {
	Mode   contract.StdinMode
	Prompt []byte
	Limits Limits
	Start  time.Time
	// Turn reads standard output live, so that a jsonl-open stdin closes when the turn ends; nil elsewhere.
	Turn *Reader
	Rec  *transcript.Recorder
	// KeepOpen leaves standard input open after the prompt, and after the turn.
	KeepOpen bool
	// Silent, where set, is called once when the inactivity limit passes; the silence starts anew then.
	Silent func()
	// Exited is closed when the process itself has ended. Silence is no fault after that.
	Exited <-chan struct{}
}

// ErrStdinMode reports a mode that this family cannot drive.
var ErrStdinMode = errors.New("this stdin mode does not belong to a stream family")

// Drive returns when both output streams ended or a limit was hit. It does not wait for the process. After a limit its
// readers end as soon as the caller kills the child.
func (s *Stream) Drive(ctx context.Context, p Pipes) (Stop, error) {
	if s.Mode == contract.StdinRPC {
		return "", ErrStdinMode
	}
	d := &drive{Stream: s, stdin: p.Stdin, stopped: make(chan Stop, 8)}
	if s.Mode == contract.StdinTextPrompt || s.Mode == contract.StdinJSONLOpen {
		// Recorded before anything can answer, so that the order of entries does not depend on scheduling.
		s.Rec.Record(transcript.Entry{Dir: contract.ServerToCLI, Stream: contract.Stdin, AtMs: d.ms(), Ref: "prompt"})
	}
	var readers sync.WaitGroup
	stdout, stderr := d.pipes(p)
	readers.Go(func() { d.copy(stdout, contract.Stdout) })
	readers.Go(func() { d.copy(stderr, contract.Stderr) })
	// The prompt is written beside the readers: a child that never reads must not block the limits.
	go d.write()
	go func() {
		readers.Wait()
		d.stop(StopEOF)
	}()
	reason := d.wait(ctx)
	if reason != StopEOF {
		d.ended.Store(true)
	}
	return reason, nil
}

type drive struct {
	*Stream
	stdin   io.WriteCloser
	close   sync.Once
	stopped chan Stop
	size    atomic.Int64
	last    atomic.Int64 // offset of the last output, in nanoseconds; 0 before the first
	closed  atomic.Int64 // offset of the close of standard input of an RPC family
	ended   atomic.Bool
	held    []*heldPipe
	cut     atomic.Bool // a pipe was left while something held it
}

// pipes are the output streams, as streams that can be left.
func (d *drive) pipes(p Pipes) (stdout, stderr io.Reader) {
	d.held = []*heldPipe{{Reader: p.Stdout, cut: &d.cut}, {Reader: p.Stderr, cut: &d.cut}}
	return d.held[0], d.held[1]
}

// leave ends the readers with what the pipes hold; false where that cannot be done.
func (d *drive) leave() bool {
	all := true
	for _, p := range d.held {
		all = p.leave() && all
	}
	return all
}

func (d *drive) ms() int64 { return time.Since(d.Start).Milliseconds() }

func (d *drive) stop(reason Stop) {
	select {
	case d.stopped <- reason:
	default: // somebody has stopped it already
	}
}

func (d *drive) write() {
	if d.Mode == contract.StdinTextPrompt || d.Mode == contract.StdinJSONLOpen {
		// A child that closes its stdin early is an answer, not an error: the transcript shows what it did next.
		_, _ = d.stdin.Write(d.Prompt)
	}
	if d.Mode != contract.StdinJSONLOpen && !d.KeepOpen {
		d.closeStdin()
	}
}

func (d *drive) closeStdin() { d.close.Do(func() { _ = d.stdin.Close() }) }

func (d *drive) copy(r io.Reader, stream contract.StreamName) {
	buf := make([]byte, 64<<10)
	var lines Lines
	for {
		n, err := r.Read(buf)
		if n > 0 && !d.ended.Load() {
			d.last.Store(int64(time.Since(d.Start)) | 1)
			d.Rec.Record(transcript.Entry{Dir: contract.CLIToServer, Stream: stream, AtMs: d.ms(), Data: buf[:n]})
			if d.Limits.MaxOutput > 0 && d.size.Add(int64(n)) > d.Limits.MaxOutput {
				d.ended.Store(true)
				d.stop(StopOutput)
			}
			if d.Turn != nil && stream == contract.Stdout && d.Mode == contract.StdinJSONLOpen && !d.KeepOpen {
				_ = lines.Feed(buf[:n], d.turnLine)
			}
		}
		if err != nil {
			return
		}
	}
}

// turnLine closes stdin at the frame that ends the turn.
func (d *drive) turnLine(line []byte) error {
	f, err := d.Turn.Read(line)
	if err == nil && d.Turn.Dialect.Terminal(f.EventType) {
		d.closeStdin()
	}
	return err
}

// lastCall is how long readers may take for what a pipe holds; they are only kept from it by other work.
const lastCall = 20 * time.Second

func (d *drive) wait(ctx context.Context) Stop {
	defer d.closeStdin()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	exited := d.Exited
	gone, left := false, false
	var drained <-chan time.Time
	for {
		select {
		case reason := <-d.stopped:
			if reason == StopEOF && d.cut.Load() {
				return StopHeld
			}
			return reason
		case <-exited:
			exited, gone = nil, true
			if d.Limits.Drain > 0 {
				drained = time.After(d.Limits.Drain)
			}
		case <-drained:
			if left || !d.leave() {
				return d.unless(StopHeld)
			}
			// On a busy machine a reader may have slept all the time: what was printed before the end is in the pipes.
			left, drained = true, time.After(lastCall)
		case <-ctx.Done():
			return d.unless(StopCancelled)
		case <-tick.C:
			reason := d.overdue(gone)
			if reason == StopInactivity && d.Silent != nil {
				d.Silent()
				d.Silent, reason = nil, ""
				d.last.Store(int64(time.Since(d.Start)) | 1)
			}
			if reason != "" {
				return d.unless(reason)
			}
		}
	}
}

// overdue names the time limit that has passed, if any.
func (d *drive) overdue(gone bool) Stop {
	now, last := time.Since(d.Start), time.Duration(d.last.Load())
	switch {
	case gone && d.Limits.Drain > 0:
		return ""
	case d.Limits.Total > 0 && now > d.Limits.Total:
		return StopTotal
	case gone:
		return ""
	case d.closed.Load() > 0:
		// A child whose turn is over may be silent, but not for long.
		if d.Limits.Linger > 0 && now-time.Duration(d.closed.Load()) > d.Limits.Linger {
			return StopLingers
		}
		return ""
	case last == 0 && d.Limits.FirstByte > 0 && now > d.Limits.FirstByte:
		return StopFirstByte
	case last > 0 && d.Limits.Inactivity > 0 && now-last > d.Limits.Inactivity:
		return StopInactivity
	}
	return ""
}

// unless prefers an end that came at the same moment: what ended by itself was not stopped.
func (d *drive) unless(reason Stop) Stop {
	select {
	case earlier := <-d.stopped:
		return earlier
	default:
		return reason
	}
}
