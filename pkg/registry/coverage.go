package registry

import (
	"maps"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// AgentCoverage says which probes of which releases of an agent are backed by observations, and why the others are not.
type AgentCoverage struct {
	Agent contract.AgentID `json:"agent"`
	Name  string           `json:"name"`
	Tier  int              `json:"tier"`
	// Reason says why the agent cannot be captured at all.
	Reason string `json:"reason,omitempty"`
	// Groups are the kinds of behaviour, each with whether a backing observation shows it.
	Groups []GroupCoverage `json:"groups"`
	// Releases are all that discovery or capture saw, newest first.
	Releases []ReleaseCoverage `json:"releases"`
}

// GroupCoverage is one kind of behaviour, see Groups.
type GroupCoverage struct {
	Name  string `json:"name"`
	Shown bool   `json:"shown"`
	// Reason says why an agent is not expected to show it.
	Reason string `json:"reason,omitempty"`
}

// ReleaseCoverage is one release of an agent.
type ReleaseCoverage struct {
	Version contract.CLIVersion `json:"version"`
	// Channels whose current release this is.
	Channels []string `json:"channels,omitempty"`
	Claimed  bool     `json:"claimed"`
	// Reason says why nothing of this release can be observed: a hole of the probe that asks for the version.
	Reason string          `json:"reason,omitempty"`
	Probes []ProbeCoverage `json:"probes"`
}

// HoleKind says what kind of reason a hole has.
type HoleKind string

// The kinds of holes.
const (
	HoleNotCaptured   HoleKind = "not_captured"
	HoleNotBacking    HoleKind = "not_backing"    // there are observations, and none backs a claim
	HoleNotCapturable HoleKind = "not_capturable" // nothing of the agent can be captured
	HoleDeclared      HoleKind = "declared"       // the agent file says why
	HoleUnfit         HoleKind = "unfit"          // the probe fits no mode
	HoleNoTool        HoleKind = "no_tool"        // the mode names no tool for an intent of the script
	HoleNoMode        HoleKind = "no_mode"        // the agent file does not reach this release
)

// ProbeCoverage is one probe of a release. It is covered when Reason is empty.
type ProbeCoverage struct {
	Probe contract.ProbeID `json:"probe"`
	// Alias is the other spelling, where there is one.
	Alias        string                 `json:"alias,omitempty"`
	Platforms    []contract.Platform    `json:"platforms,omitempty"`
	Backends     []contract.Backend     `json:"backends,omitempty"`
	Level        contract.ValidityLevel `json:"validity_level,omitempty"`
	Observations int                    `json:"observations"`
	Hole         HoleKind               `json:"hole,omitempty"`
	Reason       string                 `json:"reason,omitempty"`
	// Partial lists modes that do not show the probe, with the reason that the agent file gives.
	Partial []ModeHole `json:"partial,omitempty"`
}

// ModeHole is the hole of one mode.
type ModeHole struct {
	Mode   contract.ModeID `json:"mode"`
	Reason string          `json:"reason"`
}

// groupRPC is the place of RPC among the groups.
const groupRPC = 3

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
	cover := AgentCoverage{Agent: b.agent.ID, Name: b.agent.Name, Tier: b.agent.Tier, Reason: b.agent.NotCapturable, Releases: []ReleaseCoverage{}}
	for i, group := range Groups() {
		g := GroupCoverage{Name: group, Shown: shown[group]}
		if i == groupRPC && !slices.ContainsFunc(b.agent.Modes, func(m contract.Mode) bool { return m.Family.IsRPC() }) {
			g.Reason = "the agent file has no RPC mode"
		}
		cover.Groups = append(cover.Groups, g)
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
			if p.Hole == HoleDeclared && b.catalog.Probes[probe].ImplicitMode() == contract.ModeVersion {
				release.Reason = p.Reason
			}
			release.Probes = append(release.Probes, p)
		}
		if release.Reason != "" { // what has no version has nothing else
			for i := range release.Probes {
				if p := &release.Probes[i]; p.Hole == HoleNotCaptured {
					p.Hole, p.Reason = HoleDeclared, release.Reason
				}
			}
		}
		cover.Releases = append(cover.Releases, release)
	}
	return cover
}

func (b *builder) probeCoverage(v contract.CLIVersion, probe contract.Probe, judged []Judged) ProbeCoverage {
	p := ProbeCoverage{Probe: probe.ID, Alias: probe.ID.Alias(), Observations: len(judged)}
	p.Partial = partial(b.agent, v, probe.ID)
	platforms, backends := map[contract.Platform]bool{}, map[contract.Backend]bool{}
	var backing []*Record
	for _, j := range judged {
		if j.Reason != "" {
			p.Hole, p.Reason = HoleNotBacking, j.Reason // the newest wins: observations are sorted by path, hence by time
			continue
		}
		backing = append(backing, j.Record)
		platforms[j.Observation.Platform] = true
		backends[j.Observation.Capture.Backend] = true
	}
	switch {
	case len(backing) > 0:
		p.Platforms, p.Backends, p.Level, p.Hole, p.Reason = inOrder(platforms), inOrder(backends), EffectiveLevel(backing), "", ""
	default:
		// A declared hole explains an observation that was withdrawn; other reasons are about modes that nobody tried.
		if kind, reason := WhyNot(b.agent, v, probe); kind == HoleDeclared || p.Reason == "" {
			p.Hole, p.Reason = kind, reason
		}
	}
	if p.Hole == HoleDeclared && len(p.Partial) > 0 && p.Reason == modeHoles(p.Partial) {
		p.Partial = nil // said already
	}
	return p
}

// modeHoles is the reason of a probe that no mode shows.
func modeHoles(holes []ModeHole) string {
	reasons := make([]string, len(holes))
	for i, h := range holes {
		reasons[i] = h.note()
	}
	return strings.Join(reasons, "; ")
}

func (h ModeHole) note() string { return "in mode " + string(h.Mode) + ": " + h.Reason }

// partial lists the modes for which the agent file says why they do not show a probe.
func partial(a contract.Agent, v contract.CLIVersion, probe contract.ProbeID) []ModeHole {
	var holes []ModeHole
	for _, h := range a.Holes {
		if h.Mode != "" && h.Covers(probe, v) {
			holes = append(holes, ModeHole{h.Mode, h.Reason})
		}
	}
	return holes
}

// WhyNot says why a probe of a release has no observation, as far as the data tells.
func WhyNot(a contract.Agent, v contract.CLIVersion, probe contract.Probe) (HoleKind, string) {
	if a.NotCapturable != "" {
		return HoleNotCapturable, a.NotCapturable
	}
	if h, ok := a.Hole(probe.ID, v); ok {
		return HoleDeclared, h.Reason
	}
	if probe.ImplicitMode() == contract.ModeModels {
		if _, ok := modelsForm(a, v); !ok {
			return HoleUnfit, noModels
		}
	}
	if probe.ImplicitMode() != "" {
		if !Fits(a, probe) {
			return HoleUnfit, "the agent has no command for it"
		}
		return HoleNotCaptured, notCaptured
	}
	var modes []Mode
	var unfits []string
	for _, m := range a.Modes {
		mode, err := ResolveMode(a, m.ID, v)
		if err != nil {
			continue
		}
		if reason := unfit(a, mode, probe); reason != "" {
			unfits = append(unfits, reason)
		} else {
			modes = append(modes, mode)
		}
	}
	_, hasAPI := ModelAPI(a, v)
	switch {
	case len(modes)+len(unfits) == 0:
		return HoleNoMode, "the agent file has no mode for this release"
	case len(modes) == 0:
		slices.Sort(unfits)
		return HoleUnfit, "no mode fits: " + strings.Join(slices.Compact(unfits), "; ")
	case !hasAPI && probe.NeedsModel():
		return HoleNoMode, "the agent file names no model API for this release"
	}
	holes := partial(a, v, probe.ID)
	if !slices.ContainsFunc(modes, func(m Mode) bool {
		return !slices.ContainsFunc(holes, func(h ModeHole) bool { return h.Mode == m.ID })
	}) {
		return HoleDeclared, modeHoles(holes)
	}
	if intent, ok := missingIntent(modes, probe); ok {
		return HoleNoTool, "no mode names a tool for the intent " + intent
	}
	return HoleNotCaptured, notCaptured
}

const notCaptured = "not captured yet"

// missingIntent is an intent of a probe's script that none of the modes has a tool for.
func missingIntent(modes []Mode, probe contract.Probe) (string, bool) {
	if probe.Script == nil {
		return "", false
	}
	for _, step := range probe.Script.Steps {
		if step.Tool != nil && !slices.ContainsFunc(modes, func(m Mode) bool { return len(m.Tools[step.Tool.Intent]) > 0 }) {
			return step.Tool.Intent, true
		}
	}
	return "", false
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
	add(groupRPC, o.ProtocolFamily.IsRPC())
	add(4, p.EnvPolicy != nil || hasStep(p, func(s contract.ScriptStep) bool { return s.Error != nil || s.Drop != nil || s.Stall != nil }))
	return shown
}

func hasStep(p contract.Probe, is func(contract.ScriptStep) bool) bool {
	return p.Script != nil && slices.ContainsFunc(p.Script.Steps, is)
}
