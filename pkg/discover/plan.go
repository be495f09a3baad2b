package discover

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// Options bound a plan.
type Options struct {
	// Now is the time that ages count to.
	Now time.Time
	// Agents restricts the plan; empty means all of the catalog.
	Agents []contract.AgentID
	// Platforms are those that captures can run on; empty means DefaultPlatform.
	Platforms []contract.Platform
	// MaxUncovered is how many uncovered releases a channel lists; 0 means DefaultUncovered. All are counted.
	MaxUncovered int
	// MaxReleases is how many releases of one agent the capture matrix takes in; 0 means DefaultReleases.
	MaxReleases int
	// Unreachable says why an agent has no release list, where the caller knows.
	Unreachable map[contract.AgentID]string
	// Failures are captures that were tried and gave no observation.
	Failures []Failure
}

// The defaults of Options.
const (
	DefaultPlatform  contract.Platform = "linux-x64"
	DefaultUncovered int               = 20
	DefaultReleases  int               = 3
)

// Failure is a capture that gave no observation.
type Failure struct {
	Agent    contract.AgentID    `json:"agent"`
	Version  contract.CLIVersion `json:"cli_version"`
	Platform contract.Platform   `json:"platform"`
	Probe    contract.ProbeID    `json:"probe"`
	// Since is when it failed first.
	Since  contract.Timestamp `json:"since"`
	Reason string             `json:"reason"`
}

// Plan is what is released and not covered.
type Plan struct {
	GeneratedAt contract.Timestamp `json:"generated_at"`
	Agents      []AgentPlan        `json:"agents"`
	// Capture is what a capture should run next, in order of importance.
	Capture []Job `json:"capture"`
}

// AgentPlan is the part of one agent.
type AgentPlan struct {
	Agent contract.AgentID `json:"agent"`
	Name  string           `json:"name"`
	Tier  int              `json:"tier"`
	// NotCapturable says why this CLI cannot be captured; the hole stays visible.
	NotCapturable string `json:"not_capturable,omitempty"`
	// Problem says why the releases are unknown.
	Problem string `json:"problem,omitempty"`
	// SeenAt is when the upstream was asked.
	SeenAt   contract.Timestamp `json:"seen_at,omitempty"`
	Channels []ChannelPlan      `json:"channels"`
	// LatestVerified is the newest release with an observation that backs a claim; LatestObserved with any.
	LatestVerified contract.CLIVersion `json:"latest_verified,omitempty"`
	LatestObserved contract.CLIVersion `json:"latest_observed,omitempty"`
	LastObservedAt contract.Timestamp  `json:"last_observed_at,omitempty"`
	// AgeDays counts from the last observation that backs a claim; -1 without one.
	AgeDays       int    `json:"age_days"`
	FreshnessDays int    `json:"freshness_days"`
	Stale         bool   `json:"stale"`
	Holes         []Hole `json:"holes"`
}

// ChannelPlan is one channel of an agent.
type ChannelPlan struct {
	Channel    string              `json:"channel"`
	LatestSeen contract.CLIVersion `json:"latest_seen,omitempty"`
	Published  contract.Timestamp  `json:"published_at,omitempty"`
	// LatestVerified is the newest release of this channel with an observation that backs a claim.
	LatestVerified contract.CLIVersion `json:"latest_verified,omitempty"`
	// Covered says whether LatestSeen is.
	Covered bool `json:"covered"`
	// Newer counts releases of the channel that are newer than the agent's newest observation.
	Newer int `json:"newer_than_observed"`
	// UncoveredCount counts releases without coverage; Uncovered lists the newest of them.
	UncoveredCount int                      `json:"uncovered_count"`
	Uncovered      []contract.ReleaseRecord `json:"uncovered"`
}

// Hole is one behaviour of a channel's current release that could not be captured, or has not been.
type Hole struct {
	Version  contract.CLIVersion `json:"cli_version"`
	Platform contract.Platform   `json:"platform"`
	Probe    contract.ProbeID    `json:"probe"`
	// Since is when it could have been captured first: its publication, or the first failure.
	Since   contract.Timestamp `json:"since,omitempty"`
	AgeDays int                `json:"age_days"`
	// Tried says that a capture was tried and failed. Reason says how, or why the observation that there is backs no
	// claim.
	Tried  bool   `json:"tried"`
	Reason string `json:"reason,omitempty"`
	// Overdue is set past the agent's freshness limit.
	Overdue bool `json:"overdue"`
}

// Unseen compares release lists with the observations of a tree and of the base below it. The error is that of a
// record that cannot be read, or of an agent that the catalog lacks.
func Unseen(catalog *registry.Catalog, tree *registry.Tree, lists []contract.ReleaseList, opts Options) (*Plan, error) {
	records, err := registry.LoadRecords(tree, nil)
	if err == nil {
		err = records.Problems.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was observed: %w", err)
	}
	seen := observe(records, catalog)
	agents, err := choose(catalog, opts.Agents)
	if err != nil {
		return nil, err
	}
	if len(opts.Platforms) == 0 {
		opts.Platforms = []contract.Platform{DefaultPlatform}
	}
	opts.MaxUncovered = cmp.Or(opts.MaxUncovered, DefaultUncovered)
	opts.MaxReleases = cmp.Or(opts.MaxReleases, DefaultReleases)
	plan := &Plan{GeneratedAt: contract.At(opts.Now), Agents: []AgentPlan{}, Capture: []Job{}}
	for _, agent := range agents {
		a := &agentState{agent: agent, opts: opts, probes: probeIDs(catalog, agent), seen: seen[agent.ID]}
		if i := slices.IndexFunc(lists, func(l contract.ReleaseList) bool { return l.Agent == agent.ID }); i >= 0 {
			a.list = &lists[i]
		}
		part, jobs, err := a.plan()
		if err != nil {
			return nil, err
		}
		plan.Agents = append(plan.Agents, part)
		plan.Capture = append(plan.Capture, jobs...)
	}
	return plan, nil
}

// choose lists the agents of a plan: by tier, then by id.
func choose(catalog *registry.Catalog, ids []contract.AgentID) ([]contract.Agent, error) {
	var agents []contract.Agent
	for _, id := range ids {
		a, err := catalog.Agent(string(id))
		if err != nil {
			return nil, err
		}
		agents = append(agents, a)
	}
	if len(ids) == 0 {
		for _, a := range catalog.Agents {
			agents = append(agents, a)
		}
	}
	slices.SortFunc(agents, func(a, b contract.Agent) int { return cmp.Or(cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.ID, b.ID)) })
	return slices.CompactFunc(agents, func(a, b contract.Agent) bool { return a.ID == b.ID }), nil
}

// probeIDs are the probes that can be captured of an agent.
func probeIDs(catalog *registry.Catalog, agent contract.Agent) []contract.ProbeID {
	var ids []contract.ProbeID
	for id, probe := range catalog.Probes {
		if probe.HostOnly() || !registry.Fits(agent, probe) {
			continue
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Drift reports whether the plan holds anything to act on: an uncovered current release, a stale agent, or an
// overdue hole.
func (p *Plan) Drift() bool {
	return slices.ContainsFunc(p.Agents, AgentPlan.Drift)
}

// Drift is Plan.Drift for one agent.
func (a AgentPlan) Drift() bool {
	if a.NotCapturable != "" {
		return false
	}
	return a.Stale || slices.ContainsFunc(a.Channels, func(c ChannelPlan) bool { return c.LatestSeen != "" && !c.Covered }) ||
		slices.ContainsFunc(a.Holes, func(h Hole) bool { return h.Overdue })
}

// Unknown lists the agents whose releases are unknown, as an error; nil when there are none.
func (p *Plan) Unknown() error {
	for _, a := range p.Agents {
		if a.Problem != "" {
			return fmt.Errorf("the releases of %s are unknown: %s", a.Agent, a.Problem)
		}
	}
	return nil
}
