//go:build unix

package scratch

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

func tryLock(dir string) (*Lock, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, fmt.Errorf("locking a folder: %w", err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) //nolint:gosec // a descriptor fits an int
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return &Lock{dir: f}, nil
	}
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("locking %s: %w", dir, ErrHeld)
	}
	return &Lock{}, nil // a file system without locks
}

// mine reports whether the folder is this user's.
func mine(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && int(stat.Uid) == os.Geteuid()
}
