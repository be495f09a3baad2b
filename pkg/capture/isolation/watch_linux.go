package isolation

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// audited is the kernel's number of this machine's kind, 0 where the filter does not know it.
var audited = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]

// Offsets in the data that a filter looks at. The kernel numbers are little-endian on the machines that audited names.
const (
	offsetCall    = 0
	offsetArch    = 4
	offsetAddress = 16 + 4*8 // the fifth argument of sendto
)

// reaching are the system calls by which a program names an address.
func reaching() []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	equal := func(k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	end := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	return []unix.SockFilter{
		load(offsetArch),
		equal(audited, 0, 9), // another kind of machine's calls are not looked at
		load(offsetCall),
		equal(unix.SYS_CONNECT, 6, 0),
		equal(unix.SYS_SENDMSG, 5, 0),
		equal(unix.SYS_SENDMMSG, 4, 0),
		equal(unix.SYS_SENDTO, 0, 4),
		load(offsetAddress), // without an address it is a plain send
		equal(0, 0, 1),
		load(offsetAddress + 4),
		equal(0, 0, 1), // all that jump here hold what is not zero
		end(unix.SECCOMP_RET_ALLOW),
		end(unix.SECCOMP_RET_USER_NOTIF),
	}
}

var errNoWatch = errors.New("this kernel lists no connections")

// watchCalls has the kernel tell whoever holds the returned descriptor of each call by which this thread and its children
// name an address. Nothing is forbidden by it.
func watchCalls() (int, error) {
	if audited == 0 {
		return -1, errNoWatch
	}
	// The kernel that knows this flag (5.7) also lets the call go on afterwards; it is asked with a filter that is none.
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH, 0)
	if errno != unix.EFAULT {
		return -1, errNoWatch
	}
	filter := reaching()
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return -1, fmt.Errorf("%w: %w", errNoWatch, errno) // a container's own filter, or one that listens already
	}
	return int(fd), nil
}

// A watcher lets the calls go on, and remembers the addresses.
type watcher struct {
	calls      *os.File
	stop, wake *os.File
	done       chan struct{}
	attempts
}

// notification is a call that waits, as the kernel describes it; answer lets it go on.
type notification struct {
	id         uint64
	pid, flags uint32
	call       int32
	arch       uint32
	at         uint64
	args       [6]uint64
}

// goOn is the kernel's flag by which the call is made as if nobody had looked.
const goOn = 1

type answer struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// newWatcher answers the calls of which the kernel tells by calls.
func newWatcher(calls *os.File) (*watcher, error) {
	w := &watcher{calls: calls, done: make(chan struct{})}
	var err error
	if w.wake, w.stop, err = os.Pipe(); err != nil {
		return nil, err
	}
	go w.serve()
	return w, nil
}

func (w *watcher) serve() {
	defer close(w.done)
	calls, wake := int(w.calls.Fd()), int(w.wake.Fd())
	for {
		poll := []unix.PollFd{{Fd: int32(calls), Events: unix.POLLIN}, {Fd: int32(wake), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err != nil {
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return
		}
		if poll[1].Revents != 0 || poll[0].Revents&unix.POLLIN == 0 {
			return
		}
		var n notification
		if !ioctl(calls, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)) {
			continue // the caller has been killed
		}
		w.look(n)
		a := answer{id: n.id, flags: goOn}
		ioctl(calls, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a))
	}
}

func ioctl(fd int, request uintptr, data unsafe.Pointer) bool {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(data))
	return errno == 0
}

func (w *watcher) close() {
	_ = w.stop.Close()
	<-w.done
	_ = w.wake.Close()
	_ = w.calls.Close()
}

// Sizes of what Linux passes on 64-bit machines.
const (
	sizeAddress = 28 // of IPv6
	sizeHeader  = 56 // struct msghdr
	sizeMulti   = 64 // struct mmsghdr
	maxMulti    = 64 // messages of one call that are looked at
)

// look remembers the addresses of a call. The child may change its memory meanwhile; this records and does not forbid.
func (w *watcher) look(n notification) {
	pid := int(n.pid)
	switch n.call {
	case unix.SYS_CONNECT:
		w.address(pid, n.args[1], n.args[2])
	case unix.SYS_SENDTO:
		w.address(pid, n.args[4], n.args[5])
	case unix.SYS_SENDMSG:
		w.header(pid, n.args[1])
	case unix.SYS_SENDMMSG:
		for i := range min(n.args[2], maxMulti) {
			w.header(pid, n.args[1]+i*sizeMulti)
		}
	}
}

// header looks at the address of a message: its first two fields.
func (w *watcher) header(pid int, at uint64) {
	b := w.memory(pid, at, 16)
	if len(b) < 16 {
		return
	}
	if name := binary.NativeEndian.Uint64(b); name != 0 {
		w.address(pid, name, uint64(binary.NativeEndian.Uint32(b[8:])))
	}
}

func (w *watcher) address(pid int, at, size uint64) {
	if to, ok := sockaddr(w.memory(pid, at, min(size, sizeAddress))); ok {
		w.note(to)
	}
}

func (w *watcher) memory(pid int, at, size uint64) []byte {
	if at == 0 || size == 0 {
		return nil
	}
	b := make([]byte, size)
	n, err := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &b[0], Len: size}}, []unix.RemoteIovec{{Base: uintptr(at), Len: int(size)}}, 0)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
		w.mu.Lock()
		w.blind = true
		w.mu.Unlock()
	}
	return b[:max(n, 0)]
}

// noRoute is how many packets and connections of the network of a process had no way out.
func noRoute(pid int) int {
	dir := "/proc/" + strconv.Itoa(pid) + "/net/"
	v4, _ := os.ReadFile(dir + "snmp")
	v6, _ := os.ReadFile(dir + "snmp6")
	return counterV4(v4) + counterV6(v6)
}

// counterV4 reads two lines: names and numbers.
func counterV4(text []byte) int {
	var names []string
	for line := range bytes.Lines(text) {
		fields := strings.Fields(string(line))
		if len(fields) == 0 || fields[0] != "Ip:" {
			continue
		}
		if names == nil {
			names = fields
			continue
		}
		for i, name := range names {
			if name == "OutNoRoutes" && i < len(fields) {
				n, _ := strconv.Atoi(fields[i])
				return n
			}
		}
	}
	return 0
}

func counterV6(text []byte) int {
	for line := range bytes.Lines(text) {
		if fields := strings.Fields(string(line)); len(fields) == 2 && fields[0] == "Ip6OutNoRoutes" {
			n, _ := strconv.Atoi(fields[1])
			return n
		}
	}
	return 0
}
