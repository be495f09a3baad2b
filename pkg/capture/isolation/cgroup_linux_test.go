package isolation

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// madeUp is a tree of version 2 that looks like a user's session below a slice, and a /proc/self that tells of it.
func madeUp(t *testing.T, group string, controllers map[string]string) (proc, mounted string) {
	t.Helper()
	proc, mounted = t.TempDir(), filepath.Join(t.TempDir(), "with space")
	if err := os.MkdirAll(filepath.Join(mounted, group), 0o755); err != nil {
		t.Fatal(err)
	}
	for dir := group; ; dir = filepath.Dir(dir) {
		put(t, filepath.Join(mounted, dir, "cgroup.procs"), "")
		put(t, filepath.Join(mounted, dir, "cgroup.subtree_control"), controllers[dir])
		if dir == "/" {
			break
		}
	}
	put(t, filepath.Join(proc, "cgroup"), "0::"+group+"\n")
	put(t, filepath.Join(proc, "mountinfo"), "24 1 0:22 / /proc rw - proc proc rw\n"+
		"25 1 0:23 / "+strings.ReplaceAll(mounted, " ", `\040`)+" rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n")
	return proc, mounted
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestMadeUpVersion2(t *testing.T) {
	const own = "/user.slice/app.slice/a.scope"
	l := Limits{Memory: 1 << 30, Processes: 50}
	full := map[string]string{"/": "cpu memory pids", "/user.slice": "cpu memory pids\n", "/user.slice/app.slice": "memory pids\n"}
	for _, tt := range []struct {
		name        string
		controllers map[string]string
		below       string // memory.max of our own group
		want        string // where the group is
		limits      []string
	}{
		{"the group above", full, "", "/user.slice/app.slice", []string{"memory", "processes"}},
		{"a limit above that of a run", full, "2147483648\n", "/user.slice/app.slice", []string{"memory", "processes"}},
		{"our own limit is lower", full, "4096\n", "", nil},
		{"no limit", full, "max\n", "/user.slice/app.slice", []string{"memory", "processes"}},
		{"one that has both", map[string]string{"/user.slice": "memory pids", "/user.slice/app.slice": "pids"}, "", "/user.slice", []string{"memory", "processes"}},
		{"half of it", map[string]string{"/user.slice/app.slice": "cpu pids"}, "", "/user.slice/app.slice", []string{"processes"}},
		{"nothing delegated", map[string]string{"/": "cpu"}, "", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			proc, mounted := madeUp(t, own, tt.controllers)
			if tt.below != "" {
				put(t, filepath.Join(mounted, own, "memory.max"), tt.below)
			}
			inProc(t, proc)
			g := newCgroup(l)
			if g == nil {
				if tt.want != "" {
					t.Fatal("no group")
				}
				return
			}
			if diff := cmp.Diff(&Cgroup{Version: 2, Limits: tt.limits}, g.info()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if dir := filepath.Dir(g.processes); dir != filepath.Join(mounted, tt.want) {
				t.Errorf("made in %s", dir)
			}
			if diff := cmp.Diff("50", text(g.processes, "pids.max")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if g.memory != "" {
				got := []string{text(g.memory, "memory.max"), text(g.memory, "memory.swap.max"), text(g.memory, "memory.oom.group")}
				if diff := cmp.Diff([]string{"1073741824", "0", "1"}, got); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				starves(t, g, "memory.events", "low 0\noom 1\noom_kill 2\n", "low 0\noom 0\noom_kill 1\n", "low 0\noom 3\noom_kill 0\n")
			}
			g.remove()
		})
	}
}

// starves checks what is said of a group whose own limit was broken, of one on a machine without memory, and of one that was
// merely short.
func starves(t *testing.T, g *cgroup, file, broken, machine, short string) {
	t.Helper()
	if got := g.starved(); got != nil {
		t.Errorf("at first: %v", got)
	}
	for text, want := range map[string]*LimitError{broken: {What: "memory"}, machine: {What: "memory", Machine: true}, short: nil} {
		if g.version == 1 {
			put(t, filepath.Join(g.memory, "memory.failcnt"), map[bool]string{true: "0\n", false: "7\n"}[text == machine])
		}
		put(t, filepath.Join(g.memory, file), text)
		if diff := cmp.Diff(want, g.starved()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func text(dir, file string) string {
	b, _ := os.ReadFile(filepath.Join(dir, file))
	return string(b)
}

func TestMadeUpVersion1(t *testing.T) {
	proc, mounted := t.TempDir(), t.TempDir()
	for _, dir := range []string{"memory/run", "both"} {
		if err := os.MkdirAll(filepath.Join(mounted, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(proc, "cgroup"), "4:cpu,pids:/docker/a\n3:memory:/docker/a/run\n0::/../b\n")
	put(t, filepath.Join(proc, "mountinfo"), fmt.Sprintf("25 1 0:23 /docker/a %[1]s/memory rw - cgroup cgroup rw,memory\n"+
		"26 1 0:24 /docker/a %[1]s/both rw - cgroup cgroup rw,cpu,pids\n27 1 0:25 / %[1]s rw - cgroup2 cgroup2 rw\n", mounted))
	inProc(t, proc)
	g := newCgroup(Limits{Memory: 1 << 20, Processes: 10})
	if g == nil {
		t.Fatal("no group")
	}
	got := []string{filepath.Dir(g.memory), filepath.Dir(g.processes), text(g.memory, "memory.limit_in_bytes"), text(g.processes, "pids.max")}
	if diff := cmp.Diff([]string{filepath.Join(mounted, "memory/run"), filepath.Join(mounted, "both"), "1048576", "11"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	starves(t, g, "memory.oom_control", "oom_kill_disable 0\noom_kill 1\n", "oom_kill 2\n", "under_oom 0\noom_kill 0\n")
	g.remove()
}

// A group that the kernel lets nobody into costs the run nothing: its limits are held as if there were none.
func TestGroupThatNobodyMayJoin(t *testing.T) {
	proc, _ := madeUp(t, "/a", map[string]string{"/": "memory pids"})
	inProc(t, proc)
	b := openBox(t, Options{Enabled: true, Limits: Limits{Memory: 128 << 20, Processes: 4096}})
	if got := b.Isolation().Cgroup; got != nil {
		t.Errorf("%+v", got)
	}
	if !slices.Contains(b.Isolation().Namespaces, "pid") {
		t.Skip("the /proc of this container cannot be replaced, so nothing is counted")
	}
	refuses(t, startHelper(t, b, "eat"), "memory")
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

func FuzzPlaces(f *testing.F) {
	f.Add("25 1 0:23 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/a/b\n")
	f.Add("25 1 0:23 /docker/a /memory rw - cgroup cgroup rw,memory\n", "3:memory:/docker/a/run\n")
	f.Add("25 1 0:23 /../x /m\\040m rw - cgroup cgroup rw,pids\n", "3:pids:/../../etc\n")
	f.Fuzz(func(t *testing.T, mountinfo, groups string) {
		own := parseOwn(groups)
		for _, m := range parseMounts(mountinfo) {
			for _, group := range own {
				if at := m.at(group); at != "" && at != filepath.Clean(m.dir) && !strings.HasPrefix(at, strings.TrimSuffix(filepath.Clean(m.dir), "/")+"/") {
					t.Errorf("%q of %+v is at %q", group, m, at)
				}
			}
		}
	})
}
