package isolation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
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
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN}
	return a
}

// open makes the box that o asks for.
func open(ctx context.Context, o Options) (*Box, error) {
	if !o.Enabled {
		return openGroup(ctx)
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
	return nil, fmt.Errorf("%w: either allow unprivileged user namespaces (sysctl user.max_user_namespaces above 0 and, "+
		"where they exist, kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0) "+
		"or run without isolation (--no-isolation)", errors.Join(refusals...))
}

// namespaces is the parent's side of a box with an init.
type namespaces struct {
	init   *exec.Cmd
	conn   *net.UnixConn
	owners *owners

	starting sync.Mutex    // one start at a time
	answers  chan *begun   // to the start that goes on
	gone     chan struct{} // closed when the init has closed its end

	writing  sync.Mutex // to conn; never held together with mu, so that the init's messages are always taken
	mu       sync.Mutex // guards what follows
	pending  *Child     // of the start that goes on
	children map[int]*Child
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
	if err := n.startInit(o, p); err != nil {
		return nil, errors.Join(err, n.owners.restore())
	}
	kill := func() { _ = n.init.Process.Kill() } // it fails only when the init has ended
	stop := context.AfterFunc(ctx, kill)
	listener, ownProc, err := n.handshake(o, p)
	if err != nil {
		stop()
		close(n.gone)
		return nil, errors.Join(err, n.close())
	}
	go n.listen()
	isolation := contract.Isolation{
		Kind: "namespaces", Namespaces: p.namespaces(ownProc), Network: "loopback-only", User: "same",
	}
	if p.drop {
		isolation.User = "unprivileged"
	}
	return &Box{listener: listener, isolation: isolation, runner: n, stop: stop}, nil
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

// handshake has the init set up the box, and returns the listener that it made.
func (n *namespaces) handshake(o Options, p plan) (_ net.Listener, ownProc bool, err error) {
	s := &setup{Drop: p.drop, Readable: toBytes(o.Readable), Writable: toBytes(o.Writable)}
	if err := send(n.conn, message{Setup: s}); err != nil {
		return nil, false, fmt.Errorf("asking the init of the box to set it up: %w", err)
	}
	m, files, err := receive(n.conn)
	if err != nil {
		return nil, false, fmt.Errorf("the init of the box ended early; does the program call isolation.Main first? %w", err)
	}
	defer closeAll(files)
	switch {
	case m.Ready == nil:
		return nil, false, errors.New("the init of the box gave a wrong answer; is it another version of the program?")
	case m.Ready.Fault != nil:
		return nil, false, m.Ready.Fault
	case len(files) != 1:
		return nil, false, errors.New("the init of the box sent no listener")
	}
	l, err := net.FileListener(files[0])
	if err != nil {
		return nil, false, fmt.Errorf("taking the listener of the box: %w", err)
	}
	return l, m.Ready.OwnProc, nil
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
			n.children[m.Ended.PID].finish(m.Ended.Exit, nil)
			delete(n.children, m.Ended.PID)
		}
		n.mu.Unlock()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.children {
		c.finish(Exit{Code: -1, Signal: "SIGKILL"}, ErrClosed)
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

// close kills the init and waits for it. The kernel lets an init end only when everything else in its pid
// namespace is dead and reaped, so nothing is left then; the mounts go with the last process that had them.
func (n *namespaces) close() error {
	_ = n.init.Process.Kill() // it fails only when the init has ended
	_ = n.init.Wait()         // a killed init has no useful status
	<-n.gone
	_ = n.conn.Close()
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
