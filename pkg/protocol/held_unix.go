//go:build unix

package protocol

import "syscall"

// readNow reads from a descriptor that does not block.
func readNow(fd uintptr, b []byte) (int, error) {
	for {
		n, err := syscall.Read(int(fd), b)
		if err != syscall.EINTR {
			return n, err
		}
	}
}
