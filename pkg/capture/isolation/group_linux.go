package isolation

import "syscall"

// groupAttr makes the child the leader of a session, so of a group, and has it die with its parent.
func groupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
