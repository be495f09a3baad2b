package registry

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGaps(t *testing.T) {
	release := func(state string, probes ...ProbeCoverage) ReleaseCoverage {
		r := ReleaseCoverage{Version: "2.0.0"}
		r.Probes, r.Claimed = probes, state == "claimed"
		return r
	}
	hole := func(kind HoleKind) ProbeCoverage {
		return ProbeCoverage{Probe: "chat", Hole: kind, Reason: string(kind)}
	}
	covered := ProbeCoverage{Probe: "greet", Observations: 1}
	gap := func(kind HoleKind) []Gap { return []Gap{{"acme", "2.0.0", "chat", string(kind)}} }
	for name, test := range map[string]struct {
		agent AgentCoverage
		want  []Gap
	}{
		"covered":                {AgentCoverage{Releases: []ReleaseCoverage{release("claimed", covered)}}, []Gap{}},
		"not captured":           {AgentCoverage{Releases: []ReleaseCoverage{release("claimed", covered, hole(HoleNotCaptured))}}, gap(HoleNotCaptured)},
		"withdrawn":              {AgentCoverage{Releases: []ReleaseCoverage{release("claimed", hole(HoleNotBacking))}}, gap(HoleNotBacking)},
		"no tool":                {AgentCoverage{Releases: []ReleaseCoverage{release("claimed", hole(HoleNoTool))}}, gap(HoleNoTool)},
		"no mode":                {AgentCoverage{Releases: []ReleaseCoverage{release("claimed", hole(HoleNoMode))}}, gap(HoleNoMode)},
		"unfit":                  {AgentCoverage{Releases: []ReleaseCoverage{release("claimed", hole(HoleUnfit))}}, []Gap{}},
		"declared":               {AgentCoverage{Releases: []ReleaseCoverage{release("claimed", hole(HoleDeclared))}}, []Gap{}},
		"an older release":       {AgentCoverage{Releases: []ReleaseCoverage{release("claimed", covered), release("claimed", hole(HoleNotCaptured))}}, []Gap{}},
		"newer, nothing claimed": {AgentCoverage{Releases: []ReleaseCoverage{release("", hole(HoleNotCaptured)), release("claimed", hole(HoleNotBacking))}}, gap(HoleNotBacking)},
		"nothing claimed":        {AgentCoverage{Releases: []ReleaseCoverage{release("", hole(HoleNotCaptured))}}, []Gap{{Agent: "acme", Reason: "no release is covered"}}},
		"no release":             {AgentCoverage{}, []Gap{{Agent: "acme", Reason: "no release is covered"}}},
		"not capturable":         {AgentCoverage{Reason: "It cannot be installed."}, []Gap{}},
		"of another tier":        {AgentCoverage{Tier: 2}, []Gap{}},
		"of the tier":            {AgentCoverage{Tier: 1}, []Gap{{Agent: "acme", Reason: "no release is covered"}}},
	} {
		t.Run(name, func(t *testing.T) {
			test.agent.Agent = "acme"
			if diff := cmp.Diff(test.want, Gaps([]AgentCoverage{test.agent}, 1)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
