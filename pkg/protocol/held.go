package protocol

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// maxHeld is more than a pipe holds on any system that was seen; what a holder goes on writing is not the child's.
const maxHeld = 1 << 20

// heldPipe is a pipe that may have to be left while something holds its other end. What it holds by then is read first.
type heldPipe struct {
	io.Reader
	cut *atomic.Bool // set when the pipe was left open
	buf []byte       // read at the end and not yet handed on
	end error
}

// deadlined is what a pipe of the system is, beside a reader.
type deadlined interface {
	SetReadDeadline(t time.Time) error
	SyscallConn() (syscall.RawConn, error)
}

// leave makes the reader end with what the pipe holds; false where the pipe is none of the system's.
func (p *heldPipe) leave() bool {
	d, ok := p.Reader.(deadlined)
	return ok && d.SetReadDeadline(time.Unix(1, 0)) == nil
}

func (p *heldPipe) Read(b []byte) (int, error) {
	if p.end == nil {
		n, err := p.Reader.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		p.buf, p.end = p.rest()
	}
	n := copy(b, p.buf)
	if p.buf = p.buf[n:]; n > 0 || len(b) == 0 {
		return n, nil
	}
	return 0, p.end
}

// rest reads without waiting.
func (p *heldPipe) rest() (held []byte, end error) {
	d := p.Reader.(deadlined) //nolint:forcetypeassert // only such a pipe has a deadline
	raw, err := d.SyscallConn()
	if err != nil {
		return nil, io.EOF
	}
	if err := d.SetReadDeadline(time.Time{}); err != nil {
		return nil, io.EOF
	}
	_ = raw.Read(func(fd uintptr) bool {
		buf := make([]byte, 64<<10)
		for len(held) < maxHeld {
			n, err := readNow(fd, buf)
			if n <= 0 {
				p.cut.Store(p.cut.Load() || err != nil) // no error is the end of the pipe
				return true
			}
			held = append(held, buf[:n]...)
		}
		p.cut.Store(true)
		return true
	})
	return held, io.EOF
}
