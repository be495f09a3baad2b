package isolation

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// families are the kinds of sockets that a network namespace keeps apart and that programs use. Of the others vsock leads to
// the machine's own host whatever the namespace.
var families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// missing are calls that the child's kernel seems not to have: a ring makes calls that no filter sees, and key rings belong
// to a user, so that they outlive the box.
var missing = []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL}

// firstX32 is where the numbers of a second kind of calls of the same machine begin.
const firstX32 = 0x40000000

// refusing are the filter's instructions that refuse what no namespace takes away.
func refusing() []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	jump := func(how uint16, k uint32, yes, no int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | how, K: k, Jt: uint8(yes), Jf: uint8(no)}
	}
	end := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	// From the end on, so that each jump knows how far it is: the last three are the ends.
	out := []unix.SockFilter{end(unix.SECCOMP_RET_ALLOW), end(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)), end(unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT))}
	add := func(f unix.SockFilter) { out = append(out, f) }
	allow := func() int { return len(out) - 1 }
	unknown := func() int { return len(out) - 2 }
	for _, family := range families {
		add(jump(unix.BPF_JEQ, family, allow(), 0))
	}
	add(load(offsetFamily))
	add(jump(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, 0, allow()))
	add(jump(unix.BPF_JEQ, unix.SYS_SOCKET, 1, 0))
	for _, call := range missing {
		add(jump(unix.BPF_JEQ, call, unknown(), 0))
	}
	add(jump(unix.BPF_JGE, firstX32, unknown(), 0))
	add(load(offsetCall))
	add(jump(unix.BPF_JEQ, audited, 0, unknown()))
	add(load(offsetArch))
	slices.Reverse(out)
	return out
}

// offsetFamily is the first argument of socket and socketpair.
const offsetFamily = 16

// refuseCalls refuses to this thread and its children what no namespace takes away.
func refuseCalls() error {
	if audited == 0 {
		return fmt.Errorf("%w: there is no filter of system calls for %s", ErrRefused, runtime.GOARCH)
	}
	filter := refusing()
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return fmt.Errorf("refusing system calls that lead out of the box: %w", refusal(errno))
	}
	return nil
}
