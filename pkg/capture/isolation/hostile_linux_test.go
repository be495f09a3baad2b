package isolation

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// hostile is a child that means harm. It prints what it was able to do, one line each.
func hostile(what string, args []string) int {
	did := func(name string, err error) {
		if err == nil {
			fmt.Println(name)
		}
	}
	switch what {
	case "write-all":
		for _, dir := range args {
			did("wrote to "+dir, os.WriteFile(filepath.Join(dir, "by-a-child"), []byte("x"), 0o600))
			did("made a folder in "+dir, os.Mkdir(filepath.Join(dir, "folder-by-a-child"), 0o700))
		}
	case "open": // for writing
		for _, name := range args {
			f, err := os.OpenFile(name, os.O_WRONLY, 0)
			did("opened "+name, err)
			_ = f.Close()
		}
	case "connect":
		for _, addr := range args {
			network, addr, _ := strings.Cut(addr, "=")
			c, err := net.DialTimeout(network, addr, 2*time.Second)
			did("connected to "+addr, err)
			if err == nil {
				_ = c.Close()
			}
		}
	case "name-addresses": // in every way that a program has
		for _, name := range args {
			to := netip.MustParseAddrPort(name)
			_, _ = net.DialTimeout("tcp", name, time.Second)
			if c, err := net.ListenPacket("udp", ":0"); err == nil {
				_, _ = c.WriteTo([]byte("x"), net.UDPAddrFromAddrPort(netip.AddrPortFrom(to.Addr(), to.Port()+1)))
				_ = c.Close()
			}
			family, sa := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Addr: to.Addr().As16(), Port: int(to.Port()) + 2})
			if to.Addr().Is4() {
				family, sa = unix.AF_INET, &unix.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port()) + 2}
			}
			if fd, err := unix.Socket(family, unix.SOCK_DGRAM, 0); err == nil {
				_ = unix.Sendmsg(fd, []byte("x"), nil, sa, 0)
				_ = unix.Close(fd)
			}
		}
		fmt.Println("done")
	case "find": // a value in the files given and in what /proc tells of others
		list, _ := filepath.Glob("/proc/[0-9]*/environ")
		cmdlines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, name := range slices.Concat(list, cmdlines, args[1:]) {
			b, _ := os.ReadFile(name)
			if bytes.Contains(b, []byte(args[0])) && !strings.HasPrefix(name, fmt.Sprintf("/proc/%d/", os.Getpid())) {
				fmt.Println("found it in", name)
			}
		}
	case "ptrace":
		for _, pid := range args {
			n, _ := strconv.Atoi(pid)
			did("attached to "+pid, unix.PtraceAttach(n))
			buf := make([]byte, 8)
			_, err := unix.ProcessVMReadv(n, []unix.Iovec{{Base: &buf[0], Len: 8}}, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
			did("read the memory of "+pid, err)
		}
	case "terminal":
		list, _ := filepath.Glob("/dev/pts/[0-9]*")
		for _, name := range append([]string{"/dev/tty", "/dev/tty1", "/dev/console"}, list...) {
			f, err := os.OpenFile(name, os.O_RDWR, 0)
			did("opened "+name, err)
			_ = f.Close()
		}
	case "own-terminal":
		f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
		did("opened a terminal of its own", err)
		_ = f.Close()
	case "devices":
		list, _ := filepath.Glob("/dev/*")
		for _, name := range list {
			fmt.Println(strings.TrimPrefix(name, "/dev/"))
		}
	case "undo": // in a user namespace of its own it is root
		did("made the file system writable", unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, ""))
		for _, dir := range args {
			did("uncovered "+dir, unix.Unmount(dir, unix.MNT_DETACH))
		}
	case "undo-as-root":
		c := exec.Command("/proc/self/exe", append([]string{"helper", "undo"}, args...)...)
		c.Stdout = os.Stdout
		c.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		}
		_ = c.Run() // many kernels refuse
	case "nested":
		c := exec.Command("/proc/self/exe", "helper", "mount")
		c.Stdout = os.Stdout
		c.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		}
		_ = c.Run()
	case "mount":
		fmt.Println("may")
		did("mounted", unix.Mount("tmpfs", "/mnt", "tmpfs", 0, ""))
	case "bomb": // it may itself be what cannot go on, so it tells of each
		for range bombs {
			c := exec.Command("/proc/self/exe", append([]string{"helper", "sleep"}, args...)...)
			if c.Start() != nil {
				break
			}
			fmt.Println("started")
		}
	case "eat-in-child":
		c := exec.Command("/proc/self/exe", "helper", "eat")
		_ = c.Run()
		time.Sleep(time.Hour)
	case "eat":
		var all [][]byte
		for range 400 {
			b := make([]byte, 8<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			all = append(all, b)
			time.Sleep(2 * time.Millisecond)
		}
		fmt.Println("ate", len(all))
	case "fill":
		chunk := make([]byte, 1<<20)
		for i := range 4000 {
			if os.WriteFile(filepath.Join(args[0], strconv.Itoa(i)), chunk, 0o600) != nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		fmt.Println("filled")
	case "fill-empty":
		for i := range 400_000 {
			if os.WriteFile(filepath.Join(args[0], strconv.Itoa(i)), nil, 0o600) != nil {
				break
			}
		}
		fmt.Println("filled")
	case "large-file":
		f, err := os.Create(filepath.Join(args[0], "large"))
		if err != nil {
			return 1
		}
		n, _ := io.CopyN(f, zeros{}, 64<<20)
		fmt.Print(n)
	case "limits":
		var core unix.Rlimit
		_ = unix.Getrlimit(unix.RLIMIT_CORE, &core)
		ring, _ := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
		adj, _ := os.ReadFile("/proc/self/oom_score_adj")
		fmt.Println(core.Cur, core.Max, ring, strings.TrimSpace(string(adj)))
	case "past-namespaces":
		pastNamespaces(did, args[0])
	case "lookup":
		for _, name := range args {
			_, err := net.LookupHost(name)
			var dns *net.DNSError
			fmt.Println(errors.As(err, &dns) && dns.IsTemporary)
		}
	default:
		return 2
	}
	return 0
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// did is what a hostile child was able to do.
func did(t *testing.T, b *Box, what string, args ...string) string {
	t.Helper()
	out, exit := output(t, startHelper(t, b, append([]string{what}, args...)...))
	if exit != (Exit{}) {
		t.Errorf("%s: exit %v", what, exit)
	}
	return out
}

func TestWritesNowhereElse(t *testing.T) {
	open := t.TempDir()
	run := t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	before := list(t, "/tmp", "/var/tmp", "/dev/shm")
	b := openBox(t, Options{Enabled: true, Readable: []string{open}, Writable: []string{run}})
	if b.Isolation().Filesystem == "" && b.Isolation().Landlock == nil {
		t.Skip("this kernel has neither Landlock nor mount_setattr")
	}
	if out := did(t, b, "write-all", open, "/", "/etc", "/usr", "/usr/local/bin", "/var", "/dev", "/dev/pts", "/run", "/home", "/proc", "/sys"); out != "" {
		t.Errorf("the child\n%s", out)
	}
	// Where anybody may write it can, and none of that is the host's.
	want := "wrote to /tmp\nmade a folder in /tmp\nwrote to " + run + "\nmade a folder in " + run + "\n"
	if out := did(t, b, "write-all", "/tmp", run); out != want {
		t.Errorf("the child\n%swant\n%s", out, want)
	}
	for _, name := range list(t, "/tmp", "/var/tmp", "/dev/shm") {
		if !slices.Contains(before, name) && strings.Contains(name, "by-a-child") {
			t.Errorf("%s is on the host", name)
		}
	}
}

func list(t *testing.T, dirs ...string) (names []string) {
	t.Helper()
	for _, dir := range dirs {
		found, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	return names
}

// Sockets of agents, key rings and buses are reached by a path, or by an abstract name, whatever the network.
func TestReachesNoSocketOfTheHost(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	path, abstract := filepath.Join(dir, "agent"), fmt.Sprintf("@agent-%d", os.Getpid())
	for _, addr := range []string{path, abstract} {
		l, err := net.Listen("unix", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
	b := openBox(t, Options{Enabled: true})
	args := []string{"unix=" + path, "unix=" + abstract, "tcp=169.254.169.254:80", "tcp=192.0.2.1:443", "tcp=[fe80::1]:80", "udp=192.0.2.1:53"}
	for _, known := range []string{os.Getenv("SSH_AUTH_SOCK"), "/run/docker.sock", "/run/dbus/system_bus_socket", fmt.Sprintf("/run/user/%d/bus", os.Geteuid())} {
		if known != "" {
			args = append(args, "unix="+known)
		}
	}
	if out := did(t, b, "connect", args...); out != "" {
		t.Errorf("the child\n%s", out)
	}
}

func TestFindsNoSecret(t *testing.T) {
	const secret = "value-of-the-recorder"
	t.Setenv("RECORDER_SECRET", secret)
	dir := t.TempDir()
	private := filepath.Join(dir, "home")
	if err := os.Mkdir(private, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(private, "credentials")
	if err := os.WriteFile(file, []byte(secret), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := did(t, openBox(t, Options{Enabled: true, Readable: []string{private}}), "find", secret, file); !strings.Contains(out, file) {
		t.Errorf("a child that is given the file finds nothing: %q", out)
	}
	b := openBox(t, Options{Enabled: true, Private: []string{private}})
	parent := strconv.Itoa(os.Getpid())
	if out := did(t, b, "find", secret, file, "/proc/"+parent+"/environ", "/proc/1/environ"); out != "" {
		t.Errorf("the child\n%s", out)
	}
	if out := did(t, b, "ptrace", "1", parent); out != "" {
		t.Errorf("the child\n%s", out)
	}
}

// What a process changes in its environment is not in /proc, so the recorder here is one that was started with a secret.
func TestReadsNothingOfItsRecorder(t *testing.T) {
	openBox(t, Options{Enabled: true}) // skips where there are no namespaces
	for _, enabled := range []bool{false, true} {
		c := exec.Command(self(t), "helper", "recorder", strconv.FormatBool(enabled))
		c.Env = []string{"RECORDER_SECRET=value-of-the-recorder"}
		out, err := c.Output()
		if found := strings.Contains(string(out), "/environ"); found == enabled || err != nil {
			t.Errorf("isolated %t: the child\n%s%v", enabled, out, err)
		}
	}
}

// A given path inside a private folder is seen, and nothing beside it.
func TestPrivateFolderWithAReadableOne(t *testing.T) {
	dir := tree(t, []string{"home/app/tool", "home/secret", "home/run/file"}, nil)
	home := filepath.Join(dir, "home")
	b := openBox(t, Options{
		Enabled: true, Private: []string{home}, Readable: []string{filepath.Join(home, "app")}, Writable: []string{filepath.Join(home, "run")},
	})
	out := did(t, b, "read", filepath.Join(home, "app/tool"), filepath.Join(home, "secret"), filepath.Join(home, "run/file"))
	if diff := cmp.Diff("tool true\n false\nfile true\n", out); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTerminals(t *testing.T) {
	b := openBox(t, Options{Enabled: true})
	if out := did(t, b, "terminal"); out != "" {
		t.Errorf("the child\n%s", out)
	}
	if out := did(t, b, "own-terminal"); out == "" {
		t.Error("the child cannot make a terminal of its own")
	}
	want := slices.Sorted(slices.Values(append([]string{"fd", "ptmx", "pts", "shm", "stderr", "stdin", "stdout"}, devices...)))
	if diff := cmp.Diff(strings.Join(want, "\n")+"\n", did(t, b, "devices")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A child that becomes root in a user namespace of its own cannot take the covers off.
func TestCannotUndo(t *testing.T) {
	for _, own := range []bool{false, true} {
		b := openBox(t, Options{Enabled: true, OwnSandbox: own})
		if out := did(t, b, "undo-as-root", "/tmp", "/run", "/dev", "/proc"); out != "" {
			t.Errorf("own sandbox %t: the child\n%s", own, out)
		}
	}
}

func TestDisk(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			dir := t.TempDir()
			b := openBox(t, Options{Enabled: k.enabled, Writable: []string{dir}, Limits: Limits{Disk: 8 << 20}})
			refuses(t, startHelper(t, b, "fill", dir), "disk")
		})
	}
	t.Run("empty files", func(t *testing.T) {
		dir := t.TempDir()
		b := openBox(t, Options{Enabled: true, Writable: []string{dir}, Limits: Limits{Disk: 256 << 10}})
		refuses(t, startHelper(t, b, "fill-empty", dir), "disk")
	})
	t.Run("one file", func(t *testing.T) {
		dir := t.TempDir()
		b := openBox(t, Options{Enabled: true, Writable: []string{dir}, Limits: Limits{Disk: 8 << 20}})
		out, _ := output(t, startHelper(t, b, "large-file", dir))
		if n, err := strconv.Atoi(out); err != nil || n > 4<<20 {
			t.Errorf("%q bytes in one file", out)
		}
	})
}

// refuses waits for a child that its box ends by a limit.
func refuses(t *testing.T, c *Child, what string) {
	t.Helper()
	out, _ := io.ReadAll(c.Stdout)
	_, err := c.Wait()
	var limit *LimitError
	if !errors.As(err, &limit) || limit.What != what || !errors.Is(err, ErrClosed) {
		t.Errorf("the child printed %q; error %v", out, err)
	}
}

func TestInheritedLimits(t *testing.T) {
	out := did(t, openBox(t, Options{Enabled: true}), "limits")
	var cur, hard, ring, adj int
	if _, err := fmt.Sscan(out, &cur, &hard, &ring, &adj); err != nil || cur > 1 || hard > 1 || adj != 1000 {
		t.Errorf("core dumps, key ring, score for the kernel out of memory: %q, %v", out, err)
	}
	if mine, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false); err == nil && mine == ring {
		t.Error("the child has the session key ring of its parent")
	}
}

func TestLandlock(t *testing.T) {
	abi := LandlockABI()
	for _, own := range []bool{false, true} {
		var want *Landlock
		if abi >= 6 || abi >= 2 && !own {
			want = &Landlock{ABI: abi, Files: !own}
		}
		b := openBox(t, Options{Enabled: true, OwnSandbox: own})
		if diff := cmp.Diff(want, b.Isolation().Landlock); diff != "" {
			t.Errorf("own sandbox %t (-want +got):\n%s", own, diff)
		}
		if out := did(t, b, "write-all", "/", "/etc", "/usr/local"); out != "" && b.Isolation().Filesystem != "" {
			t.Errorf("the child\n%s", out)
		}
	}
}

// A CLI that confines its own commands by mounts can do so where the agent's file says it.
func TestOwnSandbox(t *testing.T) {
	b := openBox(t, Options{Enabled: true, OwnSandbox: true})
	if out := did(t, b, "nested"); out == "" {
		t.Skip("no user namespaces inside of user namespaces here")
	} else if out != "may\nmounted\n" {
		t.Errorf("the child\n%s", out)
	}
}

func TestLookups(t *testing.T) {
	b := openBox(t, Options{Enabled: true})
	out := did(t, b, "lookup", "API.vendor.example", "telemetry.vendor.example", "api.vendor.example")
	if strings.Contains(out, "false") {
		t.Errorf("an answer is not what a machine without network gives: %s", out)
	}
	got := b.Lookups()
	if diff := cmp.Diff([]string{"api.vendor.example", "telemetry.vendor.example"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
