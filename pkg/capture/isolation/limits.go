package isolation

import (
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Limits bound what everything in a box may use together; 0 is no limit. Disk holds everywhere. Memory and Processes
// hold in a box of namespaces: by a control group where one can be made, which Box.Isolation says. Disk is sampled, and so
// is Memory without a group: for a fraction of a second more may be in use.
type Limits struct {
	// Disk is what the writable folders may hold, in bytes; in a box of namespaces one file has at most half of it.
	Disk int64
	// Memory is what all processes have in use, in bytes: their resident memory, or what their control group is charged for.
	Memory int64
	// Processes is the number of processes and threads. Without a control group those of the child's user count, whichever
	// box they are in, when root opens the boxes.
	Processes int
}

// LimitError says that a box was ended because it used too much.
type LimitError struct {
	What string // "disk" or "memory"
	// Machine says that the memory of the machine, or of a group around this program, was used up before the limit was.
	Machine bool
}

func (e *LimitError) Error() string {
	if e.Machine {
		return "the kernel killed a process of the child, since this machine, or the control group of this program, ran out of " + e.What
	}
	return fmt.Sprintf("the child used more %s than a run may: it was killed, with all that it had started", e.What)
}

// watchEvery is how often a limit is looked at.
const watchEvery = 200 * time.Millisecond

// A diskWatch ends a box whose folders grow too large.
type diskWatch struct {
	stop, done chan struct{}
}

// watchDisk calls exceeded once when the folders hold more than limit.
func watchDisk(dirs []string, limit int64, exceeded func(*LimitError)) *diskWatch {
	w := &diskWatch{stop: make(chan struct{}), done: make(chan struct{})}
	start := freeOf(dirs)
	go func() {
		defer close(w.done)
		wait := watchEvery
		for {
			select {
			case <-w.stop:
				return
			case <-time.After(wait):
			}
			begin := time.Now()
			if usage(dirs) > limit || freeOf(dirs).shrunk(start, limit) {
				exceeded(&LimitError{What: "disk"})
				return
			}
			wait = max(watchEvery, 50*time.Since(begin)) // a large folder must not slow the run down
		}
	}()
	return w
}

func (w *diskWatch) close() {
	close(w.stop)
	<-w.done
}

// inode is what a file takes that holds nothing, so that empty files count as well.
const inode = 512

// usage is the size of what the folders hold. What vanishes or is closed meanwhile counts as nothing.
func usage(dirs []string) int64 {
	var sum int64
	for _, dir := range dirs {
		root, err := os.OpenRoot(dir)
		if err != nil {
			continue
		}
		_ = fs.WalkDir(root.FS(), ".", func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // see above
			}
			sum += inode
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				sum += allocated(info)
			}
			return nil
		})
		_ = root.Close()
	}
	return sum
}

// A free is the room of the file systems that the folders lie on.
type free []struct{ bytes, all int64 }

// shrunk reports whether a file system is nearly full and lost more than twice the limit since start. So a child is found
// that fills files which have no name.
func (f free) shrunk(start free, limit int64) bool {
	for i := range f {
		if i < len(start) && f[i].bytes < f[i].all/10 && start[i].bytes-f[i].bytes > 2*limit {
			return true
		}
	}
	return false
}

// Free is the room for a user's files where dir lies, in bytes; -1 when the system does not tell.
func Free(dir string) int64 {
	if f := freeOf([]string{dir}); len(f) == 1 && f[0].all > 0 {
		return f[0].bytes
	}
	return -1
}
