//go:build unix

package isolation

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A job is what ends the descendants of the children: here their process groups.
type job struct{}

func newJob() (*job, error) { return &job{}, nil }

func (*job) add(*os.Process) error { return nil } // the child made its group itself

// kill ends every group. A group whose leader has ended is killed too, since other members may live on and hold the pipes;
// its number cannot have become another process's while they do.
func (*job) kill(leaders []*os.Process) {
	for _, p := range leaders {
		_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // it fails only when nobody is left
	}
}

func (*job) close() error { return nil }

func exitOf(state *os.ProcessState) Exit {
	return exitOfStatus(state.Sys().(syscall.WaitStatus))
}

func exitOfStatus(s syscall.WaitStatus) Exit {
	if !s.Signaled() {
		return Exit{Code: s.ExitStatus()}
	}
	name := unix.SignalName(s.Signal())
	if name == "" { // real-time signals have numbers only
		name = fmt.Sprintf("SIG%d", int(s.Signal()))
	}
	return Exit{Code: -1, Signal: name}
}
