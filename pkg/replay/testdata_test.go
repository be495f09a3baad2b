package replay_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

var update = flag.Bool("update", false, "write the derived files of testdata/checkout again")

// TestCheckout derives the records of testdata/checkout from testdata/raw, the way a capture does, and holds them
// against the committed ones. Other packages test against the same checkout.
func TestCheckout(t *testing.T) {
	const dir = "testdata/checkout"
	checkout, err := registry.OpenCheckout(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer checkout.Tree.Close() //nolint:errcheck // read only
	for i, probe := range []contract.ProbeID{"chat-text-success", "provider-failure", "version-probe"} {
		mode := contract.ModeID("json")
		if probe == "version-probe" {
			mode = contract.ModeVersion
		}
		for path, want := range derive(t, checkout.Catalog, probe, mode, i) {
			file := filepath.Join(dir, "registry", filepath.FromSlash(string(path)))
			if *update {
				if err := registry.WriteFile(file, want); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; run the test with -update after a change of the normalizer", err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-derived +committed):\n%s", path, diff)
			}
			if kind, ok := contract.KindOfPath(string(path)); ok {
				if problems := contract.Validate(kind, string(path), got); len(problems) > 0 {
					t.Error(problems)
				}
			}
		}
	}
}

func derive(t *testing.T, catalog *registry.Catalog, probe contract.ProbeID, modeID contract.ModeID, minute int) map[contract.RelPath][]byte {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	agent, err := catalog.Agent("sample")
	check(err)
	mode, err := registry.ResolveMode(agent, modeID, "1.2.0")
	check(err)
	policy, err := catalog.Policy(agent, mode, "1.2.0", catalog.Probes[probe])
	check(err)
	policy.Scanner, err = scan.New(scan.Config{})
	check(err)
	bundle, err := os.Open(filepath.Join("testdata/raw", string(probe)+".jsonl"))
	check(err)
	defer bundle.Close() //nolint:errcheck // read only
	raw, err := transcript.ReadBundle(bundle, t.TempDir())
	check(err)
	defer raw.Close() //nolint:errcheck // a spool
	s, err := redact.Redact(raw, policy, t.TempDir())
	check(err)
	defer s.Close() //nolint:errcheck // a spool
	of, err := shape.Of(s)
	check(err)
	events, err := replay.Reference(s, mode.TextEvent)
	check(err)
	at := contract.Timestamp("2026-06-27T10:0" + string(rune('0'+minute)) + ":00Z")
	signature := of.Shape.Signature
	stdout, _ := raw.StreamHash(contract.Stdout)
	o := contract.Observation{
		SchemaVersion: contract.SchemaVersion, Agent: agent.ID, CLIVersion: "1.2.0", Platform: "linux-x64", Probe: probe, ProtocolFamily: mode.Family,
		ValidityLevel: contract.ObservedLevel(contract.RuntimeObserved), Install: contract.Install{Source: "npm:@example/sample@1.2.0"},
		Command: contract.Command{ArgvTemplate: mode.Argv, StdinMode: mode.Stdin, Mode: mode.ID},
		Capture: contract.CaptureInfo{CapturedAt: at, Runner: "test", RawStdoutSHA256: &stdout, RawClientTranscriptSHA256: raw.Hash(),
			RawArtifactVisibility: contract.RawDiscarded, Backend: contract.BackendScripted},
		Redaction: contract.RedactionInfo{ToolVersion: redact.Version, Status: contract.RedactionPassed},
		Shape:     contract.ObservedShape{Signature: signature, Path: registry.ShapePath(mode.Family, signature)},
	}
	if h, ok := raw.StreamHash(contract.Stderr); ok {
		o.Capture.RawStderrSHA256 = &h
	}
	e := contract.Evidence{
		SchemaVersion: contract.SchemaVersion, SanitizedSHA256: s.Hash(), FixtureSHA256: s.Hash(), RawSHA256: raw.Hash(), Runner: "test",
		Versions:  contract.ToolVersions{Tool: "0.1.0", Normalizer: shape.NormalizerVersion, Redaction: redact.Version, Dialect: contract.HashBytes(nil)},
		Isolation: contract.Isolation{Kind: "none", Network: "host", User: "same"}, RunCount: 1, RedactionChecked: true,
	}
	var fixture bytes.Buffer
	check(s.WriteJSONL(&fixture))
	files := map[contract.RelPath][]byte{registry.FixturePath(mode.Family, signature): fixture.Bytes()}
	for path, record := range map[contract.RelPath]any{
		registry.ObservationPath(o): o, registry.EvidencePath(o): e, o.Shape.Path: of.Shape,
		registry.GoldenPath(registry.ReferenceParser, mode.Family, signature): replay.Golden{Parser: registry.ReferenceParser, Shape: signature, Events: events},
	} {
		files[path], err = contract.Marshal(record)
		check(err)
	}
	return files
}
