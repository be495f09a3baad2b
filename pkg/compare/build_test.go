package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
)

// catalog knows one agent with one mode, a probe of a run and a version probe.
func catalog() *registry.Catalog {
	return &registry.Catalog{
		Agents: map[contract.AgentID]contract.Agent{"sample": {ID: "sample", ForbiddenFlags: []contract.ForbiddenFlag{{Flag: "--yolo", Reason: "r"}}, Modes: []contract.Mode{{ID: "main", Default: true, Family: contract.FamilyPlain, Argv: []contract.ArgvForm{{Argv: []string{"run"}}}}}}},
		Probes: map[contract.ProbeID]contract.Probe{
			"chat":          {ID: "chat", Expected: &contract.MinEvents{MustSee: []contract.EventName{"init_or_status", "done"}}},
			"version-probe": {ID: "version-probe", Expected: &contract.MinEvents{Kind: "version", MustSee: []contract.EventName{"version_reported"}}},
			"auth-failure":  {ID: "auth-failure"},
		},
	}
}

// sketch builds a shape from lines: "event_type" at the margin, then "  path type|type[?] [value…]", or "exit CLASS".
func sketch(t testing.TB, text string) contract.Shape {
	t.Helper()
	s := contract.Shape{SchemaVersion: 1, ProtocolFamily: contract.FamilyJSONEvent, ValidityLevel: contract.RuntimeObserved, Transport: contract.TransportJSONL, StderrClass: contract.StderrNone, Exit: contract.ExitSuccess}
	types := map[string]bool{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "exit":
			s.Exit = contract.ExitClass(words[1])
		case words[0] == "plain":
			s.ProtocolFamily, s.Transport = contract.FamilyPlain, contract.TransportPlain
		case words[0][0] != '$':
			name := strings.ReplaceAll(words[0], "{evil}", "`|<b>\n::error::@x")
			types[name] = true
			s.FrameShapes = append(s.FrameShapes, contract.FrameShape{Direction: contract.CLIToServer, Stream: "stdout", EventType: name, Enums: map[string][]string{}})
		default:
			f := &s.FrameShapes[len(s.FrameShapes)-1]
			list, optional := strings.CutSuffix(words[1], "?")
			for kind := range strings.SplitSeq(list, "|") {
				f.Paths = append(f.Paths, contract.PathShape{Path: words[0], Type: contract.JSONType(kind), Required: !optional})
			}
			if len(words) > 2 {
				f.Enums[words[0]] = words[2:]
			}
		}
	}
	s.FrameCount, s.EventTypes = len(s.FrameShapes), slices.Sorted(maps.Keys(types))
	signature, err := s.ComputeSignature()
	if err != nil {
		t.Fatal(err)
	}
	s.Signature = signature
	return s
}

// world holds the trees of one test.
type world struct {
	testing.TB
	shapes map[string]contract.Shape
}

// run is one observation in short.
type run struct {
	version, platform, probe, mode, backend, shape, at, level string

	status, normalizer, parser        string
	events, tools, violations, golden []string // golden: events under another parser
	flags                             []string // of the help page
	withdrawn, noGolden, noShape      bool
}

// parse reads "key=value" words; lists are separated by commas.
func parse(t testing.TB, line string) run {
	t.Helper()
	r := run{version: "1.0.0", platform: "linux-x64", probe: "chat", mode: "main", backend: "scripted", at: "2026-01-01T00:00:00Z", level: "runtime_observed", events: []string{"init_or_status", "assistant_text", "done"}}
	words := map[string]*string{
		"version": &r.version, "platform": &r.platform, "probe": &r.probe, "mode": &r.mode, "backend": &r.backend, "shape": &r.shape, "at": &r.at, "level": &r.level,
		"status": &r.status, "normalizer": &r.normalizer, "parser": &r.parser,
	}
	lists := map[string]*[]string{"events": &r.events, "tools": &r.tools, "violations": &r.violations, "golden": &r.golden, "flags": &r.flags}
	flags := map[string]*bool{"withdrawn": &r.withdrawn, "no-golden": &r.noGolden, "no-shape": &r.noShape}
	for _, word := range strings.Fields(line) {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case words[key] != nil:
			*words[key] = value
		case lists[key] != nil:
			*lists[key] = strings.Split(value, ",")
		case flags[key] != nil:
			*flags[key] = true
		default:
			t.Fatalf("unknown word %q", word)
		}
	}
	return r
}

// tree writes runs as a registry tree.
func (w *world) tree(runs []run) *registry.Tree {
	w.Helper()
	dir := w.TempDir()
	w.write(dir, runs)
	tree, err := registry.OpenTree(dir)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = tree.Close() })
	return tree
}

func (w *world) write(dir string, runs []run) {
	w.Helper()
	put := func(p contract.RelPath, v any) {
		data, err := contract.Marshal(v)
		if err != nil {
			w.Fatal(err)
		}
		w.put(dir, p, data)
	}
	for _, r := range runs {
		s, ok := w.shapes[r.shape]
		if !ok {
			w.Fatalf("unknown shape %q", r.shape)
		}
		o := w.observation(r, s)
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(string(registry.ObservationPath(o))))); err == nil {
			w.Fatalf("two runs have the path %s", registry.ObservationPath(o))
		}
		put(registry.ObservationPath(o), o)
		e := contract.Evidence{SchemaVersion: 1, SanitizedSHA256: o.Capture.RawClientTranscriptSHA256, FixtureSHA256: o.Capture.RawClientTranscriptSHA256, RawSHA256: o.Capture.RawClientTranscriptSHA256,
			Runner: "test", Versions: contract.ToolVersions{Tool: "0.1.0", Normalizer: "0.1.0", Redaction: "0.1.0", Dialect: o.Capture.RawClientTranscriptSHA256},
			Isolation: contract.Isolation{Kind: "none", Network: "host", User: "same"}, RunCount: 1, RedactionChecked: true}
		if r.withdrawn {
			e.Withdrawn = &contract.Withdrawal{At: o.Capture.CapturedAt, Reason: "a test"}
		}
		put(registry.EvidencePath(o), e)
		if !r.noShape {
			put(o.Shape.Path, s)
		}
		if !r.noGolden {
			put(registry.GoldenPath(registry.ReferenceParser, o.ProtocolFamily, s.Signature), goldenOf(registry.ReferenceParser, s.Signature, r.events))
		}
		if len(r.golden) > 0 {
			put(registry.GoldenPath("other-parser", o.ProtocolFamily, s.Signature), goldenOf("other-parser", s.Signature, r.golden))
		}
	}
}

func (w *world) put(dir string, p contract.RelPath, data []byte) {
	w.Helper()
	file := filepath.Join(dir, filepath.FromSlash(string(p)))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		w.Fatal(err)
	}
}

func goldenOf(parser string, shape contract.Hash, events []string) replay.Golden {
	g := replay.Golden{Parser: parser, Shape: shape}
	for _, e := range events {
		g.Events = append(g.Events, protocol.Event{Event: contract.EventName(e), Fields: map[string]json.RawMessage{"text": json.RawMessage(`"<text>"`)}})
	}
	return g
}

func (w *world) observation(r run, s contract.Shape) contract.Observation {
	o := contract.Observation{
		SchemaVersion: 1, Agent: "sample", CLIVersion: contract.CLIVersion(r.version), Platform: contract.Platform(r.platform), Probe: contract.ProbeID(r.probe),
		ProtocolFamily: s.ProtocolFamily, ValidityLevel: contract.ObservedLevel(r.level), Install: contract.Install{Source: "manual"},
		Command: contract.Command{ArgvTemplate: []string{"run"}, StdinMode: contract.StdinNone, Mode: contract.ModeID(r.mode)},
		Capture: contract.CaptureInfo{
			CapturedAt: contract.Timestamp(r.at), Runner: "test", RawClientTranscriptSHA256: contract.HashBytes([]byte(fmt.Sprintf("%+v", r))), RawArtifactVisibility: contract.RawDiscarded,
			Backend: contract.Backend(r.backend), ToolVersion: "0.1.0", NormalizerVersion: contract.ToolVersion(r.normalizer),
		},
		Redaction: contract.RedactionInfo{ToolVersion: "0.1.0", Status: contract.RedactionPassed},
		Shape:     contract.ObservedShape{Signature: s.Signature, Path: registry.ShapePath(s.ProtocolFamily, s.Signature), Violations: r.violations},
	}
	if r.status != "" {
		o.Redaction.Status = contract.RedactionStatus(r.status)
	}
	if len(r.tools) > 0 {
		o.Shape.Vocabulary = &contract.Vocabulary{Tools: r.tools}
	}
	if len(r.flags) > 0 {
		page := contract.HelpPage{}
		for _, f := range r.flags {
			page.Flags = append(page.Flags, contract.HelpFlag{Flag: f})
		}
		o.Shape.Vocabulary = &contract.Vocabulary{Help: []contract.HelpPage{page}}
	}
	if r.parser != "" {
		p := registry.GoldenPath("host-parser", s.ProtocolFamily, s.Signature)
		o.ParserReplay = &contract.ParserReplay{Status: contract.ReplayStatus(r.parser), Golden: &p}
	}
	return o
}
