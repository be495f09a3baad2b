package isolation

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// A view is what the child sees of the file system. The paths that it is given keep their place; folders that are
// private to somebody else, and in a box with a user of its own those that are closed to it, are covered by empty ones.
type view struct {
	drop     bool     // the child has a user of its own, so what is closed to others is closed to it
	readable []string // given paths
	writable []string
	private  []string // to be covered
	scratch  []string // to be covered, and empty and writable for the child
	size     int64    // of each scratch folder, in bytes; 0 is a quarter of a gigabyte
}

// privatePlaces are where people and services keep what concerns nobody else: homes, sockets of agents, buses and
// key rings, other file systems. scratchPlaces are where anybody may write.
var (
	privatePlaces = []string{"/home", "/root", "/run", "/var/run", "/mnt", "/media", "/srv"}
	scratchPlaces = []string{"/tmp", "/var/tmp"}
)

// cover hides what is private and what is closed, and shows the given paths through it.
func (v *view) cover() error {
	paths, err := withTargets(v.writable)
	if err != nil {
		return err
	}
	readable, err := withTargets(v.readable)
	if err != nil {
		return err
	}
	v.private, v.scratch = places(v.private, readable), places(v.scratch, readable)
	for _, p := range readable {
		if slices.Contains(paths, p) {
			continue // it belongs to the child already
		}
		opened := []string{p}
		if v.drop {
			if opened, err = entriesIfClosed(p); err != nil {
				return err
			}
		}
		paths = append(paths, opened...)
	}
	slices.Sort(paths) // a directory comes before what is in it
	paths = slices.Compact(paths)
	hidden := slices.Concat(v.private, v.scratch)
	// A path that has been mounted again may hold a closed directory on the way to another.
	for again := true; again; hidden = nil {
		if again, err = v.coverOnce(paths, hidden); err != nil {
			return err
		}
	}
	return nil
}

// places resolves links and drops what does not exist, and what leads to or is a path that the child was given.
func places(list, given []string) []string {
	var out []string
	for _, p := range list {
		real, err := filepath.EvalSymlinks(p)
		if err != nil || real == "/" || slices.ContainsFunc(given, func(g string) bool { return within(real, g) }) {
			continue
		}
		if info, err := os.Stat(real); err == nil && info.IsDir() {
			out = append(out, real)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// within reports whether p is dir or lies below it.
func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// coverOnce covers the hidden directories, and the topmost closed one above each path. It reports whether there was any.
func (v *view) coverOnce(paths, hidden []string) (bool, error) {
	covers := slices.Clone(hidden)
	if v.drop {
		for _, p := range paths {
			closed, err := firstClosed(p)
			if err != nil {
				return false, err
			}
			if closed != "" {
				covers = append(covers, closed)
			}
		}
	}
	covers = topmost(covers)
	var moves []move
	defer func() {
		for _, m := range moves {
			_ = unix.Close(m.fd)
		}
	}()
	for _, p := range paths {
		if !slices.ContainsFunc(covers, func(dir string) bool { return within(p, dir) }) {
			continue
		}
		m, err := newMove(p)
		if err != nil {
			return false, err
		}
		moves = append(moves, m)
	}
	for _, dir := range covers {
		options := "mode=0755,size=1m"
		if slices.Contains(v.scratch, dir) {
			options = v.scratchOptions()
		}
		if err := mountTmpfs(dir, options); err != nil {
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

func (v *view) scratchOptions() string {
	size := v.size
	if size == 0 {
		size = 256 << 20
	}
	return fmt.Sprintf("mode=1777,size=%d", size)
}

func mountTmpfs(dir, options string) error {
	return unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options)
}

// topmost drops the directories that lie below others.
func topmost(dirs []string) []string {
	slices.Sort(dirs)
	var out []string
	for _, dir := range dirs {
		if !slices.ContainsFunc(out, func(above string) bool { return within(dir, above) }) {
			out = append(out, dir)
		}
	}
	return out
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
