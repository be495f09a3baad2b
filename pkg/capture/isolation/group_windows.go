package isolation

import (
	"os"
	"syscall"
)

// groupKind is "none": Windows has no process groups in this sense, and descendants of the child live on.
const groupKind = "none"

func groupAttr() *syscall.SysProcAttr { return nil }

func killGroup(p *os.Process) {
	_ = p.Kill() // it fails only when the process has ended
}

func exitOf(state *os.ProcessState) Exit { return Exit{Code: state.ExitCode()} }
