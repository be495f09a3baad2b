//go:build unix

package usage

import (
	"runtime"
	"syscall"
	"time"
)

// CPU is what the process has used of all cores so far.
func CPU() time.Duration { return cpu(syscall.RUSAGE_SELF) }

// Children is what the child processes that have been waited for have used.
func Children() time.Duration { return cpu(syscall.RUSAGE_CHILDREN) }

func cpu(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// PeakRSS is the largest resident size of the process so far, in bytes.
func PeakRSS() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return u.Maxrss
	}
	return u.Maxrss << 10
}
