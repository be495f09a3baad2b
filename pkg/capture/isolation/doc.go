// Package isolation runs one child process where it can reach nothing but what it was given, and leaves
// nothing of it behind.
//
// On Linux a Box is a set of new namespaces (mount, network, pid, ipc, uts, and user when the caller is not
// root). Open starts this very binary a second time as their init, which this package is by itself while the program
// is initialized: before all packages that it does not need, and before main. The init has an empty environment and one socket to its parent. It brings up loopback,
// opens a listener there and hands its descriptor over, so that the parent serves a port that only the child
// can reach. It starts the child without privileges, reaps whatever is orphaned, and reports the child's own
// exit. When the socket closes, or the parent dies, the init ends, and the kernel kills all that is left in its
// pid namespace; a new session, a double fork or an ignored signal is no way out. Where a control group can be made, the
// children are in one of the box's own, which bounds memory and processes; the init is not, so that it works on when the
// group is full.
//
// Elsewhere, or when isolation is switched off, a Box is a process group on the host's network: the group is
// killed at the end, and a descendant that has left it gets away. On Windows the group is a job object, which no
// descendant can leave. Of the limits only the one on disk holds there.
// Box.Isolation says which of these a run had.
package isolation
