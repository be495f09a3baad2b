package isolation

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A message goes over the socket between the parent and the init; one field is set.
type message struct {
	Setup  *setup     `json:",omitempty"` // to the init, once and first, with the files of the control group
	Start  *start     `json:",omitempty"` // to the init, with the child's three descriptors
	Signal *sendSig   `json:",omitempty"` // to the init
	Ready  *ready     `json:",omitempty"` // answer to Setup, with the sockets
	Begun  *begun     `json:",omitempty"` // answer to Start
	Ended  *childExit `json:",omitempty"` // when a child has ended

	Exceeded string `json:",omitempty"` // the limit that ends the box
}

type setup struct {
	Drop     bool     // start children as nobody; else the namespace has only one user, who is nobody
	Readable [][]byte // paths are bytes: JSON strings would not keep them all
	Writable [][]byte
	Private  [][]byte
	Limits   Limits

	OwnSandbox bool
	HostName   string
	Ports      []uint16 // to listen on, beside the box's own

	Cgroup *Cgroup // that children are to be put into; nil for none
}

type start struct {
	Path, Dir []byte
	Argv, Env [][]byte
}

type sendSig struct{ PID, Signal int }

type ready struct {
	OwnProc  bool // /proc shows the box alone
	Sealed   bool // only the run folders can be written to
	Landlock *Landlock
	Grouped  bool // children are put into the control group
	Watched  bool // the last descriptor tells of the calls by which children name addresses
	Fault    *fault
}

type begun struct {
	PID   int
	Fault *fault
}

type childExit struct {
	PID  int
	Exit Exit
}

// A fault is an error on its way from the init.
type fault struct {
	Text    string
	Errno   syscall.Errno
	Refused bool // the kernel did not allow a step that makes the box what it is
}

func faultOf(err error) *fault {
	f := &fault{Text: err.Error(), Refused: errors.Is(err, ErrRefused)}
	_ = errors.As(err, &f.Errno)
	return f
}

func (f *fault) Error() string { return f.Text }

func (f *fault) Unwrap() []error {
	var errs []error
	if f.Errno != 0 {
		errs = append(errs, f.Errno)
	}
	if f.Refused {
		errs = append(errs, ErrRefused)
	}
	return errs
}

// maxMessage bounds a message: the kernel takes at most a quarter of an 8 MiB stack as arguments and
// environment, and base64 adds a third.
const maxMessage = 16 << 20

// maxFiles is how many descriptors a message brings at most.
const maxFiles = sockets + maxPorts + 1

// sockets is how many the init opens in any case.
const sockets = 3

// send writes m, and with it the descriptors fds.
func send(c *net.UnixConn, m message, fds ...int) error {
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding a message of the box: %w", err)
	}
	if len(body) > maxMessage {
		return fmt.Errorf("arguments and environment are too large: %w", syscall.E2BIG)
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	// Descriptors travel with the length alone: four bytes are never written by halves.
	head := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	if _, _, err := c.WriteMsgUnix(head, rights, nil); err != nil {
		return err
	}
	_, err = c.Write(body)
	return err
}

// receive reads a message and its descriptors, which are closed on exec. The error wraps io.EOF when the other
// side has closed the socket.
func receive(c *net.UnixConn) (message, []*os.File, error) {
	var m message
	head, oob := make([]byte, 4), make([]byte, unix.CmsgSpace(maxFiles*4))
	n, oobn, _, _, err := c.ReadMsgUnix(head, oob)
	if err != nil {
		return m, nil, err
	}
	files, err := filesOf(oob[:oobn])
	if err != nil {
		return m, nil, err
	}
	fail := func(err error) (message, []*os.File, error) {
		closeAll(files)
		return message{}, nil, fmt.Errorf("reading a message of the box: %w", err)
	}
	if _, err := io.ReadFull(c, head[n:]); err != nil {
		return fail(err)
	}
	size := binary.BigEndian.Uint32(head)
	if size > maxMessage {
		return fail(fmt.Errorf("its length %d is above %d", size, maxMessage))
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(c, body); err != nil {
		return fail(err)
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return fail(err)
	}
	return m, files, nil
}

// filesOf returns the descriptors in control data.
func filesOf(oob []byte) ([]*os.File, error) {
	parts, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("reading descriptors: %w", err)
	}
	var files []*os.File
	for i := range parts {
		fds, err := unix.ParseUnixRights(&parts[i])
		if err != nil {
			closeAll(files)
			return nil, fmt.Errorf("reading descriptors: %w", err)
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files, nil
}

func toBytes(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

func toStrings(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}
