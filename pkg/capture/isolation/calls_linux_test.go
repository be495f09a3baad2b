package isolation

import (
	"fmt"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pastNamespaces tries what no namespace takes away: sockets to the machine's own host, key rings, and calls that are made
// for a program where no filter sees them.
func pastNamespaces(did func(string, error), key string) {
	for family := range 64 {
		for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET} {
			fd, err := unix.Socket(family, kind, 0)
			if err == nil {
				_ = unix.Close(fd)
			}
			if family != unix.AF_UNIX && family != unix.AF_INET && family != unix.AF_INET6 && family != unix.AF_NETLINK {
				did(fmt.Sprintf("has a socket of family %d", family), err)
			}
		}
	}
	_, err := unix.KeyctlSearch(unix.KEY_SPEC_USER_KEYRING, "user", key, 0)
	did("found what another box left in a key ring", err)
	_, err = unix.AddKey("user", key, []byte("x"), unix.KEY_SPEC_USER_KEYRING)
	did("left something in a key ring", err)
	params := make([]byte, 256)
	if _, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 8, uintptr(unsafe.Pointer(&params[0])), 0); errno == 0 {
		did("has a ring of calls", nil)
	}
	if runtime.GOARCH == "amd64" { // the same calls by the numbers of another kind of machine
		if _, _, errno := unix.Syscall(0x40000000|unix.SYS_GETPID, 0, 0, 0); errno == 0 {
			did("made a call of x32", nil)
		}
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
	if err != nil {
		fmt.Println("has no netlink, by which programs list interfaces:", err)
	}
	_ = unix.Close(fd)
}

// The network of the box is all of its network, and what it leaves in the kernel goes with it.
func TestNothingPastNamespaces(t *testing.T) {
	for range 2 {
		b := openBox(t, Options{Enabled: true})
		if out := did(t, b, "past-namespaces", marker(t)); out != "" {
			t.Errorf("the child\n%s", out)
		}
	}
}
