//go:build unix

package recorder

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// host starts the recorder as a host starts an agent.
func host(t testing.TB, dir, agent string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "record", dir, agent)
	t.Cleanup(func() {
		if cmd.Process != nil {
			_ = cmd.Process.Kill()
		}
	})
	return cmd
}

// recorded reads what the keeper left in dir: the bytes of each stream and the end of the process.
func recorded(t *testing.T, dir string) (map[contract.StreamName][]byte, transcript.Entry) {
	t.Helper()
	var f *os.File
	var err error
	for range 200 { // the keeper may still write
		if f, err = os.Open(dir + "/bundle"); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	raw, err := transcript.ReadBundle(f, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	streams, last := map[contract.StreamName][]byte{}, transcript.Entry{}
	if err := raw.Each(func(e transcript.Entry) error {
		streams[e.Stream] = append(streams[e.Stream], e.Data...)
		last = e
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return streams, last
}

func TestBytesPassUnchangedInBothDirections(t *testing.T) {
	const size = 200 << 20
	dir := t.TempDir()
	cmd := host(t, dir, "echo")
	sent, got := sha256.New(), sha256.New()
	cmd.Stdin = io.TeeReader(io.LimitReader(rand.NewChaCha8([32]byte{1}), size), sent)
	cmd.Stdout = got
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(sent.Sum(nil), got.Sum(nil)) {
		t.Error("what came back is not what was sent")
	}
}

func TestRecordsWhatPassed(t *testing.T) {
	dir := t.TempDir()
	cmd := host(t, dir, "echo")
	cmd.Stdin = strings.NewReader("ping\n")
	out, err := cmd.Output()
	if err != nil || string(out) != "ping\n" {
		t.Fatalf("%q, %v", out, err)
	}
	streams, last := recorded(t, dir)
	if string(streams[contract.Stdin]) != "ping\n" || string(streams[contract.Stdout]) != "ping\n" || last.Event != contract.EventExit || last.ExitCode == nil || *last.ExitCode != 0 {
		t.Errorf("recorded %q, end %v", streams, last)
	}
}

func TestInvalidUTF8(t *testing.T) {
	dir := t.TempDir()
	cmd := host(t, dir, "binary")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	streams, _ := recorded(t, dir)
	for name, got := range map[contract.StreamName][]byte{contract.Stdout: out.Bytes(), contract.Stderr: errs.Bytes()} {
		if len(got) == 0 || !bytes.Equal(got, streams[name]) {
			t.Errorf("%s: the host got %q, recorded was %q", name, got, streams[name])
		}
	}
}

func status(err error) syscall.WaitStatus {
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return failed.Sys().(syscall.WaitStatus)
	}
	return 0
}

func TestDeathBySignalIsTheHostsToSee(t *testing.T) {
	dir := t.TempDir()
	if s := status(host(t, dir, "die").Run()); !s.Signaled() || s.Signal() != syscall.SIGABRT {
		t.Errorf("the host saw %v, want death by SIGABRT", s)
	}
	if _, last := recorded(t, dir); last.Signal != "SIGABRT" {
		t.Errorf("recorded end: %q", last.Signal)
	}
}

func TestSignalsArePassedOn(t *testing.T) {
	dir := t.TempDir()
	cmd := host(t, dir, "trap")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	rest, _ := io.ReadAll(out)
	if s := status(cmd.Wait()); string(rest) != "terminated\n" || s.ExitStatus() != 7 {
		t.Errorf("%q and code %d, want the agent's own end", rest, s.ExitStatus())
	}
}

// A host that kills what it started means the agent, and what was recorded until then stays.
func TestKillOfTheRecorder(t *testing.T) {
	if tied() == nil {
		t.Skip("this system cannot tie processes")
	}
	dir := t.TempDir()
	cmd := host(t, dir, "hang")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 16)
	n, err := out.Read(first)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(first[:n])))
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
		t.Errorf("after the kill: %q, %v", rest, err)
	}
	_ = cmd.Wait()
	for deadline := time.Now().Add(30 * time.Second); !gone(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the agent is still there")
		}
	}
	if streams, last := recorded(t, dir); last.Signal != "SIGKILL" || len(streams[contract.Stdout]) != n {
		t.Errorf("recorded %d bytes and %q", len(streams[contract.Stdout]), last.Signal)
	}
}

// gone reports whether a process is dead. Nobody need have collected it: its new parent does that when it likes.
func gone(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) || strings.Contains(string(data), ") Z ") || strings.Contains(string(data), ") X ")
}

func TestHalfClosedStdin(t *testing.T) {
	cmd := host(t, t.TempDir(), "count")
	cmd.Stdin = strings.NewReader(strings.Repeat("x", 100_000))
	if out, err := cmd.Output(); err != nil || string(out) != "100000\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// An agent that reads nothing, or no longer, ends the host's writing as it would without a recorder.
func TestAgentStopsReading(t *testing.T) {
	for agent, code := range map[string]int{"refuse": 3, "deaf": 0} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			cmd := host(t, t.TempDir(), agent)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for err == nil {
				_, err = in.Write(make([]byte, 4096))
			}
			if !errors.Is(err, syscall.EPIPE) {
				t.Errorf("the host's write ended with %v", err)
			}
			if s := status(cmd.Wait()); s.ExitStatus() != code {
				t.Errorf("code %d, want %d", s.ExitStatus(), code)
			}
		})
	}
}

// A host that stops reading stops the agent's writing.
func TestHostStopsReading(t *testing.T) {
	cmd := host(t, t.TempDir(), "flood")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	if s := status(cmd.Wait()); !s.Signaled() || s.Signal() != syscall.SIGPIPE {
		t.Errorf("the agent ended with %v, want the signal that a writer without a reader gets", s)
	}
}

func TestSlowReader(t *testing.T) {
	cmd := host(t, t.TempDir(), "blocked")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(errs) // while nobody reads standard output
	taken, err := strconv.Atoi(strings.TrimSpace(string(said)))
	if err != nil || taken == 0 || taken > 2<<20 {
		t.Errorf("%d bytes (%v) were taken from an agent that nobody reads", taken, err)
	}
	got, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil || len(got) < taken {
		t.Errorf("%d bytes of %d, %v", len(got), taken, err)
	}
}

// The host sees the end of the agent at once, and what the agent's own child prints afterwards.
func TestAChildOfTheAgentHoldsThePipe(t *testing.T) {
	dir := t.TempDir()
	cmd := host(t, dir, "leave a child")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("early\n"))); err != nil {
		t.Fatal(err)
	}
	state, err := cmd.Process.Wait()
	if err != nil || state.ExitCode() != 0 {
		t.Fatal(state, err)
	}
	if rest, err := io.ReadAll(out); string(rest) != "late\n" {
		t.Errorf("after the end of the agent: %q, %v", rest, err)
	}
	if streams, _ := recorded(t, dir); string(streams[contract.Stdout]) != "early\nlate\n" {
		t.Errorf("recorded %q", streams[contract.Stdout])
	}
}

// Whatever becomes of the recording, the host's run goes on.
func TestRecordingFails(t *testing.T) {
	dir := t.TempDir() + "/missing"
	cmd := host(t, dir, "echo")
	cmd.Stdin = strings.NewReader("ping")
	if out, err := cmd.Output(); err != nil || string(out) != "ping" {
		t.Errorf("%q, %v", out, err)
	}
	if why, err := os.ReadFile(dir + ".error"); err != nil || len(why) == 0 {
		t.Errorf("the failure was not reported: %v", err)
	}
	cmd = host(t, "no keeper", "echo")
	cmd.Stdin = strings.NewReader("ping")
	if out, err := cmd.Output(); err != nil || string(out) != "ping" {
		t.Errorf("without a keeper: %q, %v", out, err)
	}
}

// A disk without room, here a limit on the size of files, costs the recording and nothing else.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `ulimit -f 64 && exec "$0" record "$1" echo`, exe, dir)
	const size = 10 << 20
	sent, got := sha256.New(), sha256.New()
	cmd.Stdin = io.TeeReader(io.LimitReader(rand.NewChaCha8([32]byte{2}), size), sent)
	cmd.Stdout = got
	if err := cmd.Run(); err != nil || !bytes.Equal(sent.Sum(nil), got.Sum(nil)) {
		t.Errorf("the host's run: %v", err)
	}
	if why, err := os.ReadFile(dir + ".error"); err != nil || !strings.Contains(string(why), "spool") {
		t.Errorf("the failure was not reported: %q, %v", why, err)
	}
}

// A disk that hangs costs the recording and nothing else.
func TestSlowDisk(t *testing.T) {
	hang := make(chan struct{})
	tape := newTape(time.Now(), func(transcript.Entry) { <-hang })
	tape.patience = time.Millisecond
	buf := make([]byte, chunk)
	for range 3 * maxBuffers {
		buf = tape.put(buf, transcript.Entry{Data: buf[:1]})
	}
	close(hang)
	if err := tape.end(); !errors.Is(err, ErrSlow) {
		t.Errorf("end: %v", err)
	}
}

func BenchmarkPassThrough(b *testing.B) {
	for _, c := range []struct{ name, verb string }{{"recorded", "record"}, {"bare", "agent"}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(1 << 30)
			for b.Loop() {
				cmd := host(b, b.TempDir(), "flood")
				if c.verb == "agent" {
					cmd.Args = []string{cmd.Args[0], "agent", "flood"}
				}
				out, err := cmd.StdoutPipe()
				if err != nil {
					b.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				buf := make([]byte, 1<<20)
				for err == nil {
					_, err = out.Read(buf)
				}
				b.StopTimer() // the hashes come when the host has everything
				_ = cmd.Wait()
				b.StartTimer()
			}
		})
	}
}
