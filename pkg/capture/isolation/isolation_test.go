package isolation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMain makes the test binary the init of boxes, and the child in them when its first argument is a helper.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "helper" {
		os.Exit(help(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// help is the child of a test.
func help(what string, args []string) int {
	switch what {
	case "exit":
		code, _ := strconv.Atoi(args[0])
		return code
	case "cat":
		_, _ = io.Copy(os.Stdout, os.Stdin)
		fmt.Fprint(os.Stderr, "end of input")
		return 0
	case "sleep": // args are markers to find it by
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		fmt.Println("ready")
		time.Sleep(time.Hour)
		return 0
	case "dial":
		c, err := net.DialTimeout("tcp", args[0], 5*time.Second)
		if err != nil {
			fmt.Print(err)
			return 1
		}
		defer c.Close()
		_, _ = io.Copy(os.Stdout, c)
		return 0
	case "env":
		fmt.Print(strings.Join(os.Environ(), "\n"))
		return 0
	default:
		return helpHere(what, args)
	}
}

var kinds = []struct {
	name    string
	enabled bool
}{{"namespaces", true}, {"group", false}}

// self is the test binary, as a child that is started and as a path that it must be able to read.
func self(t testing.TB) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

func openBox(t testing.TB, o Options) *Box {
	t.Helper()
	o.Readable = append(o.Readable, self(t))
	b, err := Open(t.Context(), o)
	if errors.Is(err, ErrRefused) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func startHelper(t testing.TB, b *Box, args ...string) *Child {
	t.Helper()
	c, err := b.Start(Command{
		Path: self(t), Args: append([]string{"helper"}, args...), Dir: filepath.Dir(self(t)),
		Env: []string{"A=b", "GORACE=atexit_sleep_ms=0"}, // a race-enabled child takes a second to exit otherwise
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll([]*os.File{c.Stdin, c.Stdout, c.Stderr}) })
	return c
}

// output is all that the child prints, and its end.
func output(t testing.TB, c *Child) (string, Exit) {
	t.Helper()
	out, err := io.ReadAll(c.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	exit, err := c.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return string(out), exit
}

func awaitReady(t testing.TB, c *Child) {
	t.Helper()
	if _, err := io.ReadFull(c.Stdout, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
}

func TestExit(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			b := openBox(t, Options{Enabled: k.enabled})
			for _, code := range []int{0, 1, 55} {
				_, got := output(t, startHelper(t, b, "exit", strconv.Itoa(code)))
				if diff := cmp.Diff(Exit{Code: code}, got); diff != "" {
					t.Errorf("exit %d (-want +got):\n%s", code, diff)
				}
			}
		})
	}
}

func TestSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no signals")
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			b := openBox(t, Options{Enabled: k.enabled})
			c := startHelper(t, b, "sleep")
			awaitReady(t, c)
			for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} { // it ignores the first
				if err := c.Signal(sig); err != nil {
					t.Fatal(err)
				}
			}
			got, err := c.Wait()
			if diff := cmp.Diff(Exit{Code: -1, Signal: "SIGKILL"}, got); diff != "" || err != nil {
				t.Errorf("error %v, exit (-want +got):\n%s", err, diff)
			}
			if err := c.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
				t.Errorf("signal after the end: %v", err)
			}
		})
	}
}

func TestPipes(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			c := startHelper(t, openBox(t, Options{Enabled: k.enabled}), "cat")
			sent := strings.Repeat("line\n", 100_000) // more than a pipe holds
			go func() {
				_, _ = io.WriteString(c.Stdin, sent)
				_ = c.Stdin.Close()
			}()
			got, exit := output(t, c)
			stderr, err := io.ReadAll(c.Stderr)
			if got != sent || string(stderr) != "end of input" || exit != (Exit{}) || err != nil {
				t.Errorf("%d bytes of %d, stderr %q, exit %v, error %v", len(got), len(sent), stderr, exit, err)
			}
		})
	}
}

func TestListener(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			b := openBox(t, Options{Enabled: k.enabled})
			go func() {
				for {
					c, err := b.Listener().Accept()
					if err != nil {
						return
					}
					_, _ = io.WriteString(c, "served from outside")
					_ = c.Close()
				}
			}()
			for range 2 {
				got, exit := output(t, startHelper(t, b, "dial", b.Listener().Addr().String()))
				if got != "served from outside" || exit != (Exit{}) {
					t.Errorf("got %q, exit %v", got, exit)
				}
			}
		})
	}
}

func TestNothingInherited(t *testing.T) {
	t.Setenv("OF_THE_PARENT", "secret")
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			got, _ := output(t, startHelper(t, openBox(t, Options{Enabled: k.enabled}), "env"))
			if strings.Contains(got, "OF_THE_PARENT") || !strings.Contains(got, "A=b") {
				t.Errorf("environment of the child: %q", got)
			}
		})
	}
}

func TestStartErrors(t *testing.T) {
	dir := filepath.Dir(self(t))
	missing := filepath.Join(filepath.VolumeName(dir)+string(filepath.Separator), "missing-"+strconv.Itoa(os.Getpid()))
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			b := openBox(t, Options{Enabled: k.enabled})
			for _, tt := range []struct {
				name string
				c    Command
				want error
			}{
				{"no program", Command{Path: missing, Dir: dir}, fs.ErrNotExist},
				{"no directory", Command{Path: self(t), Dir: missing}, fs.ErrNotExist},
				{"relative program", Command{Path: "tool", Dir: dir}, nil},
				{"relative directory", Command{Path: self(t), Dir: "."}, nil},
				{"malformed environment", Command{Path: self(t), Dir: dir, Env: []string{"A"}}, nil},
			} {
				_, err := b.Start(tt.c)
				if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
					t.Errorf("%s: %v", tt.name, err)
				}
			}
			// None of that has hurt the box.
			if _, exit := output(t, startHelper(t, b, "exit", "3")); exit.Code != 3 {
				t.Errorf("exit %v", exit)
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		o    Options
		want error
	}{
		{"relative path", t.Context(), Options{Readable: []string{"x"}}, nil},
		{"missing path", t.Context(), Options{Writable: []string{filepath.Join(t.TempDir(), "x")}}, fs.ErrNotExist},
		{"context has ended", ended, Options{}, context.Canceled},
	} {
		for _, k := range kinds {
			tt.o.Enabled = k.enabled
			b, err := Open(tt.ctx, tt.o)
			if err == nil {
				_ = b.Close()
			}
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("%s, %s: %v", tt.name, k.name, err)
			}
		}
	}
}

func TestContextEnds(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			b, err := Open(ctx, Options{Enabled: k.enabled, Readable: []string{self(t)}})
			if errors.Is(err, ErrRefused) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			c := startHelper(t, b, "sleep")
			awaitReady(t, c)
			cancel()
			if _, err := c.Wait(); k.enabled && !errors.Is(err, ErrClosed) {
				t.Errorf("end of the child: %v", err)
			}
			if _, err := b.Start(Command{Path: self(t), Dir: "/"}); err == nil {
				t.Error("a child starts in a box that has ended")
			}
			for range 2 {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func BenchmarkBox(b *testing.B) {
	for _, k := range kinds {
		b.Run(k.name, func(b *testing.B) {
			for b.Loop() {
				box := openBox(b, Options{Enabled: k.enabled})
				c := startHelper(b, box, "exit", "0")
				if _, err := c.Wait(); err != nil {
					b.Fatal(err)
				}
				closeAll([]*os.File{c.Stdin, c.Stdout, c.Stderr})
				_ = box.Close()
			}
		})
	}
}

func BenchmarkLimitedBox(b *testing.B) {
	for b.Loop() {
		box := openBox(b, Options{Enabled: true, Limits: Limits{Memory: 1 << 30, Processes: 1000}})
		c := startHelper(b, box, "exit", "0")
		if _, err := c.Wait(); err != nil {
			b.Fatal(err)
		}
		closeAll([]*os.File{c.Stdin, c.Stdout, c.Stderr})
		_ = box.Close()
	}
}

func BenchmarkOpenClose(b *testing.B) {
	for b.Loop() {
		_ = openBox(b, Options{Enabled: true}).Close()
	}
}

// BenchmarkBareExec is what BenchmarkBox has to be compared with.
func BenchmarkBareExec(b *testing.B) {
	exe := self(b)
	for b.Loop() {
		p, err := os.StartProcess(exe, []string{exe, "helper", "exit", "0"}, &os.ProcAttr{Env: []string{}})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Wait(); err != nil {
			b.Fatal(err)
		}
	}
}
