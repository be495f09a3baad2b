//go:build unix

package recorder

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// EndBy ends this process by a signal, for whoever waits for it. It returns only where the signal does not end a process.
func EndBy(name string) error {
	number := unix.SignalNum(name)
	if number == 0 {
		return fmt.Errorf("%s is no signal of this system", name)
	}
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // the core would be of the wrong process
	signal.Reset(number)
	// The Go runtime handles some signals itself (SIGPIPE, SIGABRT, SIGSEGV); a shell in its place does not.
	_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -" + strconv.Itoa(int(number)) + " $$"}, nil)
	if err := syscall.Kill(os.Getpid(), number); err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond) // delivery to another thread takes a moment
	return fmt.Errorf("%s does not end this process", name)
}
