//go:build unix

package main

import (
	"bufio"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/open-design/agent-cli-contracts/internal/fakeagent"
	"github.com/open-design/agent-cli-contracts/internal/stage"
)

// Killed at any moment, run leaves what an earlier run made, or what it made itself, and the next run completes.
func TestRunKilled(t *testing.T) {
	dir := t.TempDir()
	checkout, out := filepath.Join(dir, "checkout"), filepath.Join(dir, "out")
	if err := fakeagent.Checkout(checkout); err != nil {
		t.Fatal(err)
	}
	fake, err := exec.LookPath("fake-agent")
	if err != nil {
		t.Fatal(err)
	}
	run := func() *exec.Cmd {
		cmd := exec.Command("agent-contracts", "--checkout", checkout, "--cache", filepath.Join(dir, "cache"),
			"run", "fake@1.2.3", "--bin", fake, "--no-isolation", "--out", out)
		cmd.Env = append(os.Environ(), "TMPDIR="+dir)
		return cmd
	}
	complete := func() {
		t.Helper()
		output, err := run().CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == stage.ExitFound) { // a new agent has new shapes
			t.Fatalf("%v\n%s", err, output)
		}
	}

	start := time.Now()
	complete()
	whole := time.Since(start)
	valid(t, checkout, out)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d; a whole run takes %v", seed, whole)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 4 {
		cmd := run()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		delay := time.Duration(random.Int64N(int64(whole)))
		time.Sleep(delay)
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		t.Logf("killed after %v", delay)
		valid(t, checkout, out)
	}
	complete()
	valid(t, checkout, out)
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name()[0] == '.' {
			t.Errorf("%s is left over", e.Name())
		}
	}
}

// An interrupt ends the runs that go on side by side, starts no other, and leaves no folder of theirs.
func TestCaptureInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	checkout, temp := filepath.Join(dir, "checkout"), filepath.Join(dir, "temp")
	probe := func(id string) string { return filepath.Join(checkout, "probes", id) }
	err := errors.Join(fakeagent.Checkout(checkout), os.Mkdir(temp, 0o755), os.WriteFile(filepath.Join(probe("chat-text-success"), "prompt.md"), []byte("hang\n"), 0o644))
	for _, id := range []string{"empty-output", "large-prompt"} {
		err = errors.Join(err, os.CopyFS(probe(id), os.DirFS(probe("chat-text-success"))))
	}
	if err != nil {
		t.Fatal(err)
	}
	fake, err := exec.LookPath("fake-agent")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("agent-contracts", "--checkout", checkout, "--cache", filepath.Join(dir, "cache"),
		"capture", "fake@1.2.3", "--bin", fake, "--no-isolation", "--jobs", "2", "--out", filepath.Join(dir, "out"))
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	begun := 0
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if strings.Contains(lines.Text(), ": running ") {
			if begun++; begun == 2 {
				err = cmd.Process.Signal(os.Interrupt)
			}
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); err != nil || code != stage.ExitUnknown || begun != 2 {
		t.Errorf("exit %d after %d runs, %v", code, begun, err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// valid proves that the trees and the package in out are whole; while they are being replaced, the older ones lie in out/.done.
func valid(t *testing.T, checkout, out string) {
	t.Helper()
	s, err := stage.Open(stage.Env{Stdout: io.Discard, Stderr: io.Discard, Getenv: os.Getenv, Now: time.Now}, stage.Dirs{Checkout: checkout, Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	place := func(name string) string {
		path := filepath.Join(out, name)
		if _, err := os.Stat(path); err != nil {
			path = filepath.Join(out, ".done", name+".old")
		}
		return path
	}
	for _, name := range []string{"registry", "tree"} {
		if v, err := s.Validate(stage.ValidateRequest{Dir: place(name)}); err != nil {
			t.Errorf("%s: %v\n%v", name, err, v)
		}
	}
	if _, err := stage.Verify(place("package")); err != nil {
		t.Error(err)
	}
}
