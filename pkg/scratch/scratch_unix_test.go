//go:build unix

package scratch

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// The test binary is also the process that is killed.
func TestMain(m *testing.M) {
	if parent := os.Getenv("SCRATCH_PARENT"); parent != "" {
		f, err := Dir(parent)
		if err != nil {
			os.Exit(3)
		}
		_ = os.MkdirAll(filepath.Join(f.Path, "home", "deep"), 0o755)
		_, _ = os.Stdout.WriteString(f.Path + "\n")
		time.Sleep(time.Minute)
		return
	}
	os.Exit(m.Run())
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestFoldersOfTheDeadGo(t *testing.T) {
	parent := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "SCRATCH_PARENT="+parent)
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	path := line[:len(line)-1]

	// Neither a name alone nor a link makes a folder one of ours.
	foreign, outside := filepath.Join(parent, prefix+"foreign"), t.TempDir()
	if err := errors.Join(os.Mkdir(foreign, 0o755), os.WriteFile(filepath.Join(outside, marker), nil, 0o600), os.Symlink(outside, filepath.Join(parent, prefix+"link"))); err != nil {
		t.Fatal(err)
	}
	mine, err := Dir(parent)
	if err != nil {
		t.Fatal(err)
	}
	if !exists(path) || !exists(mine.Path) {
		t.Fatal("the folder of a living process is gone")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	next, err := Dir(parent)
	if err != nil {
		t.Fatal(err)
	}
	if exists(path) {
		t.Error("the folder of a dead process is still there")
	}
	if !exists(mine.Path) || !exists(foreign) || !exists(filepath.Join(outside, marker)) {
		t.Error("a folder that belongs to somebody is gone")
	}
	if err := errors.Join(mine.Remove(), next.Remove()); err != nil || exists(mine.Path) || exists(next.Path) {
		t.Errorf("a removed folder is still there: %v", err)
	}
}

// A removal that is interrupted leaves the marker, by which the next process finds the rest.
func TestInterruptedRemoval(t *testing.T) {
	parent := t.TempDir()
	f, err := Dir(parent)
	if err != nil {
		t.Fatal(err)
	}
	stuck := filepath.Join(f.Path, "zz")
	if err := errors.Join(os.Mkdir(stuck, 0o755), os.WriteFile(filepath.Join(stuck, "file"), nil, 0o644), os.Chmod(stuck, 0)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		t.Skip("nothing stands in the way of root")
	}
	if err := f.Remove(); err == nil || !exists(filepath.Join(f.Path, marker)) {
		t.Fatalf("removed although a part stayed: %v", err)
	}
	if err := os.Chmod(stuck, 0o755); err != nil { //nolint:gosec // a folder of the test
		t.Fatal(err)
	}
	next, err := Dir(parent)
	if err != nil {
		t.Fatal(err)
	}
	if exists(f.Path) {
		t.Error("the rest is still there")
	}
	if err := next.Remove(); err != nil {
		t.Error(err)
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	lock, err := TryLock(dir)
	if err != nil || !lock.Real() {
		t.Fatal(lock, err)
	}
	if _, err := TryLock(dir); !errors.Is(err, ErrHeld) {
		t.Errorf("a second lock: %v", err)
	}
	defer func(d time.Duration) { patience = d }(patience)
	patience = 40 * time.Millisecond
	if _, err := WaitLock(dir); !errors.Is(err, ErrHeld) {
		t.Errorf("after waiting: %v", err)
	}
	time.AfterFunc(10*time.Millisecond, lock.Release)
	patience = time.Minute
	again, err := WaitLock(dir)
	if err != nil {
		t.Fatal(err)
	}
	again.Release()
}
