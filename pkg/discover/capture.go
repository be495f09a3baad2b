package discover

import (
	"cmp"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// MaxMatrix is how many jobs a workflow's matrix may have.
const MaxMatrix = 256

// Job is one capture: one row of a workflow's matrix.
type Job struct {
	Agent    contract.AgentID    `json:"agent"`
	Version  contract.CLIVersion `json:"version"`
	Platform contract.Platform   `json:"platform"`
	Probe    contract.ProbeID    `json:"probe"`
}

// Matrix is the value of a job's strategy.matrix.
type Matrix struct {
	Include []Job `json:"include"`
}

// Matrices splits the captures into matrices of at most MaxMatrix jobs, in order. A workflow runs the first and
// chains the rest.
func (p *Plan) Matrices() []Matrix {
	var out []Matrix
	for chunk := range slices.Chunk(p.Capture, MaxMatrix) {
		out = append(out, Matrix{Include: chunk})
	}
	return out
}

// heads lists the current releases of an agent's channels, each once, in the order of the channels.
func heads(p AgentPlan) []contract.CLIVersion {
	var out []contract.CLIVersion
	for _, c := range p.Channels {
		if c.LatestSeen != "" && !slices.Contains(out, c.LatestSeen) {
			out = append(out, c.LatestSeen)
		}
	}
	return out
}

// holes lists what no capture covers of the current releases: per platform and probe.
func (a *agentState) holes(p AgentPlan) []Hole {
	holes := []Hole{}
	for _, v := range heads(p) {
		for _, platform := range a.opts.Platforms {
			for _, probe := range a.probes {
				b := behaviour{v, platform, probe}
				if _, declared := a.agent.Hole(probe, v); declared || a.seen.backs(b) {
					continue
				}
				h := Hole{Version: v, Platform: platform, Probe: probe, Reason: a.seen.reasons[b], Since: cmp.Or(a.release(v).PublishedAt, p.SeenAt)}
				for _, f := range a.opts.Failures {
					if f.Agent == a.agent.ID && f.Version == v && f.Platform == platform && f.Probe == probe && (!h.Tried || f.Since < h.Since) {
						h.Tried, h.Reason, h.Since = true, f.Reason, f.Since
					}
				}
				h.AgeDays = a.age(h.Since)
				h.Overdue = h.AgeDays > a.agent.FreshnessDays
				holes = append(holes, h)
			}
		}
	}
	return holes
}

// jobs lists the captures of an agent: what is missing of the current releases, all of it again when the agent went
// stale, then the newest uncovered releases up to the limit.
func (a *agentState) jobs(p AgentPlan) []Job {
	versions := heads(p)
	current := len(versions)
	for _, c := range p.Channels {
		for _, r := range c.Uncovered {
			if !slices.Contains(versions, r.Version) {
				versions = append(versions, r.Version)
			}
		}
	}
	slices.SortStableFunc(versions[current:], func(x, y contract.CLIVersion) int { return a.order(y, x) })
	versions = versions[:min(len(versions), max(current, a.opts.MaxReleases))]
	var jobs []Job
	for i, v := range versions {
		for _, platform := range a.opts.Platforms {
			for _, probe := range a.probes {
				if _, declared := a.agent.Hole(probe, v); declared {
					continue
				}
				if !a.seen.backs(behaviour{v, platform, probe}) || i == 0 && p.Stale {
					jobs = append(jobs, Job{a.agent.ID, v, platform, probe})
				}
			}
		}
	}
	return jobs
}
