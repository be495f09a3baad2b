package discover_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/discover"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// world is a small registry: one agent with two channels and two probes.
type world struct {
	t       *testing.T
	dir     string
	catalog *registry.Catalog
}

func newWorld(t *testing.T, edit func(*contract.Agent)) *world {
	t.Helper()
	agent := contract.Agent{
		ID: "sample", Name: "Sample CLI", FreshnessDays: 14, RangePolicy: contract.RangeExact, VersionProbe: contract.VersionProbe{Scheme: "semver"},
		Channels: []contract.Channel{{Name: "latest", DistTag: "latest"}, {Name: "stable", Pattern: `\d+\.\d+\.\d+`}},
	}
	if edit != nil {
		edit(&agent)
	}
	return &world{t, t.TempDir(), &registry.Catalog{
		Agents: map[contract.AgentID]contract.Agent{"sample": agent},
		Probes: map[contract.ProbeID]contract.Probe{
			"chat":          {ID: "chat", Expected: &contract.MinEvents{MustSee: []contract.EventName{"done"}}},
			"version-probe": {ID: "version-probe", Expected: &contract.MinEvents{Kind: "version", MustSee: []contract.EventName{"version_reported"}}},
		},
	}}
}

// observe records that a probe of a release was captured on a day of June 2026.
func (w *world) observe(version, probe string, day int, edit func(*contract.Observation, *contract.Evidence)) {
	w.t.Helper()
	hash := contract.HashBytes([]byte(version + probe))
	o := contract.Observation{
		SchemaVersion: 1, Agent: "sample", CLIVersion: contract.CLIVersion(version), Platform: "linux-x64", Probe: contract.ProbeID(probe),
		ProtocolFamily: contract.FamilyJSONEvent, ValidityLevel: contract.ObservedLevel(contract.RuntimeObserved), Install: contract.Install{Source: "npm:sample@" + version},
		Command:   contract.Command{ArgvTemplate: []string{}, StdinMode: contract.StdinNone, Mode: "json"},
		Capture:   contract.CaptureInfo{CapturedAt: contract.At(june(day)), Runner: "test", RawStdoutSHA256: &hash, RawClientTranscriptSHA256: hash, RawArtifactVisibility: contract.RawDiscarded},
		Redaction: contract.RedactionInfo{ToolVersion: "0.1.0", Status: contract.RedactionPassed},
		Shape:     contract.ObservedShape{Signature: hash, Path: registry.ShapePath(contract.FamilyJSONEvent, hash)},
	}
	if probe == "version-probe" {
		o.ProtocolFamily, o.Command.Mode, o.Shape.Path = contract.FamilyPlain, contract.ModeVersion, registry.ShapePath(contract.FamilyPlain, hash)
	}
	e := contract.Evidence{
		SchemaVersion: 1, SanitizedSHA256: hash, FixtureSHA256: hash, RawSHA256: hash, Runner: "test", RunCount: 1, RedactionChecked: true,
		Versions:  contract.ToolVersions{Tool: "0.1.0", Normalizer: "0.1.0", Redaction: "0.1.0", Dialect: hash},
		Isolation: contract.Isolation{Kind: "none", Network: "host", User: "same"},
	}
	if edit != nil {
		edit(&o, &e)
	}
	for path, record := range map[contract.RelPath]any{registry.ObservationPath(o): o, registry.EvidencePath(o): e} {
		data, err := contract.Marshal(record)
		if err != nil {
			w.t.Fatal(err)
		}
		if err := registry.WriteFile(filepath.Join(w.dir, filepath.FromSlash(string(path))), data); err != nil {
			w.t.Fatal(err)
		}
	}
}

func june(day int) time.Time { return time.Date(2026, 6, day, 12, 0, 0, 0, time.UTC) }

func (w *world) plan(lists []contract.ReleaseList, opts discover.Options) *discover.Plan {
	w.t.Helper()
	tree, err := registry.OpenTree(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	defer tree.Close() //nolint:errcheck // read only
	if opts.Now.IsZero() {
		opts.Now = june(20)
	}
	p, err := discover.Unseen(w.catalog, tree, lists, opts)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// releases lists stable versions, oldest first, one a day from the first of June.
func releases(versions ...string) []contract.ReleaseList {
	l := contract.ReleaseList{Agent: "sample", SeenAt: contract.At(june(19))}
	for i, v := range versions {
		l.Releases = append(l.Releases, contract.ReleaseRecord{Version: contract.CLIVersion(v), Channel: "stable", Upstream: "npm", PublishedAt: contract.At(june(1 + i))})
	}
	head := contract.CLIVersion(versions[len(versions)-1])
	l.Channels = []contract.ChannelHead{{Name: "latest", Version: head}, {Name: "stable", Version: head}}
	return []contract.ReleaseList{l}
}

func TestUnseen(t *testing.T) {
	w := newWorld(t, nil)
	w.observe("1.1.0", "chat", 10, nil)
	w.observe("1.1.0", "version-probe", 10, nil)
	p := w.plan(releases("1.0.0", "1.1.0", "1.9.0", "1.10.0"), discover.Options{MaxUncovered: 2})
	a := p.Agents[0]
	type summary struct {
		Latest, Verified   contract.CLIVersion
		Covered            bool
		Newer, Count, List int
		First              contract.CLIVersion
	}
	var got []summary
	for _, c := range a.Channels {
		got = append(got, summary{c.LatestSeen, c.LatestVerified, c.Covered, c.Newer, c.UncoveredCount, len(c.Uncovered), c.Uncovered[0].Version})
	}
	want := []summary{{"1.10.0", "", false, 1, 1, 1, "1.10.0"}, {"1.10.0", "1.1.0", false, 2, 3, 2, "1.10.0"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if a.LatestVerified != "1.1.0" || a.AgeDays != 10 || a.Stale || !p.Drift() {
		t.Errorf("%+v", a)
	}
	wantJobs := []discover.Job{
		{"sample", "1.10.0", "linux-x64", "chat"}, {"sample", "1.10.0", "linux-x64", "version-probe"},
		{"sample", "1.9.0", "linux-x64", "chat"}, {"sample", "1.9.0", "linux-x64", "version-probe"},
	}
	if diff := cmp.Diff(wantJobs, p.Capture); diff != "" {
		t.Error(diff)
	}
}

// What an agent file says cannot be observed is neither asked for nor overdue.
func TestDeclaredHole(t *testing.T) {
	w := newWorld(t, func(a *contract.Agent) {
		a.Holes = []contract.Hole{{Probe: "chat", Releases: "1.1.0", Reason: "It prints nothing."}}
	})
	p := w.plan(releases("1.0.0", "1.1.0"), discover.Options{})
	want := []discover.Job{
		{"sample", "1.1.0", "linux-x64", "version-probe"},
		{"sample", "1.0.0", "linux-x64", "chat"}, {"sample", "1.0.0", "linux-x64", "version-probe"},
	}
	if diff := cmp.Diff(want, p.Capture); diff != "" {
		t.Error(diff)
	}
	if holes := p.Agents[0].Holes; len(holes) != 1 || holes[0].Probe != "version-probe" {
		t.Errorf("holes: %+v", holes)
	}
}

func TestWhatCounts(t *testing.T) {
	withdraw := func(_ *contract.Observation, e *contract.Evidence) {
		e.Withdrawn = &contract.Withdrawal{At: contract.At(june(11)), Reason: "wrong"}
	}
	older := func(o *contract.Observation, _ *contract.Evidence) { o.CLIVersion = "0.9.0" }
	tests := []struct {
		name                  string
		agent                 func(*contract.Agent)
		edit                  func(*contract.Observation, *contract.Evidence)
		day                   int
		covered, stale, drift bool
	}{
		{"an observation", nil, nil, 10, true, false, false},
		{"withdrawn", nil, withdraw, 10, false, true, true},
		{"an executable given by hand", nil, func(o *contract.Observation, _ *contract.Evidence) { o.Install.Source = "manual" }, 10, false, true, true},
		{"a server variant", nil, func(o *contract.Observation, _ *contract.Evidence) { o.ValidityLevel = "server_variant" }, 10, false, true, true},
		{"too old", nil, nil, 1, true, true, true},
		{"another release", nil, older, 10, false, false, true},
		{"another release, by range", func(a *contract.Agent) { a.RangePolicy = contract.RangePatch }, older, 10, false, false, true},
		{"cannot be captured", func(a *contract.Agent) { a.NotCapturable = "needs a screen" }, older, 1, false, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.agent)
			for _, probe := range []string{"chat", "version-probe"} {
				w.observe("1.0.0", probe, tt.day, tt.edit)
			}
			p := w.plan(releases("1.0.0"), discover.Options{Now: june(20)})
			a := p.Agents[0]
			if a.Channels[0].Covered != tt.covered || a.Stale != tt.stale || p.Drift() != tt.drift {
				t.Errorf("covered %v, stale %v, drift %v", a.Channels[0].Covered, a.Stale, p.Drift())
			}
		})
	}
}

func TestHolesAge(t *testing.T) {
	w := newWorld(t, nil)
	w.observe("1.0.0", "version-probe", 19, nil)
	p := w.plan(releases("1.0.0"), discover.Options{Failures: []discover.Failure{
		{Agent: "sample", Version: "1.0.0", Platform: "linux-x64", Probe: "chat", Since: contract.At(june(18)), Reason: "redaction failed"},
		{Agent: "sample", Version: "1.0.0", Platform: "linux-x64", Probe: "chat", Since: contract.At(june(3)), Reason: "timeout"},
	}})
	want := []discover.Hole{
		{Version: "1.0.0", Platform: "linux-x64", Probe: "chat", Since: contract.At(june(3)), AgeDays: 17, Tried: true, Reason: "timeout", Overdue: true},
		{Version: "1.0.0", Platform: "linux-x64", Probe: "version-probe", Since: contract.At(june(1)), AgeDays: 19, Overdue: true,
			Reason: "no completed turn of this release on this platform backs it"},
	}
	if diff := cmp.Diff(want, p.Agents[0].Holes); diff != "" {
		t.Error(diff)
	}
	if !p.Drift() {
		t.Error("an overdue hole is drift")
	}
}

func TestUnknownReleases(t *testing.T) {
	w := newWorld(t, nil)
	p := w.plan(nil, discover.Options{Unreachable: map[contract.AgentID]string{"sample": "npm did not answer"}})
	if err := p.Unknown(); err == nil || !strings.Contains(err.Error(), "npm did not answer") {
		t.Errorf("got %v", err)
	}
	if len(p.Capture) > 0 {
		t.Error("captures of unknown releases")
	}
}

func TestUnknownAgent(t *testing.T) {
	w := newWorld(t, nil)
	tree, err := registry.OpenTree(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close() //nolint:errcheck // read only
	if _, err := discover.Unseen(w.catalog, tree, nil, discover.Options{Agents: []contract.AgentID{"nobody"}}); err == nil || !strings.Contains(err.Error(), "known: sample") {
		t.Errorf("got %v", err)
	}
}

// An overlay counts like the tree that it will become.
func TestOverlay(t *testing.T) {
	base, upper := newWorld(t, nil), newWorld(t, nil)
	base.observe("1.0.0", "chat", 10, nil)
	upper.observe("1.0.0", "version-probe", 11, nil)
	under, err := registry.OpenTree(base.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer under.Close() //nolint:errcheck // read only
	tree, err := registry.OpenTree(upper.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close() //nolint:errcheck // read only
	p, err := discover.Unseen(base.catalog, tree.Overlay(under), releases("1.0.0"), discover.Options{Now: june(20)})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Capture) > 0 || p.Drift() {
		t.Errorf("%+v", p)
	}
}

func TestMatricesAreBounded(t *testing.T) {
	p := &discover.Plan{}
	for range 600 {
		p.Capture = append(p.Capture, discover.Job{Agent: "sample"})
	}
	var sizes []int
	for _, m := range p.Matrices() {
		sizes = append(sizes, len(m.Include))
	}
	if diff := cmp.Diff([]int{256, 256, 88}, sizes); diff != "" {
		t.Error(diff)
	}
}

func TestRender(t *testing.T) {
	w := newWorld(t, func(a *contract.Agent) { a.Name = "Sample <b>|@someone" })
	list := releases("1.0.0", "1.1.0")
	p := w.plan(list, discover.Options{Failures: []discover.Failure{
		{Agent: "sample", Version: "1.1.0", Platform: "linux-x64", Probe: "chat", Since: contract.At(june(3)), Reason: "\x1b[31m[x](https://example.com) @team | `y`"},
	}})
	var text, md, js bytes.Buffer
	for _, err := range []error{p.WriteText(&text), p.WriteMarkdown(&md), p.WriteJSON(&js)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if strings.ContainsRune(text.String()+md.String(), '\x1b') {
		t.Error("a control character came through")
	}
	for _, bad := range []string{"<b>", "@team", "@someone", "](", "://"} {
		if strings.Contains(md.String(), bad) {
			t.Errorf("Markdown holds %q:\n%s", bad, md.String())
		}
	}
	for _, want := range []string{"never verified", "stable: 1.1.0, 1.0.0", "could not capture for 17 days"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	again := w.plan(list, discover.Options{Failures: []discover.Failure{
		{Agent: "sample", Version: "1.1.0", Platform: "linux-x64", Probe: "chat", Since: contract.At(june(3)), Reason: "\x1b[31m[x](https://example.com) @team | `y`"},
	}})
	if diff := cmp.Diff(p, again); diff != "" {
		t.Error(diff)
	}
}
