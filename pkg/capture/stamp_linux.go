package capture

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// stamp names the state of a file by what the kernel keeps of it. The time of the last change cannot be set, so equal
// stamps mean equal bytes, without the reading of a few hundred megabytes after each run. Empty where it cannot be told.
func stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || time.Since(time.Unix(s.Ctim.Unix())) < settled {
		return ""
	}
	return fmt.Sprint(s.Dev, s.Ino, s.Size, s.Mtim, s.Ctim)
}
