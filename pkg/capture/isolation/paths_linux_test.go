package isolation

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// tree makes files (named by path below dir, the content is the name) and then gives modes to directories.
func tree(t *testing.T, files []string, modes map[string]os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(filepath.Base(name)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range modes {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadable(t *testing.T) {
	dir := tree(t,
		[]string{"home/app/bin/tool", "home/private", "home/deep/closed/lib/code", "own/entry", "own/sub/file"},
		map[string]os.FileMode{"home": 0o700, "home/deep/closed": 0o700, "own": 0o700})
	for link, target := range map[string]string{"link": "home/app", "own/alias": "entry"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	root := os.Geteuid() == 0
	for _, tt := range []struct {
		name     string
		readable []string
		seen     []string
		unseen   []string // by a user of its own
	}{
		{"below a closed home", []string{"home/app"}, []string{"home/app/bin/tool"}, []string{"home/private"}},
		{"one file", []string{"home/app/bin/tool"}, []string{"home/app/bin/tool"}, []string{"home/private"}},
		{"by a link", []string{"link"}, []string{"link/bin/tool", "home/app/bin/tool"}, []string{"home/private"}},
		{"itself closed", []string{"own"}, []string{"own/entry", "own/sub/file", "own/alias"}, nil},
		{"closed twice", []string{"home/deep", "home/deep/closed/lib"}, []string{"home/deep/closed/lib/code"}, []string{"home/app/bin/tool"}},
		{"twice, and one in another", []string{"home/app", "home/app/bin", "home/app"}, []string{"home/app/bin/tool"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := Options{Enabled: true}
			for _, p := range tt.readable {
				o.Readable = append(o.Readable, filepath.Join(dir, p))
			}
			args, want := []string{"read"}, ""
			for _, p := range tt.seen {
				args = append(args, filepath.Join(dir, p))
				want += strings.Replace(filepath.Base(p), "alias", "entry", 1) + " true\n"
			}
			if root {
				for _, p := range tt.unseen {
					args = append(args, filepath.Join(dir, p))
					want += " false\n"
				}
			}
			got, _ := output(t, startHelper(t, openBox(t, o), args...))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	// Nothing of this is seen outside.
	if _, err := os.Stat(filepath.Join(dir, "home/private")); err != nil {
		t.Error(err)
	}
}

func TestUnreadableFile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has children with another user")
	}
	dir := tree(t, []string{"tool"}, map[string]os.FileMode{"tool": 0o700})
	b, err := Open(t.Context(), Options{Enabled: true, Readable: []string{filepath.Join(dir, "tool")}})
	if err == nil {
		_ = b.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "chmod o+r") {
		t.Errorf("error %v", err)
	}
}

func TestWritable(t *testing.T) {
	dir := tree(t, []string{"outer/run/file"}, map[string]os.FileMode{"outer": 0o700, "outer/run": 0o700})
	run := filepath.Join(dir, "outer/run")
	b := openBox(t, Options{Enabled: true, Writable: []string{run}})
	// Also what the parent puts there after Open belongs to the child.
	if err := os.Mkdir(filepath.Join(run, "later"), 0o700); err != nil {
		t.Fatal(err)
	}
	// A link out of the folder must not give away what it leads to.
	outside := filepath.Join(tree(t, []string{"outside"}, nil), "outside")
	if err := os.Symlink(outside, filepath.Join(run, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "new", "later/new"} {
		if out, exit := output(t, startHelper(t, b, "write", filepath.Join(run, name))); exit != (Exit{}) {
			t.Errorf("%s: %s", name, out)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{run, filepath.Join(run, "new"), filepath.Join(run, "later/new"), filepath.Join(run, "link"), outside} {
		info, err := os.Lstat(p)
		if err != nil {
			t.Fatal(err)
		}
		if uid := info.Sys().(*syscall.Stat_t).Uid; int(uid) != os.Geteuid() {
			t.Errorf("%s belongs to %d afterwards", p, uid)
		}
	}
}

// TestRootInUserNamespace tries the second plan of root, which is for containers that have no CAP_SYS_ADMIN.
func TestRootInUserNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := tree(t, []string{"home/app/tool"}, map[string]os.FileMode{"home": 0o700})
	app := filepath.Join(dir, "home/app")
	b, err := openNamespaces(t.Context(), Options{Readable: []string{self(t), app}, Writable: []string{dir}}, plan{user: true, drop: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if out, _ := output(t, startHelper(t, b, "read", filepath.Join(app, "tool"))); out != "tool true\n" {
		t.Errorf("the child reads %q", out)
	}
	if out, exit := output(t, startHelper(t, b, "write", filepath.Join(dir, "new"))); exit != (Exit{}) {
		t.Errorf("the child does not write: %s", out)
	}
}

// TestAsAnotherUser runs all other tests as a user who is not root.
func TestAsAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	openBox(t, Options{Enabled: true}) // skips where there are no namespaces
	const uid = 12345
	dir := t.TempDir()
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tmp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(tmp, uid, uid); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "isolation.test")
	b, err := os.ReadFile(self(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exe, b, 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, "-test.v", "-test.short")
	c.Dir, c.Env = dir, []string{"TMPDIR=" + tmp}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestView") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestWire(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	conns := [2]*net.UnixConn{}
	for i, fd := range pair {
		f := os.NewFile(uintptr(fd), "end")
		c, err := net.FileConn(f)
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		defer c.Close()
		conns[i] = c.(*net.UnixConn)
	}
	// Every byte of an argument arrives, and a message larger than the socket's buffer does.
	want := message{Start: &start{Path: []byte("/a\xff"), Argv: [][]byte{[]byte(strings.Repeat("\xfe", 1<<20))}, Env: [][]byte{}}}
	go func() { _ = send(conns[0], want, int(os.Stderr.Fd())) }()
	got, files, err := receive(conns[1])
	if err != nil || len(files) != 1 {
		t.Fatalf("%d descriptors, error %v", len(files), err)
	}
	closeAll(files)
	if !reflect.DeepEqual(want, got) {
		t.Error("the message changes on its way")
	}
	for _, bytes := range []string{"\xff\xff\xff\xff", "\x00\x00\x00\x02[]", "\x00\x00\x00\x01x"} {
		if _, err := io.WriteString(conns[0], bytes); err != nil {
			t.Fatal(err)
		}
		if _, _, err := receive(conns[1]); err == nil {
			t.Errorf("no error for %q", bytes)
		}
	}
	_ = conns[0].CloseWrite()
	if _, _, err := receive(conns[1]); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}
