package isolation

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
