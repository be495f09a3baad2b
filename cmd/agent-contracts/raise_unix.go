//go:build unix

package main

import (
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// raise ends this process by a signal. It returns the shell's code for it when the signal does not end a process.
func raise(name string) int {
	number := unix.SignalNum(name)
	if number == 0 {
		return 1
	}
	signal.Reset(number)
	if err := syscall.Kill(syscall.Getpid(), number); err == nil {
		time.Sleep(100 * time.Millisecond) // delivery to another thread takes a moment
	}
	return 128 + int(number)
}
