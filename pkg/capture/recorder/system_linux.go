package recorder

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// tied makes the agent die with this process: a host that kills what it started means the agent.
func tied() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// widen gives a pipe room for some chunks, so that many bytes take few turns. What the user's limit refuses stays as it is.
func widen(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, 1<<20) }
