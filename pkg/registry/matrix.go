package registry

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// MatrixOptions are what a matrix says besides what the records do.
type MatrixOptions struct {
	// GeneratedAt overrides the newest captured_at of all observations, for a publication.
	GeneratedAt contract.Timestamp
	// OpenDesignMinCommit is the lowest commit of the consumer that reads this matrix, by its configuration.
	OpenDesignMinCommit *contract.Commit
}

// epoch is generated_at of a matrix without observations.
const epoch contract.Timestamp = "1970-01-01T00:00:00Z"

// BuildMatrix generates the support matrix of a tree and its bases. It fails when a record cannot be read: a matrix
// from a part of the evidence would be another claim.
func BuildMatrix(t *Tree, c *Catalog, opts MatrixOptions) (contract.SupportMatrix, error) {
	r, err := LoadRecords(t, nil)
	if err == nil {
		err = r.Problems.Err()
	}
	if err != nil {
		return contract.SupportMatrix{}, fmt.Errorf("generating the matrix: %w", err)
	}
	return r.Matrix(c, opts), nil
}

// Matrix generates the support matrix. An agent has one entry while its observations are homogeneous: releases that
// were seen on other platforms or in other families, or that have server variants, get an entry of their own, so that
// no entry claims a combination that nobody saw.
func (r *Records) Matrix(c *Catalog, opts MatrixOptions) contract.SupportMatrix {
	m := contract.SupportMatrix{SchemaVersion: contract.SchemaVersion, GeneratedAt: opts.GeneratedAt, OpenDesignMinCommit: opts.OpenDesignMinCommit, Agents: []contract.MatrixEntry{}}
	if m.GeneratedAt == "" {
		m.GeneratedAt = newestCapture(r.Observations, epoch)
	}
	byAgent := map[contract.AgentID][]Judged{}
	for _, j := range r.Judge(c) {
		byAgent[j.Observation.Agent] = append(byAgent[j.Observation.Agent], j)
	}
	for _, id := range slices.Sorted(maps.Keys(byAgent)) {
		b := builder{catalog: c, agent: c.Agents[id], releases: r.Releases[id], judged: byAgent[id]}
		m.Agents = append(m.Agents, b.entries()...)
	}
	return m
}

// newestCapture is the newest captured_at, or the fallback where there is none.
func newestCapture(records []*Record, fallback contract.Timestamp) contract.Timestamp {
	if len(records) == 0 {
		return fallback
	}
	newest := slices.MaxFunc(records, func(a, b *Record) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Observation.Capture.CapturedAt, b.Observation.Capture.CapturedAt))
	})
	return newest.Observation.Capture.CapturedAt
}

// builder makes the entries of one agent.
type builder struct {
	catalog  *Catalog
	agent    contract.Agent
	releases contract.ReleaseList
	judged   []Judged
}

// block is what an entry claims: releases that have platforms, families and variants in common.
type block struct {
	versions  []contract.CLIVersion
	platforms []contract.Platform
	families  []contract.Family
	variants  bool
	records   []*Record
}

func (b *builder) entries() []contract.MatrixEntry {
	known := b.known()
	blocks := b.blocks()
	var claimed []contract.CLIVersion
	for _, bl := range blocks {
		claimed = append(claimed, bl.versions...)
	}
	var entries []contract.MatrixEntry
	for _, bl := range blocks {
		entries = append(entries, b.entry(bl, known))
	}
	for i := range entries {
		b.seen(&entries[i], known, claimed)
	}
	return entries
}

// known lists every version that discovery or capture saw.
func (b *builder) known() []contract.CLIVersion {
	seen := map[contract.CLIVersion]bool{}
	for _, j := range b.judged {
		seen[j.Observation.CLIVersion] = true
	}
	for _, release := range b.releases.Releases {
		seen[release.Version] = true
	}
	return slices.SortedFunc(maps.Keys(seen), compareVersions)
}

// blocks groups what backs a claim: platforms of a release that have the same families, then releases that have the
// same groups.
func (b *builder) blocks() []*block {
	cells := map[cell][]*Record{}
	for _, j := range b.judged {
		if j.Reason == "" {
			cells[cellOf(j.Observation)] = append(cells[cellOf(j.Observation)], j.Record)
		}
	}
	variants := b.variants()
	perVersion := map[string]*block{}
	for k, records := range cells {
		bl := &block{versions: []contract.CLIVersion{k.version}, families: b.families(records, false), variants: len(variants[k]) > 0}
		id := fmt.Sprintf("%s %v %t", k.version, bl.families, bl.variants)
		if perVersion[id] == nil {
			perVersion[id] = bl
		}
		perVersion[id].platforms = append(perVersion[id].platforms, k.platform)
		perVersion[id].records = append(append(perVersion[id].records, records...), variants[k]...)
	}
	merged := map[string]*block{}
	for _, id := range slices.Sorted(maps.Keys(perVersion)) {
		bl := perVersion[id]
		slices.Sort(bl.platforms)
		id := fmt.Sprintf("%v %v %t", bl.platforms, bl.families, bl.variants)
		if merged[id] == nil {
			merged[id] = bl
			continue
		}
		merged[id].versions = append(merged[id].versions, bl.versions...)
		merged[id].records = append(merged[id].records, bl.records...)
	}
	var blocks []*block
	for _, id := range slices.Sorted(maps.Keys(merged)) {
		bl := merged[id]
		slices.SortFunc(bl.versions, compareVersions)
		slices.SortFunc(bl.records, func(a, b *Record) int { return cmp.Compare(a.Path, b.Path) })
		bl.records = slices.Compact(bl.records)
		blocks = append(blocks, bl)
	}
	slices.SortStableFunc(blocks, func(a, b *block) int { return compareVersions(a.versions[0], b.versions[0]) })
	return blocks
}

// families lists the families of the records' declared modes, or with all those of the modes that every agent has too.
func (b *builder) families(records []*Record, all bool) []contract.Family {
	set := map[contract.Family]bool{}
	for _, r := range records {
		if all || !implicit(b.catalog, r.Observation) {
			set[r.Observation.ProtocolFamily] = true
		}
	}
	return inOrder(set)
}

// variants finds the releases of which the vendor's servers made more than one shape appear: live runs of equal agent,
// version, platform, family, mode and probe that gave different shapes.
func (b *builder) variants() map[cell][]*Record {
	type key struct {
		cell
		family contract.Family
		mode   contract.ModeID
		probe  contract.ProbeID
	}
	live := map[key][]*Record{}
	for _, j := range b.judged {
		o := j.Observation
		if o.Capture.Backend == contract.BackendLive && (j.Reason == "" || j.Reason == reasonVariant) {
			k := key{cellOf(o), o.ProtocolFamily, ObservedMode(b.catalog, o), o.Probe}
			live[k] = append(live[k], j.Record)
		}
	}
	found := map[cell][]*Record{}
	for k, records := range live {
		if slices.ContainsFunc(records, func(r *Record) bool { return r.Shape != records[0].Shape }) {
			found[k.cell] = append(found[k.cell], records...)
		}
	}
	return found
}

func (b *builder) entry(bl *block, known []contract.CLIVersion) contract.MatrixEntry {
	e := contract.MatrixEntry{
		Agent: b.agent.ID, VersionRanges: claimRanges(b.agent.RangePolicy, bl.versions, known), Platforms: bl.platforms, ProtocolFamilies: b.claimedFamilies(bl),
		SupportStatus: contract.VersionRangeVerified, ServerVariants: []contract.VariantClaim{}, KnownBreakingShapes: b.breaking(), Notes: []string{},
	}
	shapes := map[contract.Hash][]*Record{}
	scripted := true
	for _, r := range bl.records {
		shapes[r.Shape] = append(shapes[r.Shape], r)
		scripted = scripted && (r.Observation.Capture.Backend == contract.BackendScripted || implicit(b.catalog, r.Observation))
	}
	for _, shape := range slices.Sorted(maps.Keys(shapes)) {
		e.ObservedShapes = append(e.ObservedShapes, matrixShape(shape, shapes[shape]))
	}
	e.LastObservedAt = newestCapture(bl.records, epoch)
	if bl.variants {
		e.SupportStatus = contract.ServerVariantPossible
		e.ServerVariants = b.variantClaims(bl)
		e.Notes = append(e.Notes, "the vendor's servers make more than one shape appear for these releases: run a local probe")
	}
	if scripted {
		e.Notes = append(e.Notes, "seen only with the scripted backend: a claim about the CLI's protocol, not about a vendor's servers")
	}
	e.Policy = &contract.Policy{AllowRun: e.SupportStatus.DefaultAllowRun()}
	if v, ok := newest(bl.versions, b.agent.VersionProbe.Scheme, b.releases); ok {
		e.LatestVerified = &v
	}
	return e
}

// claimedFamilies adds the family of the implicit modes where every release on every platform was seen in it.
func (b *builder) claimedFamilies(bl *block) []contract.Family {
	seen := map[cell]bool{}
	for _, r := range bl.records {
		if implicit(b.catalog, r.Observation) {
			seen[cellOf(r.Observation)] = true
		}
	}
	if len(seen) < len(bl.versions)*len(bl.platforms) {
		return bl.families
	}
	return b.families(bl.records, true)
}

func matrixShape(shape contract.Hash, records []*Record) contract.MatrixShape {
	backends := map[contract.Backend]bool{}
	for _, r := range records {
		backends[r.Observation.Capture.Backend] = true
	}
	return contract.MatrixShape{Shape: shape, ValidityLevel: EffectiveLevel(records), ObservedAt: newestCapture(records, epoch), Backends: inOrder(backends)}
}

// variantClaims lists the shapes of the block's variants. One that the consumer's parser read is compatible; one that
// no parser has seen yet waits for its fixture to be replayed.
func (b *builder) variantClaims(bl *block) []contract.VariantClaim {
	status := map[contract.Hash]contract.VariantStatus{}
	for k, records := range b.variants() {
		if !slices.Contains(bl.versions, k.version) || !slices.Contains(bl.platforms, k.platform) {
			continue
		}
		for _, r := range records {
			if replay := r.Observation.ParserReplay; replay != nil && replay.Status == "compatible" {
				status[r.Shape] = "compatible"
			} else if status[r.Shape] == "" {
				status[r.Shape] = "compatible_pending_fixture"
			}
		}
	}
	var claims []contract.VariantClaim
	for _, shape := range slices.Sorted(maps.Keys(status)) {
		claims = append(claims, contract.VariantClaim{Shape: shape, Status: status[shape]})
	}
	return claims
}

// breaking lists the shapes of the agent that the consumer's parser did not read, each with the observations that say so.
func (b *builder) breaking() []contract.BreakingShape {
	evidence := map[contract.Hash]contract.OneMany{}
	for _, j := range b.judged {
		if j.Reason == reasonReplay {
			evidence[j.Shape] = append(evidence[j.Shape], string(j.Path))
		}
	}
	shapes := []contract.BreakingShape{}
	for _, shape := range slices.Sorted(maps.Keys(evidence)) {
		shapes = append(shapes, contract.BreakingShape{Shape: shape, Reason: "the consumer's parser does not read this shape", Evidence: evidence[shape]})
	}
	return shapes
}

// seen says what is known beyond the claims. Prereleases are beside the point unless one of them was captured.
func (b *builder) seen(e *contract.MatrixEntry, known, claimed []contract.CLIVersion) {
	candidates := slices.Clone(claimed)
	for _, v := range known {
		if !contract.IsPrerelease(string(v)) || b.agent.VersionProbe.Scheme != "semver" {
			candidates = append(candidates, v)
		}
	}
	v, ok := newest(candidates, b.agent.VersionProbe.Scheme, b.releases)
	if !ok {
		return
	}
	e.LatestSeen = &v
	if !slices.Contains(claimed, v) {
		e.Notes = append(e.Notes, fmt.Sprintf("%s has been seen but is not covered", v))
	}
}
