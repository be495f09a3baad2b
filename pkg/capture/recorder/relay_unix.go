//go:build unix

package recorder

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// relay passes one stream on until its source ends or nobody reads its destination any more.
type relay struct {
	src, dst int
	dir      contract.FrameDirection
	stream   contract.StreamName
	tape     *tape
	// ended is readable once the agent itself has ended; drained is called once after that, when nothing is left to pass
	// on at once. -1 and nil where nobody needs to know.
	ended   int
	drained func()
}

// run returns when the stream is over. It closes both ends, so that each side learns of the other's end as it would
// without a recorder between them.
func (r *relay) run() {
	defer func() {
		_ = unix.Close(r.src)
		_ = unix.Close(r.dst)
		r.settle()
	}()
	buf := make([]byte, chunk)
	for {
		ready, gone := r.wait()
		switch {
		case ready:
			n, err := unix.Read(r.src, buf)
			if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
				continue
			}
			if n <= 0 || !r.write(buf[:n]) {
				return
			}
			buf = r.tape.put(buf, transcript.Entry{Dir: r.dir, Stream: r.stream, Data: buf[:n]})
		case gone:
			return
		default:
			r.settle()
		}
	}
}

func (r *relay) settle() {
	if r.drained != nil {
		r.drained()
		r.drained, r.ended = nil, -1
	}
}

// wait blocks until the source has something to read or has ended, the destination has lost its reader, or the agent
// has ended and left nothing to pass on.
func (r *relay) wait() (ready, gone bool) {
	fds := []unix.PollFd{{Fd: int32(r.src), Events: unix.POLLIN}, {Fd: int32(r.dst)}, {Fd: int32(r.ended), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return false, true
		}
		// A lost reader comes first: without a recorder the writer would have got the error already.
		switch src, dst := fds[0].Revents, fds[1].Revents; {
		case dst&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0:
			return false, true
		case src&(unix.POLLIN|unix.POLLHUP|unix.POLLERR) != 0:
			return true, false
		case src&unix.POLLNVAL != 0:
			return false, true
		case fds[2].Revents != 0:
			return false, false
		}
	}
}

// write passes all of p on, waiting where the reader is slow.
func (r *relay) write(p []byte) bool {
	for len(p) > 0 {
		n, err := unix.Write(r.dst, p)
		switch {
		case errors.Is(err, unix.EAGAIN):
			if _, err := unix.Poll([]unix.PollFd{{Fd: int32(r.dst), Events: unix.POLLOUT}}, -1); err != nil && !errors.Is(err, unix.EINTR) {
				return false
			}
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return false
		default:
			p = p[n:]
		}
	}
	return true
}
