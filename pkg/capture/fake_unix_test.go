//go:build unix

package capture

import (
	"os"
	"os/exec"
	"syscall"
)

// daemon leaves a process behind that holds the pipes and a session of its own.
func daemon() {
	cmd := exec.Command("/bin/sleep", "300")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	_ = cmd.Start()
}
