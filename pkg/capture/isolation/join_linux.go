package isolation

import (
	"errors"
	"os"
	"slices"
	"syscall"
	"time"
)

// A joining is the init's way into the control group of its children; nil where there is none.
type joining struct {
	dir   *os.File // version 2: children are started in this group
	ended chan struct{}
	ok    bool // set when ended is closed
}

// joinGroup begins to join, beside everything else: in version 1 the kernel first waits until nobody forks.
func joinGroup(s *setup, files []*os.File) *joining {
	if s.Cgroup == nil || len(files) == 0 {
		closeAll(files)
		return nil
	}
	j := &joining{ended: make(chan struct{})}
	go func() {
		defer close(j.ended)
		if s.Cgroup.Version == 2 {
			j.ok = j.prove(files[0])
			return
		}
		defer closeAll(files)
		// Only the thread that starts the children goes there, which is the first; none is started by it but they. The others
		// must be able to start one when the group is full.
		for _, f := range files {
			if _, err := f.WriteString("1"); err != nil {
				return
			}
		}
		j.ok = true
	}()
	return j
}

// prove starts nothing in the group: that fails when the process is there already, and else before.
func (j *joining) prove(dir *os.File) bool {
	j.dir = dir
	sys := &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd())}
	_, err := syscall.ForkExec("", []string{""}, &syscall.ProcAttr{Env: []string{}, Sys: sys})
	return errors.Is(err, syscall.ENOENT)
}

// done waits, and reports whether children will be in the group.
func (j *joining) done() bool {
	if j == nil {
		return false
	}
	<-j.ended
	return j.ok
}

// apply has a child start in the group, where its parent is not in it.
func (j *joining) apply(sys *syscall.SysProcAttr) {
	if j.done() && j.dir != nil {
		sys.UseCgroupFD, sys.CgroupFD = true, int(j.dir.Fd())
	}
}

// without leaves out what a control group holds.
func (l Limits) without(g *Cgroup) Limits {
	if slices.Contains(g.Limits, "memory") {
		l.Memory = 0
	}
	if slices.Contains(g.Limits, "processes") {
		l.Processes = 0
	}
	return l
}

// sendSetup asks the init to set the box up, and gives it the files of the control group.
func (n *namespaces) sendSetup(s *setup) error {
	var fds []int
	if n.group != nil {
		// Without them the children are in no group, and the init counts.
		if files, err := n.group.files(); err == nil {
			defer closeAll(files)
			s.Cgroup = n.group.info()
			for _, f := range files {
				fds = append(fds, int(f.Fd()))
			}
		}
	}
	return send(n.conn, message{Setup: s}, fds...)
}

// watchMemory ends the box when the kernel has killed something in it for want of memory: the rest would go on without it.
func (n *namespaces) watchMemory() {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-n.gone:
			return
		case <-ticker.C:
			n.mu.Lock()
			n.starved()
			n.mu.Unlock()
		}
	}
}

// starved reports whether the kernel killed something for want of memory, and ends the box then. It is called with mu held.
func (n *namespaces) starved() bool {
	limit := n.group.starved()
	if limit != nil && n.limit == nil {
		n.limit = limit
		_ = n.init.Process.Kill() // it fails only when the init has ended
	}
	return limit != nil
}
