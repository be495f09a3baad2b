package registry

import (
	"cmp"
	"maps"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// AgentCoverage says which probes of which releases of an agent are backed by observations, and why the others are not.
type AgentCoverage struct {
	Agent contract.AgentID `json:"agent"`
	Name  string           `json:"name"`
	// Reason says why the agent cannot be captured at all.
	Reason string `json:"reason,omitempty"`
	// Missing names the groups of behaviour that no backing observation shows, see Groups.
	Missing []string `json:"missing_groups,omitempty"`
	// Releases are all that discovery or capture saw, newest first.
	Releases []ReleaseCoverage `json:"releases"`
}

// ReleaseCoverage is one release of an agent.
type ReleaseCoverage struct {
	Version contract.CLIVersion `json:"version"`
	// Channels whose current release this is.
	Channels []string        `json:"channels,omitempty"`
	Claimed  bool            `json:"claimed"`
	Probes   []ProbeCoverage `json:"probes"`
}

// ProbeCoverage is one probe of a release. It is covered when Reason is empty.
type ProbeCoverage struct {
	Probe        contract.ProbeID       `json:"probe"`
	Platforms    []contract.Platform    `json:"platforms,omitempty"`
	Backends     []contract.Backend     `json:"backends,omitempty"`
	Level        contract.ValidityLevel `json:"validity_level,omitempty"`
	Observations int                    `json:"observations"`
	Reason       string                 `json:"reason,omitempty"`
}

// Groups are the kinds of behaviour that a registry covers for an agent.
func Groups() []string {
	return []string{"success streams", "version and model probes", "tool, file and artifact flows", "bidirectional RPC", "error forms"}
}

// Coverage lists agents, releases and probes with a reason for every hole. Agents and probes are sorted by id.
func Coverage(t *Tree, c *Catalog) ([]AgentCoverage, error) {
	r, err := LoadRecords(t, nil)
	if err == nil {
		err = r.Problems.Err()
	}
	if err != nil {
		return nil, err
	}
	byAgent := map[contract.AgentID][]Judged{}
	for _, j := range r.Judge(c) {
		byAgent[j.Observation.Agent] = append(byAgent[j.Observation.Agent], j)
	}
	coverage := []AgentCoverage{}
	for _, id := range slices.Sorted(maps.Keys(c.Agents)) {
		b := builder{catalog: c, agent: c.Agents[id], releases: r.Releases[id], judged: byAgent[id]}
		coverage = append(coverage, b.coverage())
	}
	return coverage, nil
}

func (b *builder) coverage() AgentCoverage {
	type key struct {
		version contract.CLIVersion
		probe   contract.ProbeID
	}
	cells := map[key][]Judged{}
	shown := map[string]bool{}
	for _, j := range b.judged {
		k := key{j.Observation.CLIVersion, j.Observation.Probe}
		cells[k] = append(cells[k], j)
		if j.Reason == "" {
			for _, group := range b.groups(j.Observation) {
				shown[group] = true
			}
		}
	}
	cover := AgentCoverage{Agent: b.agent.ID, Name: b.agent.Name, Reason: b.agent.NotCapturable, Releases: []ReleaseCoverage{}}
	for _, group := range b.expectedGroups() {
		if !shown[group] {
			cover.Missing = append(cover.Missing, group)
		}
	}
	known := b.known()
	slices.Reverse(known)
	for _, v := range known {
		release := ReleaseCoverage{Version: v}
		for _, head := range b.releases.Channels {
			if head.Version == v {
				release.Channels = append(release.Channels, head.Name)
			}
		}
		for _, probe := range slices.Sorted(maps.Keys(b.catalog.Probes)) {
			if b.catalog.Probes[probe].HostOnly() && len(cells[key{v, probe}]) == 0 {
				continue
			}
			p := b.probeCoverage(v, b.catalog.Probes[probe], cells[key{v, probe}])
			release.Claimed = release.Claimed || p.Reason == ""
			release.Probes = append(release.Probes, p)
		}
		cover.Releases = append(cover.Releases, release)
	}
	return cover
}

func (b *builder) probeCoverage(v contract.CLIVersion, probe contract.Probe, judged []Judged) ProbeCoverage {
	p := ProbeCoverage{Probe: probe.ID, Observations: len(judged)}
	platforms, backends := map[contract.Platform]bool{}, map[contract.Backend]bool{}
	var backing []*Record
	for _, j := range judged {
		if j.Reason != "" {
			p.Reason = j.Reason // the newest wins: observations are sorted by path, hence by time
			continue
		}
		backing = append(backing, j.Record)
		platforms[j.Observation.Platform] = true
		backends[j.Observation.Capture.Backend] = true
	}
	if len(backing) > 0 {
		p.Platforms, p.Backends, p.Level, p.Reason = inOrder(platforms), inOrder(backends), EffectiveLevel(backing), ""
		return p
	}
	p.Reason = cmp.Or(p.Reason, b.hole(v, probe))
	return p
}

// hole says why a probe of a release has no observation.
func (b *builder) hole(v contract.CLIVersion, probe contract.Probe) string {
	if b.agent.NotCapturable != "" {
		return b.agent.NotCapturable
	}
	kind := "run"
	if probe.Expected != nil {
		kind = cmp.Or(probe.Expected.Kind, kind)
	}
	if kind != "run" {
		return "it was not captured"
	}
	if !Fits(b.agent, probe) {
		return "no mode of the agent can run it"
	}
	runnable := slices.ContainsFunc(b.agent.Modes, func(m contract.Mode) bool {
		_, err := ResolveMode(b.agent, m.ID, v)
		return err == nil
	})
	if !runnable {
		return "the agent file has no mode for this release"
	}
	if _, ok := ModelAPI(b.agent, v); !ok && probe.Script != nil {
		return "the agent file names no model API for this release"
	}
	return "it was not captured"
}

// groups names the groups of behaviour that an observation shows.
func (b *builder) groups(o contract.Observation) []string {
	names := Groups()
	var shown []string
	add := func(i int, shows bool) {
		if shows {
			shown = append(shown, names[i])
		}
	}
	p := b.catalog.Probes[o.Probe]
	add(0, carries(b.catalog, o))
	add(1, p.Expected != nil && (slices.Contains(p.Expected.MustSee, "version_reported") || slices.Contains(p.Expected.MustSee, "models_listed")))
	add(2, hasStep(p, func(s contract.ScriptStep) bool { return s.Tool != nil }))
	add(3, o.ProtocolFamily.IsRPC())
	add(4, p.EnvPolicy != nil || hasStep(p, func(s contract.ScriptStep) bool { return s.Error != nil || s.Drop != nil || s.Stall != nil }))
	return shown
}

func hasStep(p contract.Probe, is func(contract.ScriptStep) bool) bool {
	return p.Script != nil && slices.ContainsFunc(p.Script.Steps, is)
}

// expectedGroups leaves out RPC for agents that have no such mode.
func (b *builder) expectedGroups() []string {
	names := Groups()
	if slices.ContainsFunc(b.agent.Modes, func(m contract.Mode) bool { return m.Family.IsRPC() }) {
		return names
	}
	return slices.Delete(names, 3, 4)
}
