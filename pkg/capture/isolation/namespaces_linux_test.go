package isolation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"
)

// surroundings are what a child sees of its surroundings.
type surroundings struct {
	UID, GID   int
	Groups     []int
	Host       string
	Interfaces []string
	Umask      int
	Blocking   bool   // its standard descriptors block
	Caps       string // effective, permitted, inheritable, ambient
	NoNewPrivs string
	Session    bool     // it leads one
	Foreign    []string // files of the machine that it sees although the box has its own
	PID        int      `json:"-"`
}

func look() surroundings {
	v := surroundings{UID: os.Getuid(), GID: os.Getgid(), Umask: unix.Umask(0), Blocking: true}
	v.Groups, _ = os.Getgroups()
	v.Host, _ = os.Hostname()
	for _, f := range ownFiles {
		if text, err := os.ReadFile(f.path); err == nil && string(text) != f.text {
			v.Foreign = append(v.Foreign, f.path)
		}
	}
	list, _ := net.Interfaces()
	for _, i := range list {
		v.Interfaces = append(v.Interfaces, i.Name)
	}
	for fd := range 3 {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		v.Blocking = v.Blocking && err == nil && flags&unix.O_NONBLOCK == 0
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		switch name, value, _ := strings.Cut(line, ":"); name {
		case "CapEff", "CapPrm", "CapInh", "CapAmb":
			v.Caps += strings.TrimLeft(strings.TrimSpace(value), "0")
		case "NoNewPrivs":
			v.NoNewPrivs = strings.TrimSpace(value)
		}
	}
	sid, _ := unix.Getsid(0)
	v.Session = sid == os.Getpid()
	return v
}

// helpHere is the part of help that is for Linux.
func helpHere(what string, args []string) int {
	switch what {
	case "look":
		_ = json.NewEncoder(os.Stdout).Encode(look())
	case "pids":
		list, _ := filepath.Glob("/proc/[0-9]*")
		fmt.Print(os.Getpid(), " ", strings.Join(list, " "))
	case "read":
		for _, name := range args {
			b, err := os.ReadFile(name)
			fmt.Printf("%s %t\n", b, err == nil)
		}
	case "write":
		if err := os.WriteFile(args[0], []byte("by the child"), 0o600); err != nil {
			fmt.Print(err)
			return 1
		}
	case "fds":
		list, _ := filepath.Glob("/proc/self/fd/*")
		for _, fd := range list {
			target, _ := os.Readlink(fd)
			fmt.Println(target)
		}
	case "kill-init":
		for sig := syscall.Signal(1); sig < 32; sig++ {
			_ = syscall.Kill(1, sig)
		}
		time.Sleep(50 * time.Millisecond)
	case "daemon": // leaves behind a process in a session of its own that holds the pipes
		d := exec.Command("/proc/self/exe", "helper", "sleep", args[0])
		d.Stdin, d.Stdout, d.Stderr = os.Stdin, os.Stdout, os.Stderr
		d.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if d.Start() != nil {
			return 1
		}
	case "deep-daemon": // the same in namespaces of its own, where there may be some
		for _, flags := range []uintptr{unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWIPC, 0} {
			d := exec.Command("/proc/self/exe", "helper", "sleep", args[0])
			d.Stdin, d.Stdout, d.Stderr = os.Stdin, os.Stdout, os.Stderr
			d.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: flags}
			if d.Start() == nil {
				return 0
			}
		}
		return 1
	case "recorder": // opens a box, in which somebody looks for what is in the environment of this process
		exe, _ := os.Executable()
		b, err := Open(context.Background(), Options{Enabled: args[0] == "true", Readable: []string{exe}})
		if err != nil {
			fmt.Print(err)
			return 1
		}
		defer b.Close()
		own := fmt.Sprintf("/proc/%d/", os.Getpid())
		c, err := b.Start(Command{Path: exe, Args: []string{"helper", "find", os.Getenv("RECORDER_SECRET"), own + "environ", own + "task/" + filepath.Base(own) + "/environ"}, Dir: "/"})
		if err != nil {
			fmt.Print(err)
			return 1
		}
		_, _ = io.Copy(os.Stdout, c.Stdout)
		_, _ = c.Wait()
	case "parent": // opens a box and is killed
		exe, _ := os.Executable()
		b, err := Open(context.Background(), Options{Enabled: args[1] == "true", Readable: []string{exe}, Limits: Limits{Memory: 1 << 30, Processes: 4096}})
		if err != nil {
			fmt.Print(err)
			return 1
		}
		c, err := b.Start(Command{Path: exe, Args: []string{"helper", "sleep", args[0]}, Dir: "/"})
		if err != nil {
			fmt.Print(err)
			return 1
		}
		_, _ = io.Copy(os.Stdout, c.Stdout)
	case "refused": // runs where no user namespace can be made
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
			fmt.Print(err)
			return 1
		}
		_, err := Open(context.Background(), Options{Enabled: true})
		fmt.Print(errors.Is(err, ErrRefused), " ", err)
	default:
		return hostile(what, args)
	}
	return 0
}

// running reports whether a process has the marker among its arguments.
func running(marker string) bool {
	list, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range list {
		if b, _ := os.ReadFile(name); bytes.Contains(b, []byte(marker)) {
			return true
		}
	}
	return false
}

// marker is unique among the processes of the machine.
func marker(t *testing.T) string {
	return "marker-" + strconv.Itoa(os.Getpid()) + "-" + t.Name()
}

func TestHostName(t *testing.T) {
	out, _ := output(t, startHelper(t, openBox(t, Options{Enabled: true, HostName: "cnry-0123"}), "look"))
	var got surroundings
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Host != "cnry-0123" {
		t.Errorf("the child sees the host name %q (%v)", got.Host, err)
	}
	if _, err := os.Stat("/etc/hostname"); err != nil {
		return // this machine has no such file, and so has the box
	}
	if out, _ := output(t, startHelper(t, openBox(t, Options{Enabled: true, HostName: "cnry-0123"}), "read", "/etc/hostname")); out != "cnry-0123\n true\n" {
		t.Errorf("the file of the host name says %q", out)
	}
}

func TestView(t *testing.T) {
	out, _ := output(t, startHelper(t, openBox(t, Options{Enabled: true}), "look"))
	var got surroundings
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		got.Groups = nil // only root can take them away
	}
	want := surroundings{
		UID: nobody, GID: nobody, Host: hostname, Interfaces: []string{"lo"}, Umask: 0o022, Blocking: true,
		NoNewPrivs: "1", Session: true,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestIsolation(t *testing.T) {
	root := os.Geteuid() == 0
	got := openBox(t, Options{Enabled: true}).Isolation()
	want := got
	want.Kind, want.Network, want.User = "namespaces", "loopback-only", "same"
	want.Namespaces = plan{user: !root}.namespaces(true)
	if root {
		want.User = "unprivileged"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := openBox(t, Options{}).Isolation(); got.Kind != "process-group" || got.Network != "host" || got.User != "same" {
		t.Errorf("without namespaces: %+v", got)
	}
}

func TestNoOtherNetwork(t *testing.T) {
	b := openBox(t, Options{Enabled: true})
	host, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	for _, addr := range []string{"192.0.2.1:80", host.Addr().String()} {
		begin := time.Now()
		out, exit := output(t, startHelper(t, b, "dial", addr))
		if exit.Code != 1 || time.Since(begin) > 2*time.Second {
			t.Errorf("%s: %q, exit %v after %v", addr, out, exit, time.Since(begin))
		}
	}
}

func TestProcesses(t *testing.T) {
	b := openBox(t, Options{Enabled: true})
	c := startHelper(t, b, "pids")
	out, _ := output(t, c)
	if want := fmt.Sprintf("%d /proc/1 /proc/%d", c.PID, c.PID); out != want || c.PID > 1000 {
		t.Errorf("the child sees %q, want %q", out, want)
	}
	out, _ = output(t, startHelper(t, b, "read", "/proc/1/environ", "/proc/1/maps", "/proc/1/fdinfo/3"))
	if strings.Contains(out, "true") || strings.Count(out, "false") != 3 {
		t.Errorf("the child reads of the init %q", out)
	}
	// The init's environment is empty as seen from outside too.
	if os.Geteuid() == 0 {
		pid := b.runner.(*namespaces).init.Process.Pid
		if env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); len(env) > 0 || err != nil {
			t.Errorf("%d bytes in the environment of the init, error %v", len(env), err)
		}
	}
}

func TestChildCannotEndInit(t *testing.T) {
	b := openBox(t, Options{Enabled: true})
	if _, exit := output(t, startHelper(t, b, "kill-init")); exit != (Exit{}) {
		t.Errorf("exit %v", exit)
	}
	if _, exit := output(t, startHelper(t, b, "exit", "4")); exit.Code != 4 {
		t.Errorf("exit %v of a child after it", exit)
	}
}

func TestStrayDescriptors(t *testing.T) {
	name := filepath.Join(t.TempDir(), "stray")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fd, err := unix.Dup(int(f.Fd())) // a descriptor that is not closed on exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	out, _ := output(t, startHelper(t, openBox(t, Options{Enabled: true}), "fds"))
	if strings.Contains(out, "stray") || strings.Contains(out, "socket:") || strings.Count(out, "pipe:") != 3 {
		t.Errorf("descriptors of the child:\n%s", out)
	}
}

func TestCloseLeavesNothing(t *testing.T) {
	for _, what := range []string{"daemon", "deep-daemon", "sleep"} {
		t.Run(what, func(t *testing.T) {
			b := openBox(t, Options{Enabled: true})
			m := marker(t)
			c := startHelper(t, b, what, m)
			awaitReady(t, c)
			if what != "sleep" { // whoever started it has ended, and it lives
				if exit, err := c.Wait(); exit != (Exit{}) || err != nil {
					t.Fatal(exit, err)
				}
			}
			if !running(m) {
				t.Fatal("the process does not run before Close")
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			if running(m) {
				t.Error("the process runs after Close")
			}
			if rest, err := io.ReadAll(c.Stdout); len(rest) > 0 || err != nil {
				t.Errorf("stdout does not end: %q, %v", rest, err)
			}
			if _, err := c.Wait(); what == "sleep" && !errors.Is(err, ErrClosed) {
				t.Errorf("end of the child: %v", err)
			}
		})
	}
}

func TestGroupCloseKillsOrphans(t *testing.T) {
	b := openBox(t, Options{})
	m := marker(t)
	c, err := b.Start(Command{Path: "/bin/sh", Args: []string{"-c", `"$0" helper sleep "$1" & exit 7`, self(t), m}, Dir: "/"})
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll([]*os.File{c.Stdin, c.Stdout, c.Stderr})
	awaitReady(t, c)
	if exit, err := c.Wait(); exit.Code != 7 || err != nil {
		t.Fatal(exit, err)
	}
	_ = b.Close()
	if _, err := io.ReadAll(c.Stdout); err != nil { // returns when the orphan is dead
		t.Error(err)
	}
}

func TestParentKilled(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			openBox(t, Options{Enabled: k.enabled}) // skips where there are no namespaces
			m := marker(t)
			parent := exec.Command(self(t), "helper", "parent", m, strconv.FormatBool(k.enabled))
			out, err := parent.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			awaitReady(t, &Child{Stdout: out.(*os.File)})
			groups := groupsOf(m)
			_ = parent.Process.Kill()
			_ = parent.Wait()
			for end := time.Now().Add(5 * time.Second); running(m); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the child outlives the parent")
				}
			}
			sweeps(t, groups)
		})
	}
}

func TestNoLeaks(t *testing.T) {
	count := func() (fds, mounts int) {
		list, _ := os.ReadDir("/proc/self/fd")
		b, _ := os.ReadFile("/proc/self/mountinfo")
		return len(list), bytes.Count(b, []byte("\n"))
	}
	round := func() {
		b := openBox(t, Options{Enabled: true})
		c := startHelper(t, b, "exit", "0")
		_, _ = output(t, c)
		closeAll([]*os.File{c.Stdin, c.Stdout, c.Stderr})
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	round() // the runtime opens descriptors of its own at first
	fds, mounts := count()
	rounds := 100
	if testing.Short() {
		rounds = 10
	}
	for range rounds {
		round()
	}
	if f, m := count(); f != fds || m != mounts {
		t.Errorf("%d descriptors became %d, %d mounts %d", fds, f, mounts, m)
	}
}

func TestRefused(t *testing.T) {
	c := exec.Command("/proc/self/exe", "helper", "refused")
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Getegid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_RESOURCE},
	}
	out, err := c.Output()
	if err != nil {
		t.Skipf("no user namespace to try it in: %v, %s", err, out)
	}
	for _, want := range []string{"true ", "user.max_user_namespaces"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
}
