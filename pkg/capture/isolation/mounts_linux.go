package isolation

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// mountsPrivate keeps what is mounted from now on out of the host.
func mountsPrivate() error {
	return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
}

// mountProc shows the processes of the box instead of the host's.
func mountProc() error {
	return unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

// reveal lets nobody reach the given paths where directories on the way are closed to him. Each closed
// directory is covered by an empty one, and the paths below are mounted into that. This hides nothing that he
// could have reached, and every path stays what it is outside.
func reveal(readable, writable []string) error {
	paths, err := withTargets(writable)
	if err != nil {
		return err
	}
	readable, err = withTargets(readable)
	if err != nil {
		return err
	}
	for _, p := range readable {
		if slices.Contains(paths, p) {
			continue // it belongs to the child already
		}
		opened, err := entriesIfClosed(p)
		if err != nil {
			return err
		}
		paths = append(paths, opened...)
	}
	slices.Sort(paths) // a directory comes before what is in it
	paths = slices.Compact(paths)
	// A path that has been mounted again may hold a closed directory on the way to another.
	for again := true; again; {
		if again, err = coverOnce(paths); err != nil {
			return err
		}
	}
	return nil
}

// coverOnce covers the topmost closed directory above each path. It reports whether there was any.
func coverOnce(paths []string) (bool, error) {
	var covers []string
	var moves []move
	defer func() {
		for _, m := range moves {
			_ = unix.Close(m.fd)
		}
	}()
	for _, p := range paths {
		closed, err := firstClosed(p)
		if err != nil {
			return false, err
		}
		if closed == "" {
			continue
		}
		m, err := newMove(p)
		if err != nil {
			return false, err
		}
		moves, covers = append(moves, m), append(covers, closed)
	}
	slices.Sort(covers)
	for _, dir := range slices.Compact(covers) {
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
			return false, fmt.Errorf("covering %s, which is closed to the child: %w", dir, err)
		}
	}
	for _, m := range moves {
		if err := m.mount(); err != nil {
			return false, fmt.Errorf("showing %s to the child: %w", m.path, err)
		}
	}
	return len(covers) > 0, nil
}

// withTargets adds to paths where they lead when symbolic links are followed.
func withTargets(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		target, err := filepath.EvalSymlinks(p)
		if err != nil {
			return nil, err
		}
		out = append(out, filepath.Clean(p), target)
	}
	return out, nil
}

// entriesIfClosed returns what stands for path p: itself when the child may read it, and the entries of a
// directory that is closed.
func entriesIfClosed(p string) ([]string, error) {
	info, err := os.Lstat(p)
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0 || mode.IsDir() && allows(info, 5) || !mode.IsDir() && allows(info, 4):
		return []string{p}, nil
	case !mode.IsDir():
		return nil, fmt.Errorf("%s is closed to the child's user: make it readable by others (chmod o+r)", p)
	}
	entries, err := os.ReadDir(p)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		out = append(out, filepath.Join(p, e.Name()))
	}
	return out, nil
}

// firstClosed returns the topmost directory above p that nobody cannot pass, or "". What a link leads to is a
// path of its own.
func firstClosed(p string) (string, error) {
	for i := range len(p) {
		if p[i] != filepath.Separator {
			continue
		}
		dir := p[:max(i, 1)]
		info, err := os.Lstat(dir)
		if err != nil {
			return "", err
		}
		if info.IsDir() && !allows(info, 1) {
			return dir, nil
		}
	}
	return "", nil
}

// allows reports whether nobody has all of the permissions want, which are as in the last digit of a mode.
func allows(info fs.FileInfo, want fs.FileMode) bool {
	mode := info.Mode().Perm()
	switch s := info.Sys().(*syscall.Stat_t); {
	case s.Uid == nobody:
		mode >>= 6
	case s.Gid == nobody:
		mode >>= 3
	}
	return mode&want == want
}

// A move is a path that is mounted again at its own place, after a directory above it has been covered.
type move struct {
	path string
	fd   int    // of what was there before
	dir  bool   // it is a directory
	link string // it is a link to this
}

func newMove(p string) (move, error) {
	info, err := os.Lstat(p)
	if err != nil {
		return move{}, err
	}
	m := move{path: p, dir: info.IsDir()}
	if info.Mode()&fs.ModeSymlink != 0 {
		if m.link, err = os.Readlink(p); err != nil {
			return move{}, err
		}
	}
	m.fd, err = unix.Open(p, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return move{}, &fs.PathError{Op: "open", Path: p, Err: err}
	}
	return m, nil
}

func (m move) mount() error {
	if err := os.MkdirAll(filepath.Dir(m.path), 0o755); err != nil {
		return err
	}
	if _, err := os.Lstat(m.path); err == nil {
		return nil // it came with a directory above
	}
	if m.link != "" {
		return os.Symlink(m.link, m.path)
	}
	if m.dir {
		if err := os.Mkdir(m.path, 0o755); err != nil {
			return err
		}
	} else if err := os.WriteFile(m.path, nil, 0o444); err != nil {
		return err
	}
	return unix.Mount(fmt.Sprintf("/proc/self/fd/%d", m.fd), m.path, "", unix.MS_BIND|unix.MS_REC, "")
}
