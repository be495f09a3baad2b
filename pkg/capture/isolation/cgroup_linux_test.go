package isolation

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// bombs is how many processes the fork bomb starts at most.
const bombs = 500

// ways are how a limit is held: by the control group of this machine, where it has one, and without.
var ways = []struct {
	name  string
	group bool
}{{"group", true}, {"no group", false}}

// limited opens a box whose limits are held in one way; it skips where this machine has no control groups for us.
func limited(t *testing.T, group bool, l Limits) *Box {
	t.Helper()
	if !group {
		inProc(t, t.TempDir())
	}
	b := openBox(t, Options{Enabled: true, Limits: l})
	if has := b.Isolation().Cgroup != nil; has && !group {
		t.Fatal("the box has a group")
	} else if !has && group {
		t.Skip("no control group can be made here")
	}
	return b
}

// inProc has groups looked for as another /proc/self says.
func inProc(t *testing.T, dir string) {
	before := ownProc
	ownProc = dir
	t.Cleanup(func() { ownProc = before })
}

// tasks are the processes and threads of the user that children have.
func tasks(t *testing.T) int {
	t.Helper()
	uid := os.Geteuid()
	if uid == 0 {
		uid = nobody
	}
	list, err := filepath.Glob("/proc/[0-9]*/task/*")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, dir := range list {
		if info, err := os.Stat(dir); err == nil && info.Sys().(*syscall.Stat_t).Uid == uint32(uid) {
			n++
		}
	}
	return n
}

func TestForkBomb(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			const limit = 100
			var b *Box
			var c *Child
			m := marker(t)
			for end := time.Now().Add(20 * time.Second); c == nil; {
				room := limit
				if !w.group {
					room += tasks(t) // those of other boxes count, and come and go
				}
				b = limited(t, w.group, Limits{Processes: room})
				var err error
				c, err = b.Start(Command{Path: self(t), Args: []string{"helper", "bomb", m}, Dir: "/", Env: []string{"GORACE=atexit_sleep_ms=0"}})
				if err != nil && (w.group || !errors.Is(err, syscall.EAGAIN) || time.Now().After(end)) {
					t.Fatal(err)
				}
			}
			t.Cleanup(func() { closeAll([]*os.File{c.Stdin, c.Stdout, c.Stderr}) })
			out, _ := output(t, c)
			n := strings.Count(out, "started\n")
			if n >= bombs || w.group && n > limit {
				t.Errorf("%d processes", n)
			}
			if g := b.runner.(*namespaces).group; w.group && fields(filepath.Join(g.processes, "pids.events"))["max"] == 0 {
				t.Error("the limit of the group was not reached")
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			if running(m) {
				t.Error("some are left")
			}
		})
	}
}

// A full box does not count in another one.
func TestForkBombBeside(t *testing.T) {
	full := limited(t, true, Limits{Processes: 20})
	out, _ := output(t, startHelper(t, full, "bomb"))
	if n := strings.Count(out, "started\n"); n > 20 {
		t.Errorf("%d processes", n)
	}
	if _, exit := output(t, startHelper(t, limited(t, true, Limits{Processes: 50}), "exit", "0")); exit != (Exit{}) {
		t.Errorf("a child of another box: exit %v", exit)
	}
}

func TestMemory(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			for _, what := range []string{"eat", "eat-in-child"} {
				b := limited(t, w.group, Limits{Memory: 128 << 20})
				if !slices.Contains(b.Isolation().Namespaces, "pid") && !w.group {
					t.Skip("the /proc of this container cannot be replaced, so nothing is counted")
				}
				refuses(t, startHelper(t, b, what), "memory")
			}
		})
	}
}

// groupsLeft are the groups of boxes in the places where this process makes them.
func groupsLeft(b *Box) (list []string) {
	for dir := range b.runner.(*namespaces).group.locks {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), groupPrefix+"*"))
		list = append(list, found...)
	}
	return list
}

func TestGroupGoes(t *testing.T) {
	b := limited(t, true, Limits{Memory: 1 << 30, Processes: 100})
	g := b.runner.(*namespaces).group
	out, _ := output(t, startHelper(t, b, "read", "/proc/self/cgroup"))
	for dir := range g.locks {
		if !strings.Contains(out, "/"+filepath.Base(dir)) {
			t.Errorf("the child is in\n%s", out)
		}
		// A folder that nobody has locked was left by a killed run.
		left := filepath.Join(filepath.Dir(dir), groupPrefix+"left-"+strconv.Itoa(os.Getpid()))
		if err := os.Mkdir(left, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Remove(left) })
	}
	if what := did(t, b, "write-all", slices.Collect(maps.Keys(g.locks))...); what != "" {
		t.Errorf("the child\n%s", what)
	}
	for dir := range g.locks { // of which the child's user may be the owner
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		if what := did(t, b, "open", files...); what != "" {
			t.Errorf("the child\n%s", what)
		}
	}
	again := limited(t, true, Limits{Memory: 1 << 30, Processes: 100})
	for _, dir := range groupsLeft(b) {
		if strings.HasSuffix(dir, "left-"+strconv.Itoa(os.Getpid())) {
			t.Errorf("%s is left", dir)
		}
	}
	for dir := range g.locks {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("the next box took away a group in use: %v", err)
		}
	}
	for _, box := range []*Box{b, again} {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
		for dir := range box.runner.(*namespaces).group.locks {
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("%s is left", dir)
			}
		}
	}
}

// groupsOf are the names of the control groups of the boxes in which a process has the marker.
func groupsOf(marker string) (names []string) {
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range list {
		if b, _ := os.ReadFile(name); !strings.Contains(string(b), marker) {
			continue
		}
		for group := range strings.Lines(text(filepath.Dir(name), "cgroup")) {
			if base := strings.TrimSpace(filepath.Base(group)); strings.HasPrefix(base, groupPrefix) && !slices.Contains(names, base) {
				names = append(names, base)
			}
		}
	}
	return names
}

// sweeps checks that the next box takes away the groups of a killed process.
func sweeps(t *testing.T, names []string) {
	t.Helper()
	if len(names) == 0 {
		return // no groups are made here, or the box had none
	}
	var left []string
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) { // the kernel may not have let go yet
		b := openBox(t, Options{Enabled: true, Limits: Limits{Memory: 1 << 30, Processes: 100}})
		left = slices.DeleteFunc(groupsLeft(b), func(dir string) bool { return !slices.Contains(names, filepath.Base(dir)) })
		if len(left) == 0 || time.Now().After(end) {
			break
		}
	}
	if len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// Version 2 of this machine, with whatever controllers it has: children start in the group, and their parent is not in it.
func TestJoinVersion2(t *testing.T) {
	mounts, own := readOwn(ownProc)
	at := ""
	for _, m := range mounts {
		if m.version == 2 {
			at = m.at(own[""])
		}
	}
	g := &cgroup{version: 2, locks: map[string]*os.File{}}
	dir := g.make(at, func(string) error { return nil })
	if dir == "" {
		t.Skip("no group of version 2 can be made here")
	}
	defer g.remove()
	files, err := g.files()
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(files)
	j := joinGroup(&setup{Cgroup: g.info()}, files)
	if !j.done() {
		t.Skip("this kernel starts no process in a group")
	}
	attr := &syscall.SysProcAttr{}
	j.apply(attr)
	out, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p, err := os.StartProcess(self(t), []string{self(t), "helper", "read", "/proc/self/cgroup"}, &os.ProcAttr{Sys: attr, Files: []*os.File{nil, out, nil}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Error(err)
	}
	b, err := os.ReadFile(out.Name())
	if err != nil || !strings.Contains(string(b), "/"+filepath.Base(dir)+"\n") {
		t.Errorf("the child is in\n%s", b)
	}
	if b, err := os.ReadFile(filepath.Join(ownProc, "cgroup")); err != nil || strings.Contains(string(b), filepath.Base(dir)) {
		t.Errorf("its parent is in\n%s", b)
	}
}
