package registry

import (
	"fmt"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Gap is a probe that the newest covered release of an agent neither shows nor says why not.
type Gap struct {
	Agent contract.AgentID `json:"agent"`
	// Version and Probe are empty where no release of the agent is covered at all.
	Version contract.CLIVersion `json:"version,omitempty"`
	Probe   contract.ProbeID    `json:"probe,omitempty"`
	Reason  string              `json:"reason"`
}

func (g Gap) String() string {
	if g.Version == "" {
		return fmt.Sprintf("%s: %s", g.Agent, g.Reason)
	}
	return fmt.Sprintf("%s@%s:%s: %s", g.Agent, g.Version, g.Probe, g.Reason)
}

// Gaps lists the gaps of agents up to a tier, in the order of the coverage.
func Gaps(coverage []AgentCoverage, tier int) []Gap {
	gaps := []Gap{}
	for _, a := range coverage {
		if a.Tier <= tier && a.Reason == "" {
			gaps = append(gaps, a.gaps()...)
		}
	}
	return gaps
}

func (a AgentCoverage) gaps() []Gap {
	for _, r := range a.Releases {
		if !r.Claimed {
			continue
		}
		var gaps []Gap
		for _, p := range r.Probes {
			if p.Hole.gap() {
				gaps = append(gaps, Gap{a.Agent, r.Version, p.Probe, p.Reason})
			}
		}
		return gaps
	}
	return []Gap{{Agent: a.Agent, Reason: "no release is covered"}}
}

// gap says that a hole is work left undone. The other kinds are facts about the agent.
func (k HoleKind) gap() bool {
	switch k {
	case HoleNotCaptured, HoleNotBacking, HoleNoTool, HoleNoMode:
		return true
	default:
		return false
	}
}
