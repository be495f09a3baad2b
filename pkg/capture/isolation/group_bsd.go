//go:build unix && !linux

package isolation

import "syscall"

// groupAttr makes the child the leader of a session, so of a group.
func groupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}
