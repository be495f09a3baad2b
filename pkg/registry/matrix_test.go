package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// seen is one observation of a test, in short.
type seen struct {
	version  contract.CLIVersion
	platform contract.Platform
	probe    contract.ProbeID
	shape    string
	at       string
	change   func(*Record)
}

func hash(name string) contract.Hash { return contract.HashBytes([]byte(name)) }

func (s seen) record(n int) *Record {
	binary := hash("binary " + string(s.version))
	raw := hash(fmt.Sprint("raw ", n))
	at := contract.Timestamp(s.at)
	if at == "" {
		at = contract.Timestamp(fmt.Sprintf("2026-02-01T10:00:%02dZ", n))
	}
	o := contract.Observation{
		Agent: "acme", CLIVersion: s.version, Platform: s.platform, Probe: s.probe, ProtocolFamily: contract.FamilyJSONEvent, ValidityLevel: "runtime_observed",
		Install: contract.Install{Source: "npm:acme@" + string(s.version), BinarySHA256: &binary}, Command: contract.Command{Mode: "run"},
		Capture:   contract.CaptureInfo{CapturedAt: at, Runner: "r1", RawClientTranscriptSHA256: raw, Backend: contract.BackendScripted},
		Redaction: contract.RedactionInfo{Status: contract.RedactionPassed}, Shape: contract.ObservedShape{Signature: hash(s.shape)},
	}
	if s.probe == "version" {
		o.Command.Mode, o.ProtocolFamily = contract.ModeVersion, contract.FamilyPlain
	}
	if o.Platform == "" {
		o.Platform = "linux-x64"
	}
	r := &Record{Path: contract.RelPath(fmt.Sprintf("observations/%03d%s", n, observationSuffix)), Evidence: &contract.Evidence{}}
	r.Observation = o
	if s.change != nil {
		s.change(r)
	}
	t, _ := r.Observation.Capture.CapturedAt.Time()
	r.At, r.Shape = t.Unix(), r.Observation.Shape.Signature
	return r
}

func recordsOf(list []seen, releases ...contract.CLIVersion) *Records {
	r := &Records{Releases: map[contract.AgentID]contract.ReleaseList{}, Aliases: map[contract.Hash]contract.Hash{}}
	for i, s := range list {
		r.Observations = append(r.Observations, s.record(i))
	}
	known := contract.ReleaseList{Agent: "acme"}
	for _, v := range releases {
		known.Releases = append(known.Releases, contract.ReleaseRecord{Version: v})
	}
	r.Releases["acme"] = known
	return r
}

func testCatalog(policy contract.RangePolicy) *Catalog {
	return &Catalog{
		Agents: map[contract.AgentID]contract.Agent{"acme": {ID: "acme", RangePolicy: policy, VersionProbe: contract.VersionProbe{Scheme: "semver"},
			Modes: []contract.Mode{{ID: "run", Family: contract.FamilyJSONEvent}}}},
		Probes: map[contract.ProbeID]contract.Probe{
			"chat":    {ID: "chat", Expected: &contract.MinEvents{Kind: "run", MustSee: []contract.EventName{"assistant_text", "done"}}},
			"auth":    {ID: "auth", EnvPolicy: &contract.EnvPolicy{}},
			"version": {ID: "version", Expected: &contract.MinEvents{Kind: "version", MustSee: []contract.EventName{"version_reported"}}},
		},
	}
}

// summary is an entry in one line.
func summary(e contract.MatrixEntry) string {
	return fmt.Sprintf("%s on %v in %v: %s, shapes %d, verified %s, seen %s", strings.Join(e.VersionRanges, " | "), e.Platforms, e.ProtocolFamilies, e.SupportStatus, len(e.ObservedShapes), *e.LatestVerified, *e.LatestSeen)
}

func live(r *Record) { r.Observation.Capture.Backend = contract.BackendLive }

func TestMatrix(t *testing.T) {
	manual := func(binary string) func(*Record) {
		return func(r *Record) {
			h := hash(binary)
			r.Observation.Install = contract.Install{Source: "manual", BinarySHA256: &h}
		}
	}
	withdrawn := func(r *Record) { r.Evidence.Withdrawn = &contract.Withdrawal{} }
	tests := []struct {
		name     string
		policy   contract.RangePolicy
		seen     []seen
		releases []contract.CLIVersion
		want     []string
	}{
		{name: "nothing", want: nil},
		{name: "a completed turn", seen: []seen{{version: "1.0.0", probe: "chat", shape: "a"}},
			want: []string{"1.0.0 on [linux-x64] in [json-event-stream/v1]: version_range_verified, shapes 1, verified 1.0.0, seen 1.0.0"}},
		{name: "a version says nothing alone", seen: []seen{{version: "1.0.0", probe: "version", shape: "v"}}},
		{name: "an error form says nothing alone", seen: []seen{{version: "1.0.0", probe: "auth", shape: "b"}}},
		{name: "but with a turn", seen: []seen{{version: "1.0.0", probe: "version", shape: "v"}, {version: "1.0.0", probe: "chat", shape: "a"}, {version: "1.0.0", probe: "auth", shape: "b"}},
			want: []string{"1.0.0 on [linux-x64] in [plain/v1 json-event-stream/v1]: version_range_verified, shapes 3, verified 1.0.0, seen 1.0.0"}},
		{name: "the turn must be on the platform", seen: []seen{{version: "1.0.0", probe: "version", shape: "v", platform: "darwin-arm64"}, {version: "1.0.0", probe: "chat", shape: "a"}},
			want: []string{"1.0.0 on [linux-x64] in [json-event-stream/v1]: version_range_verified, shapes 1, verified 1.0.0, seen 1.0.0"}},
		{name: "withdrawn", seen: []seen{{version: "1.0.0", probe: "chat", shape: "a", change: withdrawn}}},
		{name: "no evidence", seen: []seen{{version: "1.0.0", probe: "chat", shape: "a", change: func(r *Record) { r.Evidence = nil }}}},
		{name: "unknown platform", seen: []seen{{version: "1.0.0", probe: "chat", shape: "a", platform: "unknown"}}},
		{name: "by hand", seen: []seen{{version: "1.0.0", probe: "chat", shape: "a", change: manual("other")}}},
		{name: "by hand, the hash known of another release", seen: []seen{{version: "1.0.0", probe: "chat", shape: "a", change: manual("binary 1.1.0")}, {version: "1.1.0", probe: "version", shape: "v"}}},
		{name: "by hand, a script with the hash of the package's", seen: []seen{{version: "1.0.0", probe: "chat", shape: "a", change: manual("binary 1.0.0")}, {version: "1.0.0", probe: "version", shape: "v", change: func(r *Record) {
			r.Observation.Install.Runtime = &contract.RuntimeInstall{Kind: "node"}
		}}}},
		{name: "by hand, the hash known from the package", seen: []seen{{version: "1.0.0", probe: "chat", shape: "a", change: manual("binary 1.0.0")}, {version: "1.0.0", probe: "version", shape: "v"}},
			want: []string{"1.0.0 on [linux-x64] in [plain/v1 json-event-stream/v1]: version_range_verified, shapes 2, verified 1.0.0, seen 1.0.0"}},
		{name: "seen but not covered", seen: []seen{{version: "1.0.0", probe: "chat", shape: "a"}}, releases: []contract.CLIVersion{"1.0.0", "1.1.0", "1.2.0-alpha.1"},
			want: []string{"1.0.0 on [linux-x64] in [json-event-stream/v1]: version_range_verified, shapes 1, verified 1.0.0, seen 1.1.0"}},
		{name: "no entry claims what nobody saw", seen: []seen{{version: "1.0.0", probe: "chat", shape: "a"}, {version: "1.1.0", probe: "chat", shape: "a"}, {version: "1.1.0", probe: "chat", shape: "a", platform: "darwin-arm64"}},
			want: []string{
				"1.0.0 on [linux-x64] in [json-event-stream/v1]: version_range_verified, shapes 1, verified 1.0.0, seen 1.1.0",
				"1.1.0 on [darwin-arm64 linux-x64] in [json-event-stream/v1]: version_range_verified, shapes 1, verified 1.1.0, seen 1.1.0",
			}},
		{name: "patch", policy: contract.RangePatch, seen: []seen{{version: "1.0.1", probe: "chat", shape: "a"}, {version: "1.0.2", probe: "chat", shape: "a"}, {version: "1.3.0", probe: "chat", shape: "a"}},
			releases: []contract.CLIVersion{"1.0.0", "1.0.1", "1.0.2", "1.0.3", "1.3.0"},
			want:     []string{">=1.0.1 <1.0.3 | >=1.3.0 <1.4.0 on [linux-x64] in [json-event-stream/v1]: version_range_verified, shapes 1, verified 1.3.0, seen 1.3.0"}},
		{name: "scripted runs are no variants", seen: []seen{{version: "1.0.0", probe: "chat", shape: "a"}, {version: "1.0.0", probe: "chat", shape: "b"}},
			want: []string{"1.0.0 on [linux-x64] in [json-event-stream/v1]: version_range_verified, shapes 2, verified 1.0.0, seen 1.0.0"}},
		{name: "live variants", seen: []seen{{version: "1.0.0", probe: "chat", shape: "a", change: live}, {version: "1.0.0", probe: "chat", shape: "b", change: func(r *Record) {
			live(r)
			r.Observation.ValidityLevel = "server_variant"
		}}, {version: "1.1.0", probe: "chat", shape: "a", change: live}},
			want: []string{
				"1.0.0 on [linux-x64] in [json-event-stream/v1]: server_variant_possible, shapes 2, verified 1.0.0, seen 1.1.0",
				"1.1.0 on [linux-x64] in [json-event-stream/v1]: version_range_verified, shapes 1, verified 1.1.0, seen 1.1.0",
			}},
		{name: "a variant alone backs nothing", seen: []seen{{version: "1.0.0", probe: "chat", shape: "b", change: func(r *Record) {
			live(r)
			r.Observation.ValidityLevel = "server_variant"
		}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			policy := tt.policy
			if policy == "" {
				policy = contract.RangeExact
			}
			m := recordsOf(tt.seen, tt.releases...).Matrix(testCatalog(policy), MatrixOptions{})
			var got []string
			for _, e := range m.Agents {
				got = append(got, summary(e))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			data, err := contract.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if problems := contract.Validate(contract.KindSupportMatrix, "support-matrix.json", data); len(problems) > 0 {
				t.Errorf("the matrix is no valid record:\n%v", problems)
			}
		})
	}
}

func TestMatrixSays(t *testing.T) {
	incompatible := func(r *Record) { r.Observation.ParserReplay = &contract.ParserReplay{Status: "incompatible"} }
	compatible := func(r *Record) {
		live(r)
		r.Observation.ParserReplay = &contract.ParserReplay{Status: "compatible"}
	}
	m := recordsOf([]seen{
		{version: "1.0.0", probe: "chat", shape: "a", change: compatible},
		{version: "1.0.0", probe: "chat", shape: "b", change: live},
		{version: "1.1.0", probe: "chat", shape: "c", change: incompatible, at: "2026-02-01T12:00:00Z"},
	}).Matrix(testCatalog(contract.RangeExact), MatrixOptions{})
	if m.GeneratedAt != "2026-02-01T12:00:00Z" {
		t.Errorf("generated_at is %s, not the newest capture", m.GeneratedAt)
	}
	e := m.Agents[0]
	status := map[contract.Hash]contract.VariantStatus{}
	for _, v := range e.ServerVariants {
		status[v.Shape] = v.Status
	}
	want := map[contract.Hash]contract.VariantStatus{hash("a"): "compatible", hash("b"): "compatible_pending_fixture"}
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("variants: -want +got\n%s", diff)
	}
	if len(e.KnownBreakingShapes) != 1 || e.KnownBreakingShapes[0].Shape != hash("c") || e.KnownBreakingShapes[0].Evidence[0] != "observations/002.observation.json" {
		t.Errorf("breaking shapes: %+v", e.KnownBreakingShapes)
	}
	wantNotes := []string{"the vendor's servers make more than one shape appear for these releases: run a local probe", "1.1.0 has been seen but is not covered"}
	if diff := cmp.Diff(wantNotes, e.Notes); diff != "" {
		t.Errorf("notes: -want +got\n%s", diff)
	}
	if e.Policy.AllowRun != "warn" {
		t.Errorf("allow_run is %s", e.Policy.AllowRun)
	}
	scripted := recordsOf([]seen{{version: "1.0.0", probe: "chat", shape: "a"}}).Matrix(testCatalog(contract.RangeExact), MatrixOptions{GeneratedAt: "2027-01-01T00:00:00Z"})
	if notes := scripted.Agents[0].Notes; len(notes) != 1 || !strings.HasPrefix(notes[0], "seen only with the scripted backend") || scripted.GeneratedAt != "2027-01-01T00:00:00Z" {
		t.Errorf("a scripted claim: %v at %s", notes, scripted.GeneratedAt)
	}
}

func TestEffectiveLevel(t *testing.T) {
	at := func(times ...string) []seen {
		var list []seen
		for _, when := range times {
			list = append(list, seen{version: "1.0.0", probe: "chat", shape: "a", at: "2026-02-01T" + when + "Z"})
		}
		return list
	}
	second := func(list []seen, change func(*Record)) []seen {
		list[1].change = change
		return list
	}
	const hours = "10:00:00"
	tests := []struct {
		name string
		seen []seen
		want contract.ValidityLevel
	}{
		{"none", nil, ""},
		{"once", at(hours), contract.RuntimeObserved},
		{"twice at once", at(hours, "10:59:59"), contract.RuntimeObserved},
		{"an hour apart", at(hours, "11:00:00"), contract.Confirmed},
		{"another runner", second(at(hours, "10:00:01"), func(r *Record) { r.Observation.Capture.Runner = "r2" }), contract.Confirmed},
		{"the same run", second(at(hours, "12:00:00"), func(r *Record) { r.Observation.Capture.RawClientTranscriptSHA256 = hash("raw 0") }), contract.RuntimeObserved},
		{"another probe", second(at(hours, "12:00:00"), func(r *Record) { r.Observation.Probe = "auth" }), contract.RuntimeObserved},
		{"another backend", second(at(hours, "12:00:00"), live), contract.RuntimeObserved},
		{"another shape", second(at(hours, "12:00:00"), func(r *Record) { r.Observation.Shape.Signature = hash("b") }), contract.RuntimeObserved},
		{"withdrawn", second(at(hours, "12:00:00"), func(r *Record) { r.Evidence.Withdrawn = &contract.Withdrawal{} }), contract.RuntimeObserved},
		{"variants", []seen{{version: "1.0.0", probe: "chat", shape: "a", change: func(r *Record) { r.Observation.ValidityLevel = "server_variant" }}}, contract.ServerVariant},
		{"by the community", second(at(hours, "10:00:01"), func(r *Record) { r.Observation.ValidityLevel = "community_confirmed" }), contract.CommunityConfirmed},
	}
	for _, tt := range tests {
		if got := EffectiveLevel(recordsOf(tt.seen).Observations); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestClaimRanges(t *testing.T) {
	tests := []struct {
		policy         contract.RangePolicy
		covered, known string
		want           string
	}{
		{contract.RangeExact, "1.0.1 1.0.0", "1.0.0 1.0.1", "1.0.0|1.0.1"},
		{contract.RangePatch, "1.0.0", "1.0.0", ">=1.0.0 <1.1.0"},
		{contract.RangePatch, "1.0.0 1.0.2", "1.0.0 1.0.1 1.0.2", ">=1.0.0 <1.0.1|>=1.0.2 <1.1.0"},
		{contract.RangePatch, "1.0.0 1.0.2", "1.0.0 1.0.2 1.1.0", ">=1.0.0 <1.1.0"},
		{contract.RangePatch, "1.0.0-rc.1", "1.0.0-rc.1", "1.0.0-rc.1"},
		{contract.RangePatch, "1.0.0", "1.0.0 1.1.0-alpha.1", ">=1.0.0 <1.1.0"},
		{contract.RangePatch, "nightly-7", "nightly-7", "nightly-7"},
	}
	for _, tt := range tests {
		got := strings.Join(claimRanges(tt.policy, versionsOf(tt.covered), versionsOf(tt.known)), "|")
		if got != tt.want {
			t.Errorf("%s of %s, known %s: %s, want %s", tt.policy, tt.covered, tt.known, got, tt.want)
		}
	}
}

func versionsOf(text string) []contract.CLIVersion {
	var list []contract.CLIVersion
	for _, v := range strings.Fields(text) {
		list = append(list, contract.CLIVersion(v))
	}
	return list
}

func TestBuildIndex(t *testing.T) {
	c := testCatalog(contract.RangePatch)
	c.Agents["aaa"] = contract.Agent{ID: "aaa", Modes: []contract.Mode{{ID: "x", Family: contract.FamilyACP}, {ID: "y", Family: contract.FamilyPlain}, {ID: "z", Family: contract.FamilyACP}}}
	index := BuildIndex(c)
	if len(index.Agents) != 2 || index.Agents[0].ID != "aaa" || index.Agents[1].RangePolicy != contract.RangePatch {
		t.Errorf("index: %+v", index)
	}
	if diff := cmp.Diff([]contract.Family{contract.FamilyPlain, contract.FamilyACP}, index.Agents[0].ProtocolFamilies); diff != "" {
		t.Errorf("families: -want +got\n%s", diff)
	}
}

// A record that cannot be read stops the matrix: what is left would be another claim.
func TestLoadRecords(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "observations", "acme", "1.0.0", "linux-x64", "2026-02-01T100000Z.chat.observation.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"schema_version": 1}`), 0o644); err != nil {
		t.Fatal(err)
	}
	aliases := fmt.Sprintf(`{%q: %q, %q: %q, %q: %q}`, hash("a"), hash("b"), hash("b"), hash("c"), hash("ring"), hash("ring"))
	if err := os.WriteFile(filepath.Join(dir, string(AliasesPath)), []byte(aliases), 0o644); err != nil {
		t.Fatal(err)
	}
	tree, err := OpenTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close() //nolint:errcheck // read only
	r, err := LoadRecords(tree, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Problems) == 0 || len(r.Observations) != 0 {
		t.Errorf("problems %v, observations %v", r.Problems, r.Observations)
	}
	if r.Resolve(hash("a")) != hash("c") || r.Resolve(hash("ring")) != hash("ring") || r.Resolve(hash("x")) != hash("x") {
		t.Error("aliases are not followed to their end")
	}
	if _, err := BuildMatrix(tree, testCatalog(contract.RangeExact), MatrixOptions{}); err == nil {
		t.Error("a matrix was made from a part of the records")
	}
}

func TestCoverage(t *testing.T) {
	r := recordsOf([]seen{{version: "1.0.0", probe: "chat", shape: "a"}, {version: "1.1.0", probe: "version", shape: "v"}}, "1.2.0")
	b := builder{catalog: testCatalog(contract.RangeExact), releases: r.Releases["acme"], judged: r.Judge(testCatalog(contract.RangeExact))}
	b.agent = b.catalog.Agents["acme"]
	cover := b.coverage()
	var got []string
	for _, release := range cover.Releases {
		for _, p := range release.Probes {
			got = append(got, fmt.Sprintf("%s %s: %s", release.Version, p.Probe, p.Reason))
		}
	}
	want := []string{
		"1.2.0 auth: the agent file has no mode for this release", "1.2.0 chat: the agent file has no mode for this release", "1.2.0 version: not captured yet",
		"1.1.0 auth: the agent file has no mode for this release", "1.1.0 chat: the agent file has no mode for this release", "1.1.0 version: " + reasonNoRun,
		"1.0.0 auth: the agent file has no mode for this release", "1.0.0 chat: ", "1.0.0 version: not captured yet",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	var shown []bool
	for _, g := range cover.Groups {
		shown = append(shown, g.Shown)
	}
	if diff := cmp.Diff([]bool{true, false, false, false, false}, shown); diff != "" {
		t.Errorf("groups: -want +got\n%s", diff)
	}
}
