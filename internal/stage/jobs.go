package stage

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/capture"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// observeAll runs the probes side by side and hands on what came of each in their own order, so that what is written does
// not depend on which was first. Results that are there when ctx ends are still written; what had not begun is left out.
func (s *Stage) observeAll(ctx context.Context, c *capture.Capturer, probes []contract.Probe, jobs int, t capture.Target, each func(contract.Probe, *capture.Result, error)) {
	type outcome struct {
		begun    bool
		observed *capture.Observed
		err      error
	}
	outcomes := make([]chan outcome, len(probes))
	for i := range outcomes {
		outcomes[i] = make(chan outcome, 1)
	}
	next := make(chan int)
	go func() {
		defer close(next)
		for _, i := range startOrder(probes) {
			next <- i
		}
	}()
	for range min(max(jobs, 1), len(probes)) {
		go func() {
			for i := range next {
				if ctx.Err() != nil {
					outcomes[i] <- outcome{}
					continue
				}
				t := t
				t.Probe = probes[i]
				observed, err := c.Observe(ctx, t)
				if err != nil {
					s.Progress("%s: %v", t.Probe.ID, err)
				}
				outcomes[i] <- outcome{true, observed, err}
			}
		}()
	}
	for i, probe := range probes {
		o := <-outcomes[i]
		if !o.begun {
			continue
		}
		var result *capture.Result
		if o.err == nil {
			if result, o.err = o.observed.Write(); o.err != nil {
				s.Progress("%s: %v", probe.ID, o.err)
			}
			o.observed.Close()
		}
		each(probe, result, o.err)
	}
}

// startOrder lists the probes in the order to start them: those with time limits of their own wait for something, those
// without expectations withhold something and the CLI tries again, and what takes longest must not come last. The cheap
// probes stay in front.
func startOrder(probes []contract.Probe) []int {
	order := make([]int, len(probes))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) int {
		p := probes[i]
		switch {
		case p.ImplicitMode() != "":
			return 0
		case p.Expected == nil || p.Expected.TimeLimits != nil:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	return order
}

// What one run is reckoned to need. Most CLIs take less memory, and a quarter of a core: they wait for the model.
const (
	jobsPerCore  = 2
	maxJobs      = 4
	memoryPerJob = 3 << 29
)

// Jobs is how many probes run side by side on this machine where nobody says.
func Jobs() int { return jobs(runtime.NumCPU(), availableMemory(os.ReadFile)) }

func jobs(cores int, memory int64) int {
	n := min(jobsPerCore*cores, maxJobs)
	if memory >= 0 {
		n = min(n, int(memory/memoryPerJob))
	}
	return max(n, 1)
}

// availableMemory is what the machine, or the container, can still give, in bytes; -1 when the system does not tell.
func availableMemory(read func(name string) ([]byte, error)) int64 {
	number := func(name, key string) int64 {
		text, err := read(name)
		if err != nil {
			return -1
		}
		for line := range bytes.Lines(text) {
			if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
				var n int64
				if _, err := fmt.Sscan(string(rest), &n); err == nil {
					return n
				}
			}
		}
		return -1
	}
	available := number("/proc/meminfo", "MemAvailable:")
	if available < 0 {
		return -1
	}
	available <<= 10
	limit, used := number("/sys/fs/cgroup/memory.max", ""), number("/sys/fs/cgroup/memory.current", "")
	if limit < 0 || used < 0 {
		return available
	}
	// Cached files count as used and are given back.
	used -= max(number("/sys/fs/cgroup/memory.stat", "inactive_file "), 0)
	return min(available, max(limit-used, 0))
}
