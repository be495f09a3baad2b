package stage

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/capture/isolation"
	"github.com/open-design/agent-cli-contracts/pkg/upstream"
)

func TestMachineChecks(t *testing.T) {
	plenty := map[string]int64{"installs": 100 << 30, "run folders": 100 << 30}
	full := isolation.Info{
		Kind: "namespaces", Namespaces: []string{"mount", "network", "pid"}, Network: "loopback-only", User: "unprivileged",
		Filesystem: "run-folders", Landlock: &isolation.Landlock{ABI: 7, Files: true},
		Cgroup: &isolation.Cgroup{Version: 2, Limits: []string{"memory", "processes"}},
	}
	half := full
	half.Cgroup = &isolation.Cgroup{Version: 1, Limits: []string{"processes"}}
	weak := isolation.Info{Kind: "namespaces", Namespaces: []string{"mount", "network"}, Network: "loopback-only", User: "same"}
	for _, tt := range []struct {
		name string
		f    facts
		want map[string]string
	}{
		{"all of it", facts{isolation: full, free: plenty}, nil},
		{"an old kernel in a container", facts{isolation: weak, landlock: 1, free: plenty}, map[string]string{
			"processes": CheckLimited, "files": CheckLimited, "landlock": CheckLimited, "user": CheckLimited, "cgroup": CheckLimited,
		}},
		{"half a control group", facts{isolation: half, free: plenty}, map[string]string{"cgroup": CheckLimited}},
		{"refused", facts{refused: errors.New("no"), free: plenty}, map[string]string{"namespaces": CheckMissing}},
		{"another system", facts{isolation: isolation.Info{Kind: "process-group"}, free: map[string]int64{"installs": -1, "run folders": -1}},
			map[string]string{"namespaces": CheckLimited}},
		{"no npm, little room", facts{isolation: full, npmErr: upstream.ErrNoNPM, free: map[string]int64{"installs": 1 << 20, "run folders": 2 << 30}},
			map[string]string{"npm": CheckMissing, "disk for installs": CheckMissing, "disk for run folders": CheckLimited}},
		{"a broken npm", facts{isolation: full, npmErr: errors.New("exit 1"), free: plenty}, map[string]string{"npm": CheckMissing}},
	} {
		got := map[string]string{}
		for _, c := range tt.f.checks() {
			if c.State != CheckOK {
				got[c.Name] = c.State
			}
			if c.Detail == "" || (c.State == CheckOK) != (c.Remedy == "") {
				t.Errorf("%s: %+v: a detail always, a way out exactly where something is missing", tt.name, c)
			}
		}
		if len(got)+len(tt.want) > 0 && !cmp.Equal(tt.want, got) {
			t.Errorf("%s (-want +got):\n%s", tt.name, cmp.Diff(tt.want, got))
		}
	}
}
