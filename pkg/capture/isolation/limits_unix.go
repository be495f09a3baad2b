//go:build unix

package isolation

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// allocated is what a file takes on disk: holes take nothing.
func allocated(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}

func freeOf(dirs []string) free {
	out := make(free, len(dirs))
	for i, dir := range dirs {
		var s unix.Statfs_t
		if unix.Statfs(dir, &s) == nil {
			out[i].bytes, out[i].all = int64(s.Bavail)*int64(s.Bsize), int64(s.Blocks)*int64(s.Bsize) //nolint:unconvert // types differ by system
		}
	}
	return out
}
