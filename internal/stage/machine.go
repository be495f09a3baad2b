package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/capture/isolation"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/scratch"
	"github.com/open-design/agent-cli-contracts/pkg/upstream"
)

// What a check says about the machine.
const (
	CheckOK      = "ok"
	CheckLimited = "limited" // captures work, with less
	CheckMissing = "missing" // captures do not work
)

// A Check is one thing that captures need or use.
type Check struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	// Remedy is the way out where the state is not ok.
	Remedy string `json:"remedy,omitempty"`
}

// Machine is what this machine can do.
type Machine struct {
	Platform contract.Platform `json:"platform"`
	Checks   []Check           `json:"checks"`
}

// facts are what was found out about the machine.
type facts struct {
	platform  contract.Platform
	isolation isolation.Info // of a box that was opened and closed
	refused   error          // why there is none
	landlock  int            // version that the kernel has
	npm, node string
	npmErr    error
	free      map[string]int64 // by what a folder is for
}

// Machine looks at this machine by trying: it opens a box and asks npm. What captures need and is missing makes a *FoundError.
func (s *Stage) Machine(ctx context.Context) (*Machine, error) {
	f := facts{platform: s.Platform, landlock: isolation.LandlockABI(), free: map[string]int64{}}
	own, err := scratch.Dir("")
	if err != nil {
		return nil, fmt.Errorf("looking at this machine: %w", err)
	}
	defer own.Remove() //nolint:errcheck // an empty folder
	dir := own.Path
	box, err := isolation.Open(ctx, isolation.Options{Enabled: true, Writable: []string{dir}, Limits: isolation.Limits{Disk: 1 << 20, Memory: 1 << 30, Processes: 4096}})
	switch {
	case err == nil:
		f.isolation = box.Isolation()
		if err := box.Close(); err != nil {
			return nil, err
		}
	case errors.Is(err, isolation.ErrRefused):
		f.refused = err
	default:
		return nil, err
	}
	f.npm, f.node, f.npmErr = s.NPM.ClientVersions(ctx, dir)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	cache := s.Cache
	if _, err := os.Stat(cache); err != nil {
		cache = dir // it is made on the first install; this is the best guess
	}
	f.free["installs"], f.free["run folders"] = isolation.Free(cache), isolation.Free(dir)
	m := &Machine{Platform: f.platform, Checks: f.checks()}
	missing := 0
	for _, c := range m.Checks {
		if c.State == CheckMissing {
			missing++
		}
	}
	if missing > 0 {
		return m, Found("%d of %d things that captures need are missing", missing, len(m.Checks))
	}
	return m, nil
}

func (f facts) checks() []Check {
	list := []Check{f.namespaces()}
	if f.isolation.Kind == "namespaces" {
		list = append(list, f.processes(), f.filesystem(), f.lock(), f.user(), f.cgroup())
	}
	return append(list, f.client(), f.room("installs"), f.room("run folders"))
}

func (f facts) namespaces() Check {
	c := Check{Name: "namespaces", State: CheckOK, Detail: "the child of a capture has its own"}
	switch {
	case f.refused != nil:
		c.State, c.Detail = CheckMissing, "the kernel refuses them"
		c.Remedy = "allow unprivileged user namespaces: sysctl user.max_user_namespaces above 0 and, where they exist, " +
			"kernel.unprivileged_userns_clone=1 and kernel.apparmor_restrict_unprivileged_userns=0; in a container, allow the system calls " +
			"unshare and mount; or capture with --no-isolation on a machine that holds nothing of value"
	case f.isolation.Kind != "namespaces":
		c.State, c.Detail = CheckLimited, fmt.Sprintf("this system has none: the child is ended with its group (%s), and has network and files of the host", f.isolation.Kind)
		c.Remedy = "capture on Linux, or only CLIs that you would run yourself here"
	}
	return c
}

func (f facts) processes() Check {
	for _, n := range f.isolation.Namespaces {
		if n == "pid" {
			return Check{Name: "processes", State: CheckOK, Detail: "the child sees its own only; their memory is bounded"}
		}
	}
	detail := "this /proc cannot be replaced, so the child sees that others exist"
	if g := f.isolation.Cgroup; g == nil || !slices.Contains(g.Limits, "memory") {
		detail += ", and memory is not bounded"
	}
	return Check{
		Name: "processes", State: CheckLimited, Detail: detail,
		Remedy: "in a container, unmask /proc (--security-opt systempaths=unconfined)",
	}
}

func (f facts) filesystem() Check {
	if f.isolation.Filesystem == "run-folders" {
		return Check{Name: "files", State: CheckOK, Detail: "the child writes to its run folders only"}
	}
	return Check{
		Name: "files", State: CheckLimited, Detail: "permissions and Landlock alone keep the child from writing elsewhere", Remedy: "use Linux 5.12 or newer",
	}
}

func (f facts) lock() Check {
	switch {
	case f.isolation.Landlock != nil:
		return Check{Name: "landlock", State: CheckOK, Detail: fmt.Sprintf("version %d", f.isolation.Landlock.ABI)}
	case f.landlock == 1:
		return Check{Name: "landlock", State: CheckLimited, Detail: "version 1 forbids every rename and is not used", Remedy: "use Linux 5.19 or newer"}
	}
	return Check{
		Name: "landlock", State: CheckLimited, Detail: "the kernel has none: mounts alone close the file system",
		Remedy: "use Linux 5.19 or newer with landlock in its list of security modules (kernel parameter lsm=)",
	}
}

func (f facts) user() Check {
	if f.isolation.User == "unprivileged" {
		return Check{Name: "user", State: CheckOK, Detail: "the child has a user of its own"}
	}
	return Check{
		Name: "user", State: CheckLimited, Detail: "the child has your user, without capabilities, in a user namespace",
		Remedy: "nothing is needed for scripted captures; as root the child gets the user nobody",
	}
}

func (f facts) cgroup() Check {
	g := f.isolation.Cgroup
	if g != nil && len(g.Limits) == 2 {
		return Check{Name: "cgroup", State: CheckOK, Detail: fmt.Sprintf("version %d bounds memory and processes of each run", g.Version)}
	}
	c := Check{
		Name: "cgroup", State: CheckLimited, Detail: "no control group can be made: memory is sampled, and processes are counted by user",
		Remedy: "nothing is needed for a capture at a time; else start the program in a group whose parent delegates memory and pids " +
			"(systemd-run --user --scope agent-contracts …), or as root; in a container, mount /sys/fs/cgroup writable and delegate the two there",
	}
	if g != nil {
		c.Detail = fmt.Sprintf("version %d bounds %s only: memory is sampled, or processes are counted by user", g.Version, g.Limits[0])
	}
	return c
}

func (f facts) client() Check {
	switch {
	case f.npmErr == nil:
		return Check{Name: "npm", State: CheckOK, Detail: fmt.Sprintf("npm %s, node %s", f.npm, f.node)}
	case errors.Is(f.npmErr, upstream.ErrNoNPM):
		return Check{Name: "npm", State: CheckMissing, Detail: "not found on PATH", Remedy: "install Node 20 or newer, or capture with --bin PATH"}
	}
	return Check{Name: "npm", State: CheckMissing, Detail: f.npmErr.Error(), Remedy: "run npm version and correct what it reports"}
}

// Room that captures need: the largest install has some hundred megabytes, a run may write two gigabytes.
const (
	roomNeeded = 1 << 30
	roomWanted = 5 << 30
)

func (f facts) room(what string) Check {
	c := Check{Name: "disk for " + what, State: CheckOK}
	free := f.free[what]
	if free < 0 {
		c.Detail = "this system does not tell"
		return c
	}
	c.Detail = fmt.Sprintf("%.1f GB free", float64(free)/1e9)
	switch {
	case free < roomNeeded:
		c.State = CheckMissing
	case free < roomWanted:
		c.State = CheckLimited
	default:
		return c
	}
	c.Remedy = "free some space, or name another folder: --cache for installs, TMPDIR for run folders"
	return c
}
