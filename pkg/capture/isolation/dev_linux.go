package isolation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// devices are what every program may expect below /dev. None of them holds anything or belongs to anybody.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// ownDev puts a /dev in the place of the host's that has no terminals, disks and sockets of the host.
func (v *view) ownDev() (err error) {
	fds := map[string]int{}
	defer func() {
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
	}()
	for _, name := range devices {
		fd, err := unix.Open(filepath.Join("/dev", name), unix.O_PATH|unix.O_CLOEXEC, 0)
		if err == nil {
			fds[name] = fd
		} else if name == "null" {
			return fmt.Errorf("opening /dev/null: %w", err)
		}
	}
	if err := mountTmpfs("/dev", "mode=0755,size=1m"); err != nil {
		return err
	}
	for name, fd := range fds {
		path := filepath.Join("/dev", name)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			return err
		}
		if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", fd), path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("showing %s: %w", path, err)
		}
	}
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	} {
		err = errors.Join(err, os.Symlink(target, filepath.Join("/dev", name)))
	}
	err = errors.Join(err, os.Mkdir("/dev/pts", 0o755), os.Mkdir("/dev/shm", 0o755))
	if err != nil {
		return err
	}
	// Terminals that the child makes are its own instance's.
	if err := unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		return fmt.Errorf("making terminals: %w", err)
	}
	v.scratch = append(v.scratch, "/dev/shm")
	return mountTmpfs("/dev/shm", v.scratchOptions())
}

type ownFile struct{ path, text string }

// ownFiles are files of the machine that a program asks who and where it is, and what a box shows in their place: the
// box's own name server is the only one, its user has a name on every machine, and nobody else is known. Its host name is another such file.
var ownFiles = []ownFile{
	{"/etc/resolv.conf", "nameserver 127.0.0.1\n"}, // nothing answers there but the parent
	{"/etc/hosts", "127.0.0.1\tlocalhost\n::1\tlocalhost\n"},
	{"/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/sh\n"},
	{"/etc/group", "root:x:0:\nnogroup:x:65534:\n"},
	{"/etc/machine-id", "00000000000000000000000000000001\n"},
	{"/etc/gitconfig", ""}, // the machine's settings of programs that CLIs run; they may hold credentials
	{"/etc/npmrc", ""},
}

// showFiles puts them in place, where the machine has them. A link to what is covered now is as good as none: a program
// then takes what it does without, as 127.0.0.1 for a name server.
func showFiles(hostName string) error {
	const here = "/dev/.file" // a file needs a place for a moment
	for _, f := range append(slices.Clone(ownFiles), ownFile{"/etc/hostname", hostName + "\n"}) {
		target, err := filepath.EvalSymlinks(f.path)
		if err != nil {
			continue
		}
		if err := os.WriteFile(here, []byte(f.text), 0o644); err != nil {
			return err
		}
		if err := unix.Mount(here, target, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("showing the box's own %s: %w", f.path, refusal(err))
		}
		if err := os.Remove(here); err != nil {
			return err
		}
	}
	return nil
}

// seal makes everything read-only but what the child may write to. A kernel before 5.12 cannot, which is no error.
func (v *view) seal(ownProc bool) (sealed bool, err error) {
	var open []string
	for _, p := range v.writable {
		target, err := filepath.EvalSymlinks(p)
		if err != nil {
			return false, err
		}
		// A mount of its own, which the next step can spare.
		if err := unix.Mount(target, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return false, fmt.Errorf("giving %s to the child: %w", p, err)
		}
		open = append(open, target)
	}
	err = unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	if errors.Is(err, unix.ENOSYS) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("making the file system read-only: %w", err)
	}
	open = append(open, v.scratch...)
	if ownProc {
		open = append(open, "/proc") // a program that sandboxes its own children writes there
	}
	for _, p := range open {
		if err := unix.MountSetattr(unix.AT_FDCWD, p, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return false, fmt.Errorf("giving %s to the child: %w", p, err)
		}
	}
	return true, nil
}
