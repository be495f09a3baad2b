package isolation

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// initName is the argv[0] by which a program knows that it is to be the init of a box.
const initName = "agent-contracts-box"

// hostname is the default of Options.HostName.
const hostname = "sandbox"

// The program becomes the init of a box here, where Open started it as one, and not in main: by then every package that is
// linked would be initialized, which takes longer than all that the init does.
var _ = becomeInit()

func becomeInit() bool {
	if len(os.Args) == 1 && os.Args[0] == initName && os.Getpid() == 1 {
		runInit()
		os.Exit(0)
	}
	return false
}

// runInit serves the parent until it closes the socket. A fault ends the box; the parent sees that as the
// socket's end, and there is nobody else to tell.
func runInit() {
	// Credentials and restrictions are a thread's own, and a child inherits those of the thread that starts it.
	runtime.LockOSThread()
	// A pid namespace ends with its init. With handlers, a child of the same user does not end it by a signal;
	// handlers, unlike ignored signals, are not inherited. Three real-time signals are out of Go's hands: by them
	// a child may end its own box, which Wait then reports as ErrClosed.
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	signal.Notify(make(chan os.Signal, 1))

	unix.Umask(0o022) // the same in every box
	closeOnExec()
	control := os.NewFile(3, "parent")
	c, err := net.FileConn(control)
	if err != nil {
		return
	}
	_ = control.Close() // c has a copy
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return
	}
	m, files, err := receive(conn)
	if err != nil || m.Setup == nil {
		return
	}
	group := joinGroup(m.Setup, files)
	if !answerSetup(conn, m.Setup, group) {
		return
	}
	i := &initProcess{conn: conn, drop: m.Setup.Drop, memory: m.Setup.Limits.Memory, group: group, alive: map[int]bool{}}
	i.serve(died)
}

// closeOnExec keeps from the children whatever descriptors the parent itself had inherited.
func closeOnExec() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return // the descriptors that this package makes are closed on exec anyway
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// answerSetup sets the box up and sends the listener, or what went wrong.
func answerSetup(conn *net.UnixConn, s *setup, group *joining) (ok bool) {
	r := &ready{}
	files, err := enter(s)
	defer func() { closeAll(files) }() // the parent has them then
	if err == nil {
		err = shut(s, r, group)
	}
	if err == nil {
		// From here on this thread itself would wait for the parent where it sends: see sendAside.
		if fd, werr := watchCalls(); werr == nil {
			r.Watched = true
			files = append(files, os.NewFile(uintptr(fd), "calls"))
		}
	}
	if err != nil {
		r.Fault = faultOf(err)
		_ = sendAside(conn, message{Ready: r}) // when the parent is gone, the init ends next
		return false
	}
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	return sendAside(conn, message{Ready: r}, fds...) == nil
}

// sendAside sends from another thread than the one whose calls are watched.
func sendAside(conn *net.UnixConn, m message, fds ...int) error {
	sent := make(chan error, 1)
	go func() { sent <- send(conn, m, fds...) }()
	return <-sent
}

// shut closes to the children what they must not reach.
func shut(s *setup, r *ready, group *joining) error {
	r.OwnProc = mountProc() == nil // a masked /proc, as in containers, cannot be replaced; all else still holds
	v := &view{
		drop: s.Drop, readable: toStrings(s.Readable), writable: toStrings(s.Writable),
		private: append(toStrings(s.Private), privatePlaces...), scratch: slices.Clone(scratchPlaces), size: s.Limits.Disk,
	}
	if err := v.cover(); err != nil {
		return err
	}
	if err := v.ownDev(); err != nil {
		return fmt.Errorf("making a /dev of its own: %w", refusal(err))
	}
	if err := showFiles(s.HostName); err != nil {
		return err
	}
	var err error
	if r.Sealed, err = v.seal(r.OwnProc); err != nil {
		return err
	}
	if r.Grouped = group.done(); r.Grouped { // the kernel counts, so nothing else has to
		s.Limits = s.Limits.without(s.Cgroup)
	}
	if r.Landlock, err = confine(s, v); err != nil {
		return err
	}
	return refuseCalls()
}

// enter makes the new namespaces usable and listens on their loopback: for the model server, and for look-ups of names
// over UDP and TCP; then for what stands for the outside.
func enter(s *setup) ([]*os.File, error) {
	if err := loopbackUp(); err != nil {
		return nil, fmt.Errorf("bringing up loopback: %w", refusal(err))
	}
	if err := unix.Sethostname([]byte(s.HostName)); err != nil {
		return nil, fmt.Errorf("setting the host name: %w", refusal(err))
	}
	if err := mountsPrivate(); err != nil {
		return nil, fmt.Errorf("separating the mounts: %w", refusal(err))
	}
	local := net.IPv4(127, 0, 0, 1)
	var files []*os.File
	list := []func() (filer, error){
		func() (filer, error) { return net.ListenTCP("tcp4", &net.TCPAddr{IP: local}) },
		func() (filer, error) { return net.ListenUDP("udp4", &net.UDPAddr{IP: local, Port: 53}) },
		func() (filer, error) { return net.ListenTCP("tcp4", &net.TCPAddr{IP: local, Port: 53}) },
	}
	for _, port := range s.Ports {
		list = append(list, func() (filer, error) { return net.ListenTCP("tcp4", &net.TCPAddr{Port: int(port)}) })
	}
	for _, open := range list {
		l, err := open()
		if err != nil {
			return files, fmt.Errorf("listening on loopback: %w", refusal(err))
		}
		f, err := l.File()
		_ = l.Close() // f is a copy
		if err != nil {
			return files, fmt.Errorf("listening on loopback: %w", err)
		}
		files = append(files, f)
	}
	return files, nil
}

// A filer is a listener or a packet connection.
type filer interface {
	File() (*os.File, error)
	Close() error
}

func loopbackUp() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s) //nolint:errcheck // one call on a socket of ours
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(s, unix.SIOCGIFFLAGS, lo); err != nil {
		return err
	}
	lo.SetUint16(lo.Uint16() | unix.IFF_UP)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo)
}

// An initProcess starts and reaps on the one thread that confine has dealt with.
type initProcess struct {
	conn   *net.UnixConn
	drop   bool
	memory int64        // limit of all children together that is to be sampled, 0 for none
	group  *joining     // the control group of the children
	alive  map[int]bool // the children that the parent asked for
}

type request struct {
	message
	files []*os.File
}

// serve does what the parent asks until it closes the socket.
func (i *initProcess) serve(died <-chan os.Signal) {
	requests := make(chan request)
	go func() {
		defer close(requests)
		for {
			m, files, err := receive(i.conn)
			if err != nil {
				return
			}
			requests <- request{m, files}
		}
	}()
	var watch <-chan time.Time
	if i.memory > 0 {
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		watch = ticker.C
	}
	for {
		var err error
		select {
		case <-watch:
			if resident() > i.memory {
				_ = sendAside(i.conn, message{Exceeded: "memory"})
				return // the kernel kills the rest with the init
			}
		case r, open := <-requests:
			switch {
			case !open:
				return
			case r.Start != nil:
				err = i.start(r.Start, r.files)
			case r.Signal != nil && i.alive[r.Signal.PID]:
				_ = syscall.Kill(r.Signal.PID, syscall.Signal(r.Signal.Signal)) // the child may just have ended
			}
		case <-died:
			err = i.reap()
		}
		if err != nil {
			return
		}
	}
}

// start starts a child and tells the parent. The error is of the socket.
func (i *initProcess) start(s *start, stdio []*os.File) error {
	attr := &syscall.ProcAttr{
		Dir: string(s.Dir), Env: toStrings(s.Env), Sys: &syscall.SysProcAttr{Setsid: true},
	}
	for _, f := range stdio {
		attr.Files = append(attr.Files, f.Fd())
	}
	if i.drop {
		attr.Sys.Credential = &syscall.Credential{Uid: nobody, Gid: nobody} // and no other groups
	}
	i.group.apply(attr.Sys)
	pid, err := syscall.ForkExec(string(s.Path), toStrings(s.Argv), attr)
	closeAll(stdio)
	b := &begun{PID: pid}
	if err != nil {
		b.Fault = faultOf(err)
	} else {
		i.alive[pid] = true
	}
	return sendAside(i.conn, message{Begun: b})
}

// reap takes every process that has ended, and tells the parent of those that it asked for. One SIGCHLD may
// stand for several.
func (i *initProcess) reap() error {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid == 0 {
			return nil // nobody, or nobody who has ended
		}
		if !i.alive[pid] {
			continue
		}
		delete(i.alive, pid)
		if err := sendAside(i.conn, message{Ended: &childExit{PID: pid, Exit: exitOfStatus(status)}}); err != nil {
			return err
		}
	}
}
