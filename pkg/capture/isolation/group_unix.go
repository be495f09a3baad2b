//go:build unix

package isolation

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const groupKind = "process-group"

func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // it fails only when nobody is left
}

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
