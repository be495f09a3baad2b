package isolation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// ErrRefused says that this machine does not give the namespaces that a Box needs. The error that wraps it
// names what was refused and the ways out.
var ErrRefused = errors.New("namespaces are refused here")

// ErrClosed says that the box ended, by Close, by its context, by a limit or by a fault, before its child did. The child
// is dead then. After a limit the error wraps a *LimitError too.
var ErrClosed = errors.New("the box ended before the child did")

// Options say what a Box is made of. All paths are absolute and exist when Open is called.
type Options struct {
	// Enabled asks for namespaces where the system has them. False is --no-isolation: a process group on the
	// host's network.
	Enabled bool

	// Readable are directories and files outside of the run folder that the child must be able to read and
	// execute. Each keeps its path. Directories on the way that are closed to the child's user are replaced,
	// inside the box only, by empty ones that lead to the given paths and nowhere else; so is a given directory
	// that is itself closed, entry by entry. What is deeper must be readable by other users as it is.
	Readable []string

	// Writable are run folders. When the child gets a user of its own they belong to that user from Open to
	// Close, with all that is in them, and afterwards to the owner that the folder had before.
	Writable []string

	// Private are further folders of the caller that the child must not see, such as the home of the user. Homes, sockets of
	// services and temporary folders at the usual places are hidden without being named.
	Private []string

	// OwnSandbox says that the child confines its own children by mounts, which a Landlock rule on files forbids. The mounts
	// of the box hold all the same.
	OwnSandbox bool

	// HostName is what the child sees as the name of the machine, in a box that has namespaces. Default: the same in every
	// box, so that no transcript tells machines apart.
	HostName string

	// Outside, where given, lets the caller serve names and ports of the outside world to the child. Only a box of
	// namespaces has it.
	Outside *Outside

	// Limits bound what the child and its descendants may use.
	Limits Limits

	// Exe is the program to start as the init of the box; it must import this package. Default: the running program.
	Exe string
}

// Outside is what stands in a box for the world outside: the caller answers for it, and the child still has loopback only.
type Outside struct {
	// Ports are TCP ports on which the box listens at every address of loopback; Box.Ports has the listeners.
	Ports []uint16
	// Resolve gives the address on loopback that stands for a host name, in lower case; false when there is none. It may
	// be called from several goroutines.
	Resolve func(name string) (netip.Addr, bool)
}

// maxPorts bounds Outside.Ports.
const maxPorts = 16

// Info says what the child of a box cannot reach. It has the words of contract.Isolation, which this package does not import: what it
// imports is initialized again for each box.
type Info struct {
	Kind       string
	Namespaces []string
	Network    string
	User       string
	Filesystem string
	Landlock   *Landlock // nil where it is not in force
	Limits     Limits
	Cgroup     *Cgroup // nil where no control group could be made
}

// Cgroup says which limits a control group of the box held. The kernel then counts exactly, and for this box alone.
type Cgroup struct {
	Version int      // of the kernel's interface: 1 or 2
	Limits  []string // "memory", "processes"
}

// Landlock is the kernel's own lock on what a program may do.
type Landlock struct {
	ABI   int  // version that the kernel has
	Files bool // it forbids changes outside of the run folders; else only signals and sockets to the outside
}

// A Box is a place to run a child in. Its methods may be called from several goroutines.
type Box struct {
	listener  net.Listener
	ports     []net.Listener // as in Outside.Ports
	isolation Info
	runner    runner
	stop      func() bool // ends the watch on the context
	egress    *resolver   // nil where the child has the host's network
	disk      *diskWatch  // nil without a limit
	once      sync.Once
	err       error // of the first Close
}

// A runner is one kind of box.
type runner interface {
	// start runs c with stdio as its descriptors 0 to 2, which stay open here, and fills in child.
	start(c Command, child *Child, stdio [3]*os.File) error
	// exceeded kills everything because of a limit.
	exceeded(*LimitError)
	// close kills everything and returns when nothing is left.
	close() error
	// addresses are what children tried to reach without a name.
	addresses() Addresses
}

// Open makes a box. When ctx ends, everything in the box is killed; Close is still needed. The error wraps
// ErrRefused when the kernel does not give the namespaces.
func Open(ctx context.Context, o Options) (*Box, error) {
	for _, p := range append(append([]string{}, o.Readable...), o.Writable...) {
		if !filepath.IsAbs(p) {
			return nil, fmt.Errorf("opening a box: %q is not an absolute path: give one", p)
		}
		if _, err := os.Stat(p); err != nil {
			return nil, fmt.Errorf("opening a box: a readable or writable path must exist: %w", err)
		}
	}
	if o.Outside != nil && (!o.Enabled || len(o.Outside.Ports) > maxPorts) {
		return nil, fmt.Errorf("opening a box: the outside is served to namespaces only, and by at most %d ports", maxPorts)
	}
	b, err := open(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("opening a box: %w", err)
	}
	if o.Limits.Disk > 0 && len(o.Writable) > 0 {
		b.disk = watchDisk(o.Writable, o.Limits.Disk, b.runner.exceeded)
	}
	return b, nil
}

// Lookups are the host names that the child asked for, sorted, each once: attempts to leave loopback. They come from the
// child, so they are not fit to be shown as they are.
func (b *Box) Lookups() []string {
	if b.egress == nil {
		return nil
	}
	return b.egress.list()
}

// Addresses are the attempts to reach an address without its name. None of them went anywhere. On the host's network
// nothing is known of them.
func (b *Box) Addresses() Addresses { return b.runner.addresses() }

// Listener is a TCP listener on a free port of 127.0.0.1 as the child sees it. The caller serves it; Close
// closes it.
func (b *Box) Listener() net.Listener { return b.listener }

// Ports are the listeners on Outside.Ports, in that order. The caller serves them; Close closes them. The local address of a
// connection is the one that Outside.Resolve gave for the name.
func (b *Box) Ports() []net.Listener { return b.ports }

// Isolation says what the child cannot reach. The namespace "pid" is listed only when the child's /proc shows
// the box alone. The user is "unprivileged" when the child has a user of its own, and "same" when it has the
// caller's, stripped of every capability.
func (b *Box) Isolation() Info { return b.isolation }

// A Command is a program to run.
type Command struct {
	Path string   // absolute; also the program's argv[0]
	Args []string // after argv[0]
	Env  []string // "NAME=value"; nothing is inherited
	Dir  string   // working directory, absolute
}

// Start runs c in a new session, with pipes as its standard descriptors. The error wraps fs.ErrNotExist or
// fs.ErrPermission when that is the reason, and ErrClosed when the box is gone.
func (b *Box) Start(c Command) (*Child, error) {
	if !filepath.IsAbs(c.Path) || !filepath.IsAbs(c.Dir) {
		return nil, fmt.Errorf("starting %q in %q: both must be absolute paths", c.Path, c.Dir)
	}
	for _, s := range c.Env {
		if !strings.Contains(s, "=") {
			return nil, fmt.Errorf("starting %s: an entry of its environment is not of the form NAME=value", c.Path)
		}
	}
	child := &Child{done: make(chan struct{})}
	far, err := child.pipes()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.Path, err)
	}
	err = b.runner.start(c, child, far)
	closeAll(far[:])
	if err != nil {
		closeAll([]*os.File{child.Stdin, child.Stdout, child.Stderr})
		return nil, fmt.Errorf("starting %s in %s: %w", c.Path, c.Dir, err)
	}
	return child, nil
}

// Close kills everything in the box and returns when nothing is left of it. What children wrote before can
// still be read from their pipes. A second Close gives the answer of the first.
func (b *Box) Close() error {
	b.once.Do(func() {
		b.stop()
		if b.disk != nil {
			b.disk.close()
		}
		b.err = b.runner.close()
		if b.egress != nil {
			b.egress.close()
		}
		// The caller's server has often closed it already; there is nothing to do about an error either way.
		_ = b.listener.Close()
		for _, l := range b.ports {
			_ = l.Close()
		}
	})
	return b.err
}
