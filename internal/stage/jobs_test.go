package stage

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func TestJobs(t *testing.T) {
	for _, tt := range []struct {
		cores  int
		memory int64
		want   int
	}{
		{1, 16 << 30, 2},
		{2, 16 << 30, 4},
		{64, 512 << 30, 4},
		{2, 4 << 30, 2},
		{2, 1 << 30, 1}, // it must still work
		{2, 0, 1},
		{2, -1, 4}, // the system does not tell
	} {
		if got := jobs(tt.cores, tt.memory); got != tt.want {
			t.Errorf("jobs(%d, %d) = %d, want %d", tt.cores, tt.memory, got, tt.want)
		}
	}
}

func TestAvailableMemory(t *testing.T) {
	const meminfo = "MemTotal:       24000000 kB\nMemFree:         9000000 kB\nMemAvailable:   20000000 kB\n"
	const limit, current, stat = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"
	for name, tt := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing":            {nil, -1},
		"a machine":          {map[string]string{"/proc/meminfo": meminfo}, 20000000 << 10},
		"a group, no limit":  {map[string]string{"/proc/meminfo": meminfo, limit: "max\n", current: "5\n"}, 20000000 << 10},
		"a container":        {map[string]string{"/proc/meminfo": meminfo, limit: "4000000000\n", current: "3000000000\n", stat: "anon 1\ninactive_file 500000000\n"}, 1500000000},
		"a full container":   {map[string]string{"/proc/meminfo": meminfo, limit: "4000\n", current: "5000\n"}, 0},
		"a large container":  {map[string]string{"/proc/meminfo": meminfo, limit: "99000000000\n", current: "1\n"}, 20000000 << 10},
		"a meminfo with bad": {map[string]string{"/proc/meminfo": "MemAvailable: ?\n"}, -1},
	} {
		got := availableMemory(func(name string) ([]byte, error) {
			if text, ok := tt.files[name]; ok {
				return []byte(text), nil
			}
			return nil, errors.ErrUnsupported
		})
		if got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

// What waits must not come last, and a broken executable shows in the first probes.
func TestStartOrder(t *testing.T) {
	quick, slow := &contract.MinEvents{}, &contract.MinEvents{TimeLimits: &contract.TimeLimits{Total: 240}}
	probes := []contract.Probe{{ID: "help-probe", Expected: slow}, {ID: "a", Expected: quick}, {ID: "b", Expected: slow}, {ID: "c", Expected: quick}, {ID: "d"}}
	if diff := cmp.Diff([]int{0, 2, 4, 1, 3}, startOrder(probes)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
