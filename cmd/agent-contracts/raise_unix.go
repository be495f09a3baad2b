//go:build unix

package main

import (
	"golang.org/x/sys/unix"

	"github.com/open-design/agent-cli-contracts/pkg/capture/recorder"
)

// raise ends this process by a signal. It returns the shell's code for it when the signal does not end a process.
func raise(name string) int {
	_ = recorder.EndBy(name) // returns only where it did not
	if number := unix.SignalNum(name); number != 0 {
		return 128 + int(number)
	}
	return 1
}
