package isolation

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// confine takes away what children must not have; they inherit it from this thread.
func confine(s *setup, v *view) (inForce *Landlock, err error) {
	if err := limit(s.Limits); err != nil {
		return nil, err
	}
	// Nobody may look into the init, though its user may be the child's.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("closing the init to its children: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("forbidding new privileges: %w", err)
	}
	// A key ring of its own; the caller's may hold credentials. A kernel or a container without key rings says no.
	_, _ = unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)
	if inForce, err = landlock(v, !s.OwnSandbox); err != nil {
		return nil, err
	}
	if s.Drop {
		return inForce, nil // root's capabilities go with its user id, and changing that needs them
	}
	// Two elements: version 3 has 64 bits in two halves. The ambient set is emptied with the permitted one.
	none := [2]unix.CapUserData{}
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return nil, fmt.Errorf("dropping capabilities: %w", err)
	}
	return inForce, nil
}

// limit sets what the kernel counts for each process or user. There is no limit on address space: Go and Node reserve
// far more than they use.
func limit(l Limits) error {
	// With a limit of one byte there is no core file; zero would still call a core handler of the host.
	limits := map[int]uint64{unix.RLIMIT_CORE: 1}
	if l.Disk > 0 {
		limits[unix.RLIMIT_FSIZE] = uint64(l.Disk / 2)
	}
	if l.Processes > 0 {
		limits[unix.RLIMIT_NPROC] = uint64(l.Processes)
	}
	for which, n := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(which, &now); err != nil {
			return fmt.Errorf("reading a resource limit: %w", err)
		}
		n = min(n, now.Max)
		if err := unix.Setrlimit(which, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			return fmt.Errorf("setting a resource limit: %w", err)
		}
	}
	// The kernel that runs out of memory takes the box first. Raising needs no privilege.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	return nil
}

// Rights of Landlock, by the version that brought them.
const (
	landlockRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	landlockMake  = unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
)

// LandlockABI is the version of Landlock that the kernel has, 0 when it has none.
func LandlockABI() int {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(abi)
}

// landlock forbids this thread and its children to change anything outside of the given folders, and to send signals out of
// the box. It is a second lock beside the mounts. With files it also forbids every mount.
func landlock(v *view, files bool) (*Landlock, error) {
	abi := LandlockABI()
	if abi < 2 || abi < 6 && !files {
		return nil, nil //nolint:nilnil // version 1 forbids every rename to another folder; before 6 there are no scopes
	}
	rights := uint64(0)
	if files {
		rights = landlockRead | landlockWrite | landlockMake
	}
	if abi < 3 {
		rights &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi < 5 {
		rights &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: rights}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size = unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, fmt.Errorf("making a Landlock ruleset: %w", errno)
	}
	ruleset := int(fd)
	defer unix.Close(ruleset) //nolint:errcheck // a handle of ours
	rules := map[string]uint64{}
	if files {
		rules = v.rules(rights)
	}
	for path, allowed := range rules {
		if err := landlockRule(ruleset, path, allowed&rights); err != nil {
			return nil, err
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 {
		return nil, fmt.Errorf("applying the Landlock ruleset: %w", errno)
	}
	return &Landlock{ABI: abi, Files: files}, nil
}

// rules are the rights below each folder.
func (v *view) rules(all uint64) map[string]uint64 {
	rules := map[string]uint64{"/": landlockRead, "/dev": landlockRead | landlockWrite, "/proc": landlockRead | landlockWrite}
	for _, p := range slices.Concat(v.writable, v.scratch) {
		rules[p] = all
	}
	return rules
}

func landlockRule(ruleset int, path string, allowed uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("opening %s for Landlock: %w", path, err)
	}
	defer unix.Close(fd) //nolint:errcheck // a handle of ours
	rule := unix.LandlockPathBeneathAttr{Allowed_access: allowed, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("allowing %s by Landlock: %w", path, errno)
	}
	return nil
}
