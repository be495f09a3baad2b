package discover

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// behaviour is what a capture covers.
type behaviour struct {
	version  contract.CLIVersion
	platform contract.Platform
	probe    contract.ProbeID
}

// observed is what the tree holds of one agent.
type observed struct {
	// any and verified say when a release was observed last: at all, and in a way that backs a claim.
	any, verified map[contract.CLIVersion]contract.Timestamp
	// reasons says of every behaviour that was observed why it backs no claim; empty where it does.
	reasons map[behaviour]string
}

func newObserved() *observed {
	return &observed{map[contract.CLIVersion]contract.Timestamp{}, map[contract.CLIVersion]contract.Timestamp{}, map[behaviour]string{}}
}

// observe sorts observations by agent. Withdrawn ones count as never made.
func observe(records *registry.Records, catalog *registry.Catalog) map[contract.AgentID]*observed {
	seen := map[contract.AgentID]*observed{}
	for _, j := range records.Judge(catalog) {
		if j.Withdrawn() {
			continue
		}
		o := j.Observation
		s := seen[o.Agent]
		if s == nil {
			s = newObserved()
			seen[o.Agent] = s
		}
		s.any[o.CLIVersion] = max(s.any[o.CLIVersion], o.Capture.CapturedAt)
		b := behaviour{o.CLIVersion, o.Platform, o.Probe}
		if j.Reason == "" {
			s.verified[o.CLIVersion] = max(s.verified[o.CLIVersion], o.Capture.CapturedAt)
			s.reasons[b] = ""
		} else if reason, known := s.reasons[b]; !known || reason != "" {
			s.reasons[b] = j.Reason
		}
	}
	return seen
}

// backs reports whether a behaviour was observed in a way that backs a claim.
func (s *observed) backs(b behaviour) bool {
	reason, ok := s.reasons[b]
	return ok && reason == ""
}

// agentState is the work on one agent.
type agentState struct {
	agent  contract.Agent
	opts   Options
	probes []contract.ProbeID
	seen   *observed
	list   *contract.ReleaseList
}

func (a *agentState) plan() (AgentPlan, []Job, error) {
	if a.seen == nil {
		a.seen = newObserved()
	}
	p := AgentPlan{
		Agent: a.agent.ID, Name: a.agent.Name, Tier: a.agent.Tier, NotCapturable: a.agent.NotCapturable, FreshnessDays: a.agent.FreshnessDays,
		Channels: []ChannelPlan{}, Holes: []Hole{}, AgeDays: -1, LatestVerified: a.newest(a.seen.verified), LatestObserved: a.newest(a.seen.any),
	}
	for _, at := range a.seen.verified {
		p.LastObservedAt = max(p.LastObservedAt, at)
	}
	if p.LastObservedAt != "" {
		p.AgeDays = a.age(p.LastObservedAt)
	}
	p.Stale = p.NotCapturable == "" && (p.AgeDays < 0 || p.AgeDays > p.FreshnessDays)
	if a.list == nil {
		p.Problem = cmp.Or(a.opts.Unreachable[a.agent.ID], "no list of releases")
		return p, nil, nil
	}
	p.SeenAt = a.list.SeenAt
	for _, c := range a.agent.Channels {
		channel, err := a.channel(c, p.LatestObserved)
		if err != nil {
			return p, nil, err
		}
		p.Channels = append(p.Channels, channel)
	}
	if p.NotCapturable != "" {
		return p, nil, nil
	}
	p.Holes = a.holes(p)
	return p, a.jobs(p), nil
}

func (a *agentState) age(since contract.Timestamp) int {
	at, err := since.Time()
	if err != nil || at.After(a.opts.Now) {
		return 0
	}
	return int(a.opts.Now.Sub(at) / (24 * time.Hour))
}

// release finds the record of a version; the zero record has only the version.
func (a *agentState) release(v contract.CLIVersion) contract.ReleaseRecord {
	if a.list != nil {
		for _, r := range a.list.Releases {
			if r.Version == v {
				return r
			}
		}
	}
	return contract.ReleaseRecord{Version: v}
}

// order compares releases: by version where the scheme has an order, else by publication.
func (a *agentState) order(x, y contract.CLIVersion) int {
	if a.agent.VersionProbe.Scheme != "opaque" {
		if c, ok := contract.CompareVersions(string(x), string(y)); ok {
			return c
		}
	}
	return cmp.Or(cmp.Compare(a.release(x).PublishedAt, a.release(y).PublishedAt), cmp.Compare(x, y))
}

func (a *agentState) newest(versions map[contract.CLIVersion]contract.Timestamp) contract.CLIVersion {
	var best contract.CLIVersion
	for v := range versions {
		if best == "" || a.order(v, best) > 0 {
			best = v
		}
	}
	return best
}

// covered reports whether a release was verified. A claim that reaches beyond captured releases stops at the next
// release that somebody sees, so a release that is listed is covered only by its own observations.
func (a *agentState) covered(v contract.CLIVersion) bool {
	_, ok := a.seen.verified[v]
	return ok
}

// channel sums up one channel. Deprecated releases are not missed, unless one is the channel's current release.
func (a *agentState) channel(c contract.Channel, observed contract.CLIVersion) (ChannelPlan, error) {
	p := ChannelPlan{Channel: c.Name, Uncovered: []contract.ReleaseRecord{}}
	for _, h := range a.list.Channels {
		if h.Name == c.Name {
			p.LatestSeen = h.Version
		}
	}
	var pattern *regexp.Regexp
	if c.Pattern != "" {
		var err error
		if pattern, err = regexp.Compile(`^(?:` + c.Pattern + `)$`); err != nil {
			return p, fmt.Errorf("agent %s: reading the pattern of channel %s: %w", a.agent.ID, c.Name, err)
		}
	}
	var releases []contract.ReleaseRecord
	for _, r := range a.list.Releases {
		if r.Version == p.LatestSeen || r.Channel == c.Name || pattern != nil && pattern.MatchString(string(r.Version)) {
			releases = append(releases, r)
		}
	}
	slices.SortFunc(releases, func(x, y contract.ReleaseRecord) int {
		return cmp.Or(a.order(y.Version, x.Version), cmp.Compare(x.Upstream, y.Upstream))
	})
	releases = slices.CompactFunc(releases, func(x, y contract.ReleaseRecord) bool { return x.Version == y.Version })
	for _, r := range releases {
		if r.Version == p.LatestSeen {
			p.Published = r.PublishedAt
		}
		if a.covered(r.Version) && p.LatestVerified == "" {
			p.LatestVerified = r.Version
		}
		if r.Deprecated && r.Version != p.LatestSeen {
			continue
		}
		if observed == "" || a.order(r.Version, observed) > 0 {
			p.Newer++
		}
		if !a.covered(r.Version) {
			if p.UncoveredCount++; len(p.Uncovered) < a.opts.MaxUncovered {
				p.Uncovered = append(p.Uncovered, r)
			}
		}
	}
	p.Covered = p.LatestSeen != "" && a.covered(p.LatestSeen)
	return p, nil
}
