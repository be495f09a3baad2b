// Package scratch makes folders that go with the process that made them, and locks that do. A process that is killed
// cannot tidy up: its folders are removed by the next one that makes such a folder.
package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	prefix = "agent-contracts-"
	// marker says that the folder was locked by its process before it could be found without a lock.
	marker = ".scratch"
)

// ErrHeld says that another process holds a lock.
var ErrHeld = errors.New("held by another process")

// Folder is a folder of this process.
type Folder struct {
	Path string
	lock *Lock
}

// Dir makes a folder in parent (the system's temporary folder where that is empty), and removes those of processes
// that are dead. Only its user may enter.
func Dir(parent string) (*Folder, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	sweep(parent)
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, fmt.Errorf("making a temporary folder: %w; name a folder that can be written in TMPDIR", err)
	}
	f := &Folder{Path: path}
	if f.lock, err = TryLock(path); err == nil && f.lock.Real() {
		err = os.WriteFile(filepath.Join(path, marker), nil, 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a temporary folder: %w", err), f.Remove())
	}
	return f, nil
}

// Remove removes the folder with all that is in it.
func (f *Folder) Remove() error {
	err := remove(f.Path)
	f.lock.Release()
	return err
}

// remove takes the marker last, so that somebody else goes on where it is killed.
func remove(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = nil
	for _, e := range entries {
		if e.Name() != marker {
			err = errors.Join(err, os.RemoveAll(filepath.Join(path, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// sweep removes what dead processes of this user left in parent. What cannot be removed stays: it costs space only.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // making the folder says what is wrong
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		path := filepath.Join(parent, e.Name())
		if _, err := os.Lstat(filepath.Join(path, marker)); err != nil || !mine(path) {
			continue
		}
		lock, err := TryLock(path)
		if err != nil {
			continue
		}
		if lock.Real() {
			_ = remove(path)
		}
		lock.Release()
	}
}

// Lock is a lock on a folder. The system frees that of a process that dies.
type Lock struct{ dir *os.File }

// Real reports whether this system has such locks, so that nobody else holds this one.
func (l *Lock) Real() bool { return l != nil && l.dir != nil }

// Release frees the lock. It does nothing where there is none.
func (l *Lock) Release() {
	if l.Real() {
		_ = l.dir.Close()
	}
}

// TryLock locks a folder, or fails with ErrHeld.
func TryLock(dir string) (*Lock, error) {
	lock, err := tryLock(dir)
	if err != nil {
		return nil, err
	}
	if !lock.Real() {
		return lock, nil
	}
	// Another process may have put another folder in its place before the lock was there.
	locked, err := lock.dir.Stat()
	if err == nil {
		var there fs.FileInfo
		if there, err = os.Stat(dir); err == nil && !os.SameFile(locked, there) {
			err = ErrHeld
		}
	}
	if err != nil {
		lock.Release()
		return nil, fmt.Errorf("locking %s: %w", dir, err)
	}
	return lock, nil
}

// patience is how long WaitLock waits: far longer than any writer needs.
var patience = 2 * time.Minute

// WaitLock locks a folder when its holder frees it.
func WaitLock(dir string) (*Lock, error) {
	const step = 20 * time.Millisecond
	for waited := time.Duration(0); ; waited += step {
		lock, err := TryLock(dir)
		if !errors.Is(err, ErrHeld) || waited >= patience {
			return lock, err
		}
		time.Sleep(step)
	}
}
