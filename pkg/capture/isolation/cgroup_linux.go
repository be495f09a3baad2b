package isolation

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// groupPrefix begins the name of each control group of a box. A locked one is in use; what nobody has locked is swept.
const groupPrefix = "agent-contracts-"

// ownProc is where the kernel tells of this process; a test puts another folder there.
var ownProc = "/proc/self"

// A cgroup is the control group of one box: one directory in version 2, one for each limit in version 1.
type cgroup struct {
	version   int
	memory    string // directory that holds the limit; empty where none does
	processes string
	locks     map[string]*os.File // by directory
}

// newCgroup makes a group for the limits, or returns nil where this process may make none.
func newCgroup(l Limits) *cgroup {
	if l.Memory <= 0 && l.Processes <= 0 {
		return nil
	}
	mounts, own := readOwn(ownProc)
	if g := newCgroup2(places2(mounts, own), l); g != nil {
		return g
	}
	g := &cgroup{version: 1, locks: map[string]*os.File{}}
	if l.Memory > 0 {
		g.memory = g.make(place1(mounts, own, "memory"), func(dir string) error { return limitMemory1(dir, l.Memory) })
	}
	if l.Processes > 0 {
		// The thread of the init that starts the children is in the group as well.
		g.processes = g.make(place1(mounts, own, "pids"), func(dir string) error { return set(dir, "pids.max", int64(l.Processes)+1) })
	}
	if len(g.locks) == 0 {
		return nil
	}
	return g
}

// newCgroup2 takes the nearest place that has both controllers, else one that has any.
func newCgroup2(places []place, l Limits) *cgroup {
	for _, both := range []bool{true, false} {
		for _, p := range places {
			memory, processes := l.Memory > 0 && p.has("memory"), l.Processes > 0 && p.has("pids")
			complete := memory == (l.Memory > 0) && processes == (l.Processes > 0)
			if both != complete || !memory && !processes || p.tighter(l) {
				continue
			}
			g := &cgroup{version: 2, locks: map[string]*os.File{}}
			dir := g.make(p.dir, func(dir string) error {
				var errs [2]error
				if memory {
					errs[0] = limitMemory2(dir, l.Memory)
				}
				if processes {
					errs[1] = set(dir, "pids.max", int64(l.Processes))
				}
				return errors.Join(errs[:]...)
			})
			if dir == "" {
				continue
			}
			if memory {
				g.memory = dir
			}
			if processes {
				g.processes = dir
			}
			return g
		}
	}
	return nil
}

// make makes a locked group in parent and sets it up. It returns "" where it cannot.
func (g *cgroup) make(parent string, setUp func(dir string) error) string {
	if parent == "" {
		return ""
	}
	sweepGroups(parent)
	dir, err := os.MkdirTemp(parent, groupPrefix)
	if err != nil {
		return ""
	}
	lock, err := lockGroup(dir)
	if err == nil {
		// It fails as well where a sweep was faster than the lock.
		if err = setUp(dir); err == nil {
			g.locks[dir] = lock
			return dir
		}
		_ = lock.Close()
	}
	_ = unix.Rmdir(dir)
	return ""
}

func lockGroup(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// sweepGroups removes the groups that killed runs left. The kernel removes none that has a process.
func sweepGroups(parent string) {
	entries, _ := os.ReadDir(parent) // making a group fails then too
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), groupPrefix) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		if lock, err := lockGroup(dir); err == nil {
			_ = unix.Rmdir(dir)
			_ = lock.Close()
		}
	}
}

func limitMemory2(dir string, limit int64) error {
	// Kernels without swap have no such file. One kill ends all, since a CLI without a part of it is no CLI.
	_, _ = set(dir, "memory.swap.max", 0), set(dir, "memory.oom.group", 1)
	return set(dir, "memory.max", limit)
}

func limitMemory1(dir string, limit int64) error {
	if err := set(dir, "memory.limit_in_bytes", limit); err != nil {
		return err
	}
	// With swap; few kernels count it. Zero: kill, and do not wait for somebody who decides.
	_, _ = set(dir, "memory.memsw.limit_in_bytes", limit), set(dir, "memory.oom_control", 0)
	return nil
}

func set(dir, file string, value int64) error {
	return os.WriteFile(filepath.Join(dir, file), strconv.AppendInt(nil, value, 10), 0o600)
}

// files are what the init needs to put its children into the group: the directory in version 2, lists of threads in version 1.
func (g *cgroup) files() ([]*os.File, error) {
	var list []*os.File
	for dir := range g.locks {
		flags, name := os.O_WRONLY, filepath.Join(dir, "tasks")
		if g.version == 2 {
			flags, name = os.O_RDONLY, dir
		}
		f, err := os.OpenFile(name, flags, 0)
		if err != nil {
			closeAll(list)
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// info is what Box.Isolation says of it.
func (g *cgroup) info() *Cgroup {
	i := &Cgroup{Version: g.version}
	if g.memory != "" {
		i.Limits = append(i.Limits, "memory")
	}
	if g.processes != "" {
		i.Limits = append(i.Limits, "processes")
	}
	return i
}

// starved is the limit that was broken when the kernel has killed something in the group for want of memory, else nil.
func (g *cgroup) starved() *LimitError {
	if g == nil || g.memory == "" {
		return nil
	}
	if g.version == 2 {
		events := fields(filepath.Join(g.memory, "memory.events"))
		if events["oom_kill"] == 0 {
			return nil
		}
		return &LimitError{What: "memory", Machine: events["oom"] == 0}
	}
	if fields(filepath.Join(g.memory, "memory.oom_control"))["oom_kill"] == 0 {
		return nil
	}
	hits, _ := os.ReadFile(filepath.Join(g.memory, "memory.failcnt"))
	return &LimitError{What: "memory", Machine: string(bytes.TrimSpace(hits)) == "0"}
}

// fields reads lines of a name and a number.
func fields(file string) map[string]int64 {
	text, _ := os.ReadFile(file)
	values := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			values[name], _ = strconv.ParseInt(value, 10, 64)
		}
	}
	return values
}

// remove removes the group when nobody is in it any more. What the kernel still holds is left to the next sweep.
func (g *cgroup) remove() {
	if g == nil {
		return
	}
	for dir, lock := range g.locks {
		for range 50 {
			if err := unix.Rmdir(dir); !errors.Is(err, unix.EBUSY) {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
		_ = lock.Close()
	}
}

// A mount is one mounted hierarchy of control groups.
type mount struct {
	version     int
	controllers []string // of version 1
	root, dir   string   // the group that is shown, and where
}

// readOwn reads where groups are mounted, and our own group by controller; "" stands for version 2.
func readOwn(proc string) ([]mount, map[string]string) {
	mountinfo, _ := os.ReadFile(filepath.Join(proc, "mountinfo")) // without /proc there are no groups for us
	groups, _ := os.ReadFile(filepath.Join(proc, "cgroup"))
	return parseMounts(string(mountinfo)), parseOwn(string(groups))
}

func parseMounts(mountinfo string) []mount {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	var list []mount
	for line := range strings.Lines(mountinfo) {
		place, kind, _ := strings.Cut(line, " - ")
		a, b := strings.Fields(place), strings.Fields(kind)
		if len(a) < 5 || len(b) < 3 {
			continue
		}
		m := mount{root: unescape.Replace(a[3]), dir: unescape.Replace(a[4])}
		switch b[0] {
		case "cgroup2":
			m.version = 2
		case "cgroup":
			m.version, m.controllers = 1, strings.Split(b[len(b)-1], ",")
		default:
			continue
		}
		list = append(list, m)
	}
	return list
}

func parseOwn(groups string) map[string]string {
	own := map[string]string{}
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) < 3 {
			continue
		}
		for c := range strings.SplitSeq(parts[1], ",") {
			own[c] = parts[2]
		}
	}
	return own
}

// at is the directory of a group, "" where the mount does not show it.
func (m mount) at(group string) string {
	rel, ok := strings.CutPrefix(group, strings.TrimSuffix(m.root, "/"))
	if !ok || group == "" || path.Clean(group) != group || rel != "" && rel[0] != '/' || strings.HasPrefix(group, "/..") {
		return ""
	}
	return path.Join(m.dir, rel)
}

// place1 is the directory of our own group for a controller of version 1.
func place1(mounts []mount, own map[string]string, controller string) string {
	for _, m := range mounts {
		if dir := m.at(own[controller]); m.version == 1 && slices.Contains(m.controllers, controller) && dir != "" {
			return dir
		}
	}
	return ""
}

// A place is a directory of version 2 in which groups with these controllers can be made, and our own groups below it.
type place struct {
	dir         string
	controllers []string
	below       []string
}

func (p place) has(controller string) bool { return slices.Contains(p.controllers, controller) }

// tighter reports whether a box in p would be freer than we are: a group between us and p has a limit below that of the box.
func (p place) tighter(l Limits) bool {
	for _, dir := range p.below {
		for file, limit := range map[string]int64{"memory.max": l.Memory, "pids.max": int64(l.Processes)} {
			text, _ := os.ReadFile(filepath.Join(dir, file))
			if n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64); err == nil && n < limit { // else "max"
				return true
			}
		}
	}
	return false
}

// places2 are our own group and those above it, as far as their children have limits. A group that has processes gives its
// children none, unless it is the root; so the place is most often the group above our own.
func places2(mounts []mount, own map[string]string) []place {
	var list []place
	for _, m := range mounts {
		if m.version != 2 {
			continue
		}
		var below []string
		top := path.Clean(m.dir)
		for dir := m.at(own[""]); dir != ""; dir = path.Dir(dir) {
			text, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
			if errors.Is(err, fs.ErrNotExist) {
				break
			}
			p := place{dir: dir, controllers: strings.Fields(string(text)), below: slices.Clone(below)}
			// Who starts a process in a group must be allowed to move it there from our own.
			if (p.has("memory") || p.has("pids")) && unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil {
				list = append(list, p)
			}
			if below = append(below, dir); dir == top || dir == "/" {
				break
			}
		}
	}
	return list
}
