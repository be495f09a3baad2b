package isolation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// nobody is the user and the group that children run as, whoever starts them.
const nobody = 65534

// A plan is one way to come by the namespaces.
type plan struct {
	user bool // in a new user namespace
	drop bool // the init is root there and starts children as nobody
}

// plans are the ways that the caller may try, the best first. Only root can have children with a user of their
// own: a user namespace that somebody else makes holds that one user.
func plans() []plan {
	if os.Geteuid() == 0 {
		return []plan{{drop: true}, {user: true, drop: true}}
	}
	return []plan{{user: true}}
}

func (p plan) namespaces(ownProc bool) []string {
	list := []string{"ipc", "mount", "network"}
	if ownProc {
		list = append(list, "pid")
	}
	if p.user {
		list = append(list, "user")
	}
	return append(list, "uts")
}

// attr says how the init starts. It dies with its parent.
func (p plan) attr() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
	}
	if !p.user {
		return a
	}
	a.Cloneflags |= unix.CLONE_NEWUSER
	if p.drop {
		both := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}, {ContainerID: nobody, HostID: nobody, Size: 1}}
		a.UidMappings, a.GidMappings, a.GidMappingsEnableSetgroups = both, both, true
		return a
	}
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Geteuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: nobody, HostID: os.Getegid(), Size: 1}}
	// A user other than root keeps over exec only ambient capabilities.
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE}
	return a
}

// open makes the box that o asks for.
func open(ctx context.Context, o Options) (*Box, error) {
	if !o.Enabled {
		return openGroup(ctx, o)
	}
	var refusals []error
	for _, p := range plans() {
		b, err := openNamespaces(ctx, o, p)
		if err == nil {
			return b, nil
		}
		if !errors.Is(err, ErrRefused) {
			return nil, err
		}
		refusals = append(refusals, err)
	}
	return nil, fmt.Errorf("%w: allow unprivileged user namespaces (sysctl user.max_user_namespaces above 0 and, "+
		"where they exist, kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0)", errors.Join(refusals...))
}

// namespaces is the parent's side of a box with an init.
type namespaces struct {
	init   *exec.Cmd
	conn   *net.UnixConn
	owners *owners
	watch  *watcher // nil where the kernel does not tell of calls
	group  *cgroup  // nil where none could be made

	starting sync.Mutex    // one start at a time
	answers  chan *begun   // to the start that goes on
	gone     chan struct{} // closed when the init has closed its end

	writing  sync.Mutex // to conn; never held together with mu, so that the init's messages are always taken
	mu       sync.Mutex // guards what follows
	pending  *Child     // of the start that goes on
	children map[int]*Child
	limit    *LimitError // that ended the box
	refused  int         // packets and connections that had no way out, when the box was closed
	closed   bool
}

// openNamespaces makes a box by p. The error wraps ErrRefused when the kernel does not allow it.
func openNamespaces(ctx context.Context, o Options, p plan) (_ *Box, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := &namespaces{
		owners:  &owners{},
		answers: make(chan *begun, 1), gone: make(chan struct{}), children: map[int]*Child{},
	}
	if p.drop {
		n.owners.dirs = o.Writable
		// Before the init looks which paths its children can reach.
		if err := n.owners.give(); err != nil {
			return nil, errors.Join(err, n.owners.restore())
		}
	}
	n.group = newCgroup(o.Limits)
	if err := n.startInit(o, p); err != nil {
		n.group.remove()
		return nil, errors.Join(err, n.owners.restore())
	}
	kill := func() { _ = n.init.Process.Kill() } // it fails only when the init has ended
	stop := context.AfterFunc(ctx, kill)
	r, near, err := n.handshake(o, p)
	if err != nil {
		stop()
		close(n.gone)
		return nil, errors.Join(err, n.close())
	}
	go n.listen()
	if n.group != nil {
		go n.watchMemory()
	}
	isolation := Info{
		Kind: "namespaces", Namespaces: p.namespaces(r.OwnProc), Network: "loopback-only", User: "same",
		Landlock: r.Landlock, Limits: o.Limits,
	}
	if r.Sealed {
		isolation.Filesystem = "run-folders"
	}
	if p.drop {
		isolation.User = "unprivileged"
	}
	if r.Grouped {
		isolation.Cgroup = n.group.info()
	}
	var known func(string) (netip.Addr, bool)
	if o.Outside != nil {
		isolation.Network, known = "allow-list", o.Outside.Resolve
	}
	return &Box{
		listener: near.model, ports: near.ports, isolation: isolation, runner: n, stop: stop, egress: newResolver(near.packets, near.streams, known),
	}, nil
}

// startInit starts the init and connects to it.
func (n *namespaces) startInit(o Options, p plan) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("making a socket pair: %w", err)
	}
	near, far := os.NewFile(uintptr(pair[0]), "init"), os.NewFile(uintptr(pair[1]), "parent")
	defer closeAll([]*os.File{near, far})
	conn, err := net.FileConn(near)
	if err != nil {
		return fmt.Errorf("making a socket pair: %w", err)
	}
	exe := o.Exe
	if exe == "" {
		exe = "/proc/self/exe" // also when the file has been replaced or removed
	}
	n.conn = conn.(*net.UnixConn)
	n.init = &exec.Cmd{
		Path: exe, Args: []string{initName}, Env: []string{}, Dir: "/", ExtraFiles: []*os.File{far}, SysProcAttr: p.attr(),
	}
	_, err = startFromPool(func() (struct{}, error) { return struct{}{}, n.init.Start() })
	if err != nil {
		_ = conn.Close()
		return fmt.Errorf("starting the init of the box: %w", refusal(err))
	}
	return nil
}

// near are the parent's ends of the box's loopback.
type near struct {
	model   net.Listener
	packets net.PacketConn // look-ups of names
	streams net.Listener   // the same over TCP
	ports   []net.Listener // of the outside
}

// handshake has the init set up the box, and returns what it opened on loopback.
func (n *namespaces) handshake(o Options, p plan) (*ready, near, error) {
	s := &setup{
		Drop: p.drop, Readable: toBytes(o.Readable), Writable: toBytes(o.Writable), Private: toBytes(o.Private), Limits: o.Limits,
		OwnSandbox: o.OwnSandbox, HostName: cmp.Or(o.HostName, hostname),
	}
	if o.Outside != nil {
		s.Ports = o.Outside.Ports
	}
	err := n.sendSetup(s)
	if err != nil {
		return nil, near{}, fmt.Errorf("asking the init of the box to set it up: %w", err)
	}
	m, files, err := receive(n.conn)
	if err != nil {
		return nil, near{}, fmt.Errorf("the init of the box ended early; does the program that it starts import package isolation? %w", err)
	}
	defer func() { closeAll(files) }()
	switch {
	case m.Ready == nil:
		return nil, near{}, errors.New("the init of the box gave a wrong answer; is it another version of the program?")
	case m.Ready.Fault != nil:
		return nil, near{}, m.Ready.Fault
	case len(files) < sockets+len(s.Ports) || m.Ready.Watched != (len(files) > sockets+len(s.Ports)):
		return nil, near{}, errors.New("the init of the box did not send its sockets")
	}
	var got near
	var errs [3]error
	got.model, errs[0] = net.FileListener(files[0])
	got.packets, errs[1] = net.FilePacketConn(files[1])
	got.streams, errs[2] = net.FileListener(files[2])
	err = errors.Join(errs[:]...)
	for _, f := range files[sockets : sockets+len(s.Ports)] {
		l, lerr := net.FileListener(f)
		got.ports, err = append(got.ports, l), errors.Join(err, lerr)
	}
	if last := len(files) - 1; err == nil && m.Ready.Watched {
		n.watch, err = newWatcher(files[last])
		files = files[:last] // the watcher closes it
	}
	if err != nil {
		return nil, near{}, fmt.Errorf("taking the sockets of the box: %w", err)
	}
	return m.Ready, got, nil
}

// listen takes the init's messages until it closes its end.
func (n *namespaces) listen() {
	for {
		m, files, err := receive(n.conn)
		closeAll(files)
		if err != nil {
			break
		}
		n.mu.Lock()
		switch {
		case m.Begun != nil:
			// Registered here, since the child's end may be the very next message.
			if m.Begun.Fault == nil {
				n.pending.PID = m.Begun.PID
				n.children[m.Begun.PID] = n.pending
			}
			n.answers <- m.Begun
		case m.Ended != nil:
			if n.starved() {
				break // what the kernel ended is no end of the CLI's own; the init is killed next
			}
			n.children[m.Ended.PID].finish(m.Ended.Exit, nil)
			delete(n.children, m.Ended.PID)
		case m.Exceeded != "":
			n.limit = &LimitError{What: m.Exceeded}
		}
		n.mu.Unlock()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.starved() // the kernel may have killed the init
	err := ErrClosed
	if n.limit != nil {
		err = fmt.Errorf("%w: %w", n.limit, ErrClosed)
	}
	for _, c := range n.children {
		c.finish(Exit{Code: -1, Signal: "SIGKILL"}, err)
	}
	close(n.gone)
}

func (n *namespaces) start(c Command, child *Child, stdio [3]*os.File) error {
	n.starting.Lock()
	defer n.starting.Unlock()
	if err := n.owners.give(); err != nil {
		return err
	}
	m := message{Start: &start{
		Path: []byte(c.Path), Dir: []byte(c.Dir),
		Argv: toBytes(append([]string{c.Path}, c.Args...)), Env: toBytes(c.Env),
	}}
	child.send = func(sig os.Signal) error {
		s, ok := sig.(syscall.Signal)
		if !ok {
			return fmt.Errorf("%v is not a signal of this system", sig)
		}
		return n.send(message{Signal: &sendSig{PID: child.PID, Signal: int(s)}})
	}
	n.mu.Lock()
	n.pending = child
	n.mu.Unlock()
	// Fd also makes the descriptors blocking, which is what programs expect of their standard ones.
	if err := n.send(m, int(stdio[0].Fd()), int(stdio[1].Fd()), int(stdio[2].Fd())); err != nil {
		return err
	}
	select {
	case a := <-n.answers:
		switch {
		case a.Fault == nil:
			return nil
		case errors.Is(a.Fault, unix.EACCES):
			return fmt.Errorf("%w: name what the child needs in Options.Readable", a.Fault)
		default:
			return a.Fault
		}
	case <-n.gone:
		return ErrClosed
	}
}

// addresses are what children tried to reach.
func (n *namespaces) addresses() Addresses {
	n.mu.Lock()
	if !n.closed {
		n.refused = noRoute(n.init.Process.Pid)
	}
	refused := n.refused
	n.mu.Unlock()
	if n.watch == nil {
		return (&attempts{}).result(false, refused)
	}
	return n.watch.result(true, refused)
}

// send writes a message to the init.
func (n *namespaces) send(m message, fds ...int) error {
	n.writing.Lock()
	defer n.writing.Unlock()
	err := send(n.conn, m, fds...)
	if errors.Is(err, unix.EPIPE) || errors.Is(err, net.ErrClosed) {
		return ErrClosed
	}
	return err
}

func (n *namespaces) exceeded(l *LimitError) {
	n.mu.Lock()
	n.limit = l
	n.mu.Unlock()
	_ = n.init.Process.Kill() // it fails only when the init has ended
}

// close kills the init and waits for it. The kernel lets an init end only when everything else in its pid
// namespace is dead and reaped, so nothing is left then; the mounts go with the last process that had them.
func (n *namespaces) close() error {
	n.mu.Lock()
	n.refused, n.closed = noRoute(n.init.Process.Pid), true
	n.mu.Unlock()
	_ = n.init.Process.Kill() // it fails only when the init has ended
	_ = n.init.Wait()         // a killed init has no useful status
	<-n.gone
	if n.watch != nil {
		n.watch.close()
	}
	_ = n.conn.Close()
	n.group.remove()
	return n.owners.restore()
}

// refusal marks the errors by which a kernel, its configuration or a seccomp filter says no to namespaces.
func refusal(err error) error {
	for _, no := range []error{unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EINVAL, unix.ENOSPC, unix.EUSERS} {
		if errors.Is(err, no) {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
	}
	return err
}
