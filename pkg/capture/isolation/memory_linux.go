package isolation

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// resident is the memory in use by all processes that /proc shows, which is the box. Shared pages count for each process.
func resident() int64 {
	list, err := filepath.Glob("/proc/[0-9]*/statm")
	if err != nil {
		return 0
	}
	var pages int64
	for _, name := range list {
		if name == "/proc/1/statm" {
			continue // the init is ours
		}
		text, _ := os.ReadFile(name) // the process may have ended
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			n, _ := strconv.ParseInt(fields[1], 10, 64)
			pages += n
		}
	}
	return pages * int64(os.Getpagesize())
}
