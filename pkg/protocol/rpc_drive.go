package protocol

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// maxQueued bounds the bytes that a child has not read yet. A child that asks and never reads is no peer.
const maxQueued = 64 << 20

// RPC drives a child of an RPC family: it speaks the host's side, and records the frames of both sides as objects,
// before they are written and after they were parsed. What is no frame is recorded as the bytes that it is.
type RPC struct {
	Family contract.Family
	Client Client
	Limits Limits
	// Patience is how long a client that can go on without an answer waits for one; without it, for ever.
	Patience time.Duration
	Start    time.Time
	Rec      *transcript.Recorder
	// Exited is closed when the process itself has ended.
	Exited <-chan struct{}
}

// Drive returns when both output streams ended or a limit was hit. It does not wait for the process.
func (r *RPC) Drive(ctx context.Context, p Pipes) (Stop, error) {
	d := &rpcDrive{
		drive: &drive{Stream: &Stream{Mode: contract.StdinRPC, Limits: r.Limits, Start: r.Start, Rec: r.Rec, Exited: r.Exited}, stdin: p.Stdin, stopped: make(chan Stop, 8)},
		RPC:   r, wake: make(chan struct{}, 1),
	}
	if r.Patience > 0 {
		d.talking.Lock() // the timer may be up at once
		d.patience = time.AfterFunc(r.Patience, d.unanswered)
		d.talking.Unlock()
		defer d.patience.Stop()
	}
	d.converse(r.Client.Start)
	var readers sync.WaitGroup
	stdout, stderr := d.pipes(p)
	readers.Go(func() { d.receive(stdout) })
	readers.Go(func() { d.copy(stderr, contract.Stderr) })
	// Frames are written beside the reader: a child that writes before it reads must not block either side.
	over := make(chan struct{})
	defer close(over)
	go d.send(over)
	go func() {
		readers.Wait()
		d.stop(StopEOF)
	}()
	reason := d.wait(ctx)
	if reason != StopEOF {
		d.ended.Store(true)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return reason, d.err
}

type rpcDrive struct {
	*drive
	*RPC
	doc      Document
	wake     chan struct{}
	patience *time.Timer // nil without a limit
	talking  sync.Mutex  // guards Client

	mu     sync.Mutex
	queue  [][]byte
	queued int
	finish bool // nothing more will be queued: the turn is over behind the queue
	err    error
}

// converse takes in the client's next frames. The time that it waits for their answers starts with them.
func (d *rpcDrive) converse(say func() [][]byte) {
	d.talking.Lock()
	defer d.talking.Unlock()
	frames := say()
	d.enqueue(frames)
	if d.patience != nil && len(frames) > 0 && !d.Client.Done() {
		d.patience.Reset(d.Patience)
	}
}

func (d *rpcDrive) unanswered() {
	if !d.ended.Load() {
		d.converse(d.Client.Unanswered)
	}
}

// enqueue records the host's frames and hands them to the writer.
func (d *rpcDrive) enqueue(frames [][]byte) {
	d.mu.Lock()
	for _, frame := range frames {
		d.drive.Rec.Record(transcript.Entry{Dir: contract.ServerToCLI, Stream: contract.Stdin, AtMs: d.ms(), Frame: frame})
		d.queue = append(d.queue, frame)
		d.queued += len(frame)
	}
	tooMuch := d.queued > maxQueued
	d.finish = d.finish || d.Client.Done()
	d.mu.Unlock()
	if tooMuch {
		d.fail(fmt.Errorf("the CLI has left more than %d bytes of frames unread: it asks without reading the answers", maxQueued))
	}
	select {
	case d.wake <- struct{}{}:
	default: // the writer has been woken already
	}
}

// send writes frames until the turn is over or the drive is. A child that closes its standard input early is an
// answer, not an error: the transcript shows what it did next.
func (d *rpcDrive) send(over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case <-d.wake:
		}
		for {
			d.mu.Lock()
			frames, finish := d.queue, d.finish
			d.queue = nil
			d.mu.Unlock()
			if len(frames) == 0 {
				if finish {
					if !d.Client.HoldsStdin() {
						d.closeStdin()
					}
					d.closed.CompareAndSwap(0, int64(time.Since(d.drive.Start))|1)
				}
				break
			}
			for _, frame := range frames {
				_, _ = d.stdin.Write(append(bytes.Clone(frame), '\n'))
				d.mu.Lock()
				d.queued -= len(frame)
				d.mu.Unlock()
			}
		}
	}
}

// receive reads frames and answers each before it reads the next, so that the order of a transcript is that of the
// conversation.
func (d *rpcDrive) receive(r io.Reader) {
	buf := make([]byte, 64<<10)
	var lines Lines
	for {
		n, err := r.Read(buf)
		if n > 0 && !d.ended.Load() {
			d.last.Store(int64(time.Since(d.drive.Start)) | 1)
			if d.drive.Limits.MaxOutput > 0 && d.size.Add(int64(n)) > d.drive.Limits.MaxOutput {
				d.ended.Store(true)
				d.stop(StopOutput)
			} else if err := lines.Feed(buf[:n], d.line); err != nil {
				d.fail(err)
			}
		}
		if err != nil {
			if !d.ended.Load() {
				_ = lines.Flush(d.line) // line never fails
			}
			return
		}
	}
}

// fail ends the drive with an error of its own.
func (d *rpcDrive) fail(err error) {
	d.mu.Lock()
	if d.err == nil {
		d.err = err
	}
	d.mu.Unlock()
	d.ended.Store(true)
	d.stop(StopOutput)
}

func (d *rpcDrive) line(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	e := transcript.Entry{Dir: contract.CLIToServer, Stream: contract.Stdout, AtMs: d.ms()}
	frame, ok := ParseFrame(d.Family, &d.doc, line)
	if !ok {
		e.Data = line
		d.drive.Rec.Record(e)
		return nil
	}
	e.Frame = frame
	d.converse(func() [][]byte {
		d.drive.Rec.Record(e)
		return d.Client.Receive(&d.doc)
	})
	return nil
}
