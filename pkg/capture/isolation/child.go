package isolation

import (
	"fmt"
	"os"
	"sync"
)

// A Child is a started program. The caller closes its three files; Box.Close does not, so that what is left in
// the pipes can be read afterwards.
type Child struct {
	Stdin  *os.File // write end
	Stdout *os.File // read end
	Stderr *os.File // read end
	PID    int      // as the child itself sees it

	send func(os.Signal) error
	once sync.Once
	done chan struct{} // closed when exit and err are set
	exit Exit
	err  error
}

// Exit is how a program ended.
type Exit struct {
	Code   int    // exit code, -1 when a signal ended the program
	Signal string // "SIGKILL"; empty when the program ended by itself, and always on Windows
}

// Signal sends sig to the child itself, not to its descendants. It returns os.ErrProcessDone when the child
// has ended. Windows knows os.Kill only.
func (c *Child) Signal(sig os.Signal) error {
	select {
	case <-c.done:
		return os.ErrProcessDone
	default:
		return c.send(sig)
	}
}

// Wait returns when the child itself has ended; its descendants may go on and hold its pipes until Box.Close.
// It may be called any number of times. The error is ErrClosed when the box ended first.
func (c *Child) Wait() (Exit, error) {
	<-c.done
	return c.exit, c.err
}

// finish records the end of the child; only the first call counts.
func (c *Child) finish(exit Exit, err error) {
	c.once.Do(func() {
		c.exit, c.err = exit, err
		close(c.done)
	})
}

// pipes opens the child's pipes and returns the ends that the child gets.
func (c *Child) pipes() (far [3]*os.File, err error) {
	near := [3]**os.File{&c.Stdin, &c.Stdout, &c.Stderr}
	var opened []*os.File
	for i := range far {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(opened)
			return far, fmt.Errorf("opening its pipes: %w", err)
		}
		opened = append(opened, r, w)
		if i == 0 {
			far[i], *near[i] = r, w
		} else {
			far[i], *near[i] = w, r
		}
	}
	return far, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // pipes have nothing to flush
	}
}
