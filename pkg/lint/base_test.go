package lint

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
)

const baseProbes = "testdata/base/probes"

// lint runs the rules over a tree of the test.
func lint(t testing.TB, tree *registry.Tree) Findings {
	t.Helper()
	findings, err := Run(tree, Options{Probes: baseProbes, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// files is a tree in memory: path → content.
type files map[string][]byte

// run is one observation of the base tree.
type run struct {
	version contract.CLIVersion
	probe   contract.ProbeID
	at      string
}

// baseRuns: two releases; the first is confirmed for one probe.
var baseRuns = []run{
	{"1.0.0", "version-probe", "2026-02-10T10:00:00Z"},
	{"1.0.0", "greet", "2026-02-10T10:00:01Z"},
	{"1.0.0", "greet", "2026-02-10T12:00:00Z"},
	{"1.0.0", "list-files", "2026-02-10T10:00:02Z"},
	{"1.1.0", "version-probe", "2026-02-11T10:00:00Z"},
	{"1.1.0", "greet", "2026-02-11T10:00:01Z"},
	{"1.1.0", "list-files", "2026-02-11T10:00:02Z"},
	{"1.1.0", "talk", "2026-02-11T10:00:03Z"},
}

// baseTree builds a valid tree from the hand-written files of testdata/base, once.
var baseTree = sync.OnceValues(func() (files, error) { return build(nil) })

// build makes the tree; change, where it is not nil, changes the agent file first.
func build(change func([]byte) []byte) (files, error) {
	f := files{}
	for _, name := range []string{"agents/acme.json", "clients/acme-host.json", "diagnostics/acme.json", "releases/acme.json"} {
		data, err := os.ReadFile(filepath.Join("testdata/base/registry", name))
		if err != nil {
			return nil, err
		}
		f[name] = data
	}
	if change != nil {
		f["agents/acme.json"] = change(f["agents/acme.json"])
	}
	for _, kind := range publishedKinds() {
		data, err := contract.SchemaFile(kind)
		if err != nil {
			return nil, err
		}
		f["schemas/"+string(kind)+".schema.json"] = data
	}
	for i, r := range baseRuns {
		if err := f.observe(r, i); err != nil {
			return nil, err
		}
	}
	return f, f.generate()
}

// observe adds an observation of a transcript of testdata, with everything that capture would write.
func (f files) observe(r run, number int) error {
	data, err := os.ReadFile(filepath.Join("testdata/base/transcripts", string(r.probe)+".jsonl"))
	if err != nil {
		return err
	}
	c, err := f.catalog()
	if err != nil {
		return err
	}
	agent := c.Agents["acme"]
	modeID := contract.ModeID("run-json")
	switch r.probe {
	case "version-probe":
		modeID = contract.ModeVersion
	case "talk":
		modeID = "acp"
	}
	mode, err := registry.ResolveMode(agent, modeID, r.version)
	if err != nil {
		return err
	}
	policy, err := c.Policy(agent, mode, r.version, c.Probes[r.probe])
	if err != nil {
		return err
	}
	if policy.Scanner, err = scan.New(scan.Config{}); err != nil {
		return err
	}
	s, err := redact.Read(bytes.NewReader(data), policy, os.TempDir())
	if err != nil {
		return fmt.Errorf("%s: %w", r.probe, err)
	}
	defer s.Close() //nolint:errcheck // read only
	got, err := shape.Of(s)
	if err != nil {
		return err
	}
	events, err := replay.Reference(s, mode.TextEvent)
	if err != nil {
		return err
	}
	o, e := records(r, mode, s, got, number)
	signature := got.Shape.Signature
	f[string(registry.FixturePath(mode.Family, signature))] = data
	for path, record := range map[contract.RelPath]any{
		registry.ShapePath(mode.Family, signature):                            got.Shape,
		registry.GoldenPath(registry.ReferenceParser, mode.Family, signature): replay.Golden{Parser: registry.ReferenceParser, Shape: signature, Events: events},
		registry.ObservationPath(o):                                           o,
		registry.EvidencePath(o):                                              e,
	} {
		if f[string(path)], err = contract.Marshal(record); err != nil {
			return err
		}
	}
	return nil
}

func records(r run, mode registry.Mode, s *redact.Sanitized, got *shape.Result, number int) (contract.Observation, contract.Evidence) {
	raw := contract.HashBytes([]byte(fmt.Sprint("raw ", number)))
	stdout, stderr := contract.HashBytes([]byte("stdout")), contract.HashBytes([]byte("stderr"))
	binary := contract.HashBytes([]byte("acme " + r.version))
	dialect := contract.HashBytes([]byte("{}"))
	if mode.Dialect != nil {
		dialect = mode.Dialect.Hash
	}
	o := contract.Observation{
		SchemaVersion: 1, Agent: "acme", CLIVersion: r.version, Platform: "linux-x64", Probe: r.probe, ProtocolFamily: mode.Family,
		ValidityLevel: contract.ObservedLevel(contract.RuntimeObserved),
		Install:       contract.Install{Source: "npm:acme-agent@" + string(r.version), BinarySHA256: &binary},
		Command:       contract.Command{ArgvTemplate: mode.Argv, StdinMode: mode.Stdin, Mode: mode.ID},
		Capture: contract.CaptureInfo{
			CapturedAt: contract.Timestamp(r.at), Runner: "local/linux-x64", RawStdoutSHA256: &stdout, RawStderrSHA256: &stderr, RawClientTranscriptSHA256: raw,
			RawArtifactVisibility: contract.RawDiscarded, Backend: contract.BackendScripted,
		},
		Redaction: contract.RedactionInfo{ToolVersion: redact.Version, Status: contract.RedactionPassed},
		Shape:     contract.ObservedShape{Signature: got.Shape.Signature, Path: registry.ShapePath(mode.Family, got.Shape.Signature), Ambient: got.Ambient, Violations: got.Violations},
	}
	e := contract.Evidence{
		SchemaVersion: 1, SanitizedSHA256: s.Hash(), FixtureSHA256: s.Hash(), RawSHA256: raw, Runner: "local/linux-x64", BinarySHA256: &binary,
		Versions:  contract.ToolVersions{Tool: "0.1.0", Normalizer: shape.NormalizerVersion, Redaction: redact.Version, Dialect: dialect},
		Isolation: contract.Isolation{Kind: "none", Network: "host", User: "same"}, ModelRequests: 1, RunCount: 1, RedactionChecked: true,
	}
	if keys := s.OpaqueKeys(); len(keys) > 0 {
		o.Shape.Vocabulary = &contract.Vocabulary{Keys: keys}
	}
	return o, e
}

// generate writes agents.json and support-matrix.json.
func (f files) generate() error {
	return f.open(func(tree *registry.Tree, c *registry.Catalog) error {
		m, err := registry.BuildMatrix(tree, c, registry.MatrixOptions{})
		if err != nil {
			return err
		}
		if f["support-matrix.json"], err = contract.Marshal(m); err != nil {
			return err
		}
		f["agents.json"], err = contract.Marshal(registry.BuildIndex(c))
		return err
	})
}

func (f files) catalog() (c *registry.Catalog, err error) {
	err = files{"agents/acme.json": f["agents/acme.json"], "clients/acme-host.json": f["clients/acme-host.json"], "diagnostics/acme.json": f["diagnostics/acme.json"]}.open(func(_ *registry.Tree, loaded *registry.Catalog) error {
		c = loaded
		return nil
	})
	return c, err
}

// open writes the tree to a folder, and removes it afterwards.
func (f files) open(use func(*registry.Tree, *registry.Catalog) error) error {
	dir, err := os.MkdirTemp("", "lint-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	if err := f.write(dir); err != nil {
		return err
	}
	tree, err := registry.OpenTree(dir)
	if err != nil {
		return err
	}
	defer tree.Close() //nolint:errcheck // read only
	c, err := registry.LoadCatalog(tree, baseProbes)
	if err != nil {
		return err
	}
	return use(tree, c)
}

func (f files) write(dir string) error {
	for name, data := range f {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// tree writes the files into a folder of the test and opens it.
func (f files) tree(t testing.TB) *registry.Tree {
	t.Helper()
	dir := t.TempDir()
	if err := f.write(dir); err != nil {
		t.Fatal(err)
	}
	tree, err := registry.OpenTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	return tree
}

func base(t testing.TB) files {
	t.Helper()
	f, err := baseTree()
	if err != nil {
		t.Fatal(err)
	}
	clone := files{}
	for name, data := range f {
		clone[name] = data
	}
	return clone
}

func TestBaseIsClean(t *testing.T) {
	if findings := lint(t, base(t).tree(t)); len(findings) > 0 {
		t.Errorf("a valid tree has findings:\n%v", findings)
	}
}

// What a capture hands over is clean over the tree that it adds to, and may not replace what is there.
func TestOverlay(t *testing.T) {
	lower := base(t)
	upper := files{}
	if err := (files{"agents/acme.json": lower["agents/acme.json"], "clients/acme-host.json": lower["clients/acme-host.json"], "diagnostics/acme.json": lower["diagnostics/acme.json"]}).observeInto(upper, run{"1.2.0", "greet", "2026-03-02T10:00:00Z"}); err != nil {
		t.Fatal(err)
	}
	over := func() Findings { return lint(t, upper.tree(t).Overlay(lower.tree(t))) }
	if findings := over(); len(findings) > 0 {
		t.Errorf("a capture over its base has findings:\n%v", findings)
	}
	plain := lower["agents/acme.json"]
	lower["agents/acme.json"] = bytes.Replace(plain, []byte(`"environment":`), []byte(`"holes": [{"probe": "greet", "releases": ">=1.2.0", "reason": "It prints nothing."}], "environment":`), 1)
	if findings := over(); len(findings) != 1 || findings[0].Rule != "agent/holes" || !strings.HasPrefix(findings[0].File, "observations/") {
		t.Errorf("an observation over a declared hole has findings:\n%v", findings)
	}
	lower["agents/acme.json"] = plain
	upper["agents/evil.json"] = lower["agents/acme.json"]
	for name := range upper {
		if strings.HasSuffix(name, ".sanitized.jsonl") {
			upper[name] = bytes.Replace(upper[name], []byte(`"at_ms":4`), []byte(`"at_ms":5`), 1)
		}
	}
	got := ruleSet(over())
	for _, want := range []string{"overlay/folders", "overlay/immutable", "evidence/fixture-hash"} {
		if !got[want] {
			t.Errorf("no finding of %s in %v", want, got)
		}
	}
}

// Records of an old signature, as other trees may have them, are found by the alias that a migration left.
func TestMigratedTree(t *testing.T) {
	old := base(t)
	fresh, err := build(func(agent []byte) []byte { return bytes.Replace(agent, []byte(`"$.input"`), []byte(`"$.nothing"`), 1) })
	if err != nil {
		t.Fatal(err)
	}
	var from, to contract.Hash
	for name := range old {
		if strings.HasPrefix(name, "shapes/") && fresh[name] == nil {
			from = signatureOfPath(name)
		}
	}
	for name, data := range fresh {
		if strings.HasPrefix(name, "shapes/") && old[name] == nil {
			to = signatureOfPath(name)
		}
		if strings.HasPrefix(name, "observations/") {
			data = old[name]
		}
		fresh[name] = data
	}
	if from == "" || to == "" {
		t.Fatal("the change of the dialect moved no signature")
	}
	fresh["shape-aliases.json"] = fmt.Appendf(nil, "{%q: %q}\n", from, to)
	if err := fresh.generate(); err != nil {
		t.Fatal(err)
	}
	if findings := lint(t, fresh.tree(t)); len(findings) > 0 {
		t.Errorf("a migrated tree has findings:\n%v", findings)
	}
	delete(fresh, "shape-aliases.json")
	if got := ruleSet(lint(t, fresh.tree(t))); !got["observation/shape"] || !got["shape/referenced"] {
		t.Errorf("without the alias the old shape should be missing: %v", got)
	}
}

// observeInto observes with the receiver's agents and keeps what the observation adds.
func (f files) observeInto(out files, r run) error {
	before := map[string]bool{}
	for name := range f {
		before[name] = true
	}
	if err := f.observe(r, 1000); err != nil {
		return err
	}
	for name, data := range f {
		if !before[name] {
			out[name] = data
		}
	}
	return nil
}

func ruleSet(findings Findings) map[string]bool {
	set := map[string]bool{}
	for _, f := range findings {
		set[f.Rule] = true
	}
	return set
}
