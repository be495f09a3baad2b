package recorder

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

const (
	// chunk is the most that one read takes, in bytes.
	chunk = 256 << 10
	// maxBuffers bounds what waits for the disk, in chunks.
	maxBuffers = 256
	// patience is how long a stream waits for a disk that does not keep up before the recording is given up.
	patience = time.Second
)

// ErrSlow says that the disk did not keep up with the stream: the recording was given up, the stream was not.
var ErrSlow = errors.New("the disk did not keep up with the stream, and the recording was given up")

// tape takes chunks from the relays and writes them to the spool beside them, so that no stream waits for the disk.
type tape struct {
	start    time.Time
	patience time.Duration
	record   func(transcript.Entry)
	queue    chan queued
	free     chan []byte
	tickets  atomic.Int32 // buffers that may still be made
	lost     atomic.Bool
}

// queued is an entry, or the end of the recording.
type queued struct {
	entry transcript.Entry
	end   chan<- struct{}
}

// newTape starts a tape that hands entries to record, one at a time.
func newTape(start time.Time, record func(transcript.Entry)) *tape {
	t := &tape{start: start, patience: patience, record: record, queue: make(chan queued, maxBuffers+8), free: make(chan []byte, maxBuffers)}
	t.tickets.Store(maxBuffers)
	go t.write()
	return t
}

func (t *tape) write() {
	over := false
	for q := range t.queue {
		if q.end != nil {
			over = true
			close(q.end)
			continue
		}
		if !over {
			t.record(q.entry)
		}
		if b := q.entry.Data; b != nil {
			t.free <- b[:cap(b)]
		}
	}
}

func (t *tape) ms() int64 { return time.Since(t.start).Milliseconds() }

// put records an entry, whose bytes lie in buf, and gives the buffer for the next one.
func (t *tape) put(buf []byte, e transcript.Entry) []byte {
	if t.lost.Load() {
		return buf
	}
	e.AtMs = t.ms()
	next := t.buffer()
	if next == nil {
		t.lost.Store(true)
		return buf
	}
	t.queue <- queued{entry: e} // has room for as many entries as there are buffers
	return next
}

// buffer gives a buffer, or nil where the disk does not give one back in time.
func (t *tape) buffer() []byte {
	select {
	case b := <-t.free:
		return b
	default:
	}
	if t.tickets.Add(-1) >= 0 {
		return make([]byte, chunk)
	}
	select {
	case b := <-t.free:
		return b
	case <-time.After(t.patience):
		return nil
	}
}

// event records something that happened to the process.
func (t *tape) event(e transcript.Entry) {
	e.Dir, e.AtMs = contract.FromProcess, t.ms()
	t.queue <- queued{entry: e}
}

// end ends the recording. Relays may go on; what they pass is not recorded any more. The error says that entries are missing.
func (t *tape) end() error {
	end := make(chan struct{})
	t.queue <- queued{end: end}
	<-end
	if t.lost.Load() {
		return ErrSlow
	}
	return nil
}
