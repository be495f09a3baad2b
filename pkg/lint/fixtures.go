package lint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
)

// fixtureFile is what is known of a fixture from its bytes alone.
type fixtureFile struct {
	hash  contract.Hash
	valid bool
}

// fixture is what reading the fixture of a shape gave. Without an observation that says how to read it, nothing.
type fixture struct {
	// origin is the observation whose run the fixture is; nil where no evidence record says so.
	origin  *registry.Record
	failure *redact.Failure
	result  *shape.Result
	// host is where an RPC fixture leaves what its client profile says; nil where it does not.
	host *replay.ClientError
	// goldens are the reference goldens as they should be, by path.
	goldens map[contract.RelPath][]byte
	// keys are those seen under opaque paths.
	keys []string
	// elsewhere are observations of the shape by whose dialect the fixture has another one.
	elsewhere []*registry.Record
}

func (f *shapeFile) fixturePath() contract.RelPath {
	return registry.FixturePath(f.shape.ProtocolFamily, f.signature())
}

func (f *shapeFile) goldenPath() contract.RelPath {
	return registry.GoldenPath(registry.ReferenceParser, f.shape.ProtocolFamily, f.signature())
}

// readFixture redacts, normalizes and replays the fixture of a shape.
func (s *state) readFixture(f *shapeFile) {
	file, ok := s.fixtures[f.fixturePath()]
	if !ok {
		return
	}
	records := s.readers(f)
	for _, rec := range records {
		if rec.Evidence != nil && rec.Evidence.SanitizedSHA256 == file.hash {
			f.fixture.origin = rec
			break
		}
	}
	if len(records) == 0 || !file.valid {
		return
	}
	f.fixture.goldens = map[contract.RelPath][]byte{}
	reader, with := f.reader(records)
	err := s.read(f, reader, with, f.goldenPath(), true)
	if err == nil {
		err = s.readElsewhere(f, reader, with, records)
	}
	if err != nil {
		s.fault(fmt.Errorf("%s: %w", f.fixturePath(), err))
		return
	}
	// Agents of one family may read one shape differently; each that does has a golden of its own.
	for _, rec := range records {
		own := contract.RelPath(strings.TrimSuffix(string(f.goldenPath()), ".events.json") + "." + string(rec.Observation.Agent) + ".events.json")
		if _, done := f.fixture.goldens[own]; done || !s.tree.Has(own) || f.fixture.failure != nil {
			continue
		}
		if err := s.read(f, rec, records, own, false); err != nil {
			s.fault(fmt.Errorf("%s: %w", f.fixturePath(), err))
		}
	}
}

// reader is the observation that says how the fixture is read, and those whose published texts may stand in it.
func (f *shapeFile) reader(records []*registry.Record) (*registry.Record, []*registry.Record) {
	if origin := f.fixture.origin; origin != nil {
		return origin, []*registry.Record{origin}
	}
	return records[0], records
}

// readElsewhere reads the fixture by the dialects of the other observations of its shape, each once. Where a dialect has
// rules of redaction of its own the fixture says nothing about it.
func (s *state) readElsewhere(f *shapeFile, reader *registry.Record, with, records []*registry.Record) error {
	if f.fixture.result == nil {
		return nil
	}
	seen := map[contract.Hash]bool{s.dialect(reader): true}
	differs := map[contract.Hash]bool{}
	for _, rec := range records {
		hash := s.dialect(rec)
		if seen[hash] || rec.Withdrawn() {
			continue
		}
		seen[hash] = true
		policy, ok := s.policy(reader, with)
		if !ok {
			return nil
		}
		mode, _ := s.mode(rec.Observation)
		policy.Dialect = mode.Dialect
		sanitized, err := s.sanitized(f, policy)
		var failure *redact.Failure
		if errors.As(err, &failure) {
			continue
		}
		if err != nil {
			return err
		}
		result, err := shape.Of(sanitized)
		if err = errors.Join(err, sanitized.Close()); err != nil {
			return err
		}
		differs[hash] = result.Shape.Signature != f.fixture.result.Shape.Signature
	}
	for _, rec := range records {
		if differs[s.dialect(rec)] && !rec.Withdrawn() {
			f.fixture.elsewhere = append(f.fixture.elsewhere, rec)
		}
	}
	return nil
}

// dialect is the hash of the dialect that reads the run of an observation; empty where none does.
func (s *state) dialect(rec *registry.Record) contract.Hash {
	if mode, ok := s.mode(rec.Observation); ok && mode.Dialect != nil {
		return mode.Dialect.Hash
	}
	return ""
}

// readers are the observations of a shape whose mode says how to read it.
func (s *state) readers(f *shapeFile) []*registry.Record {
	return slices.DeleteFunc(slices.Clone(s.observed[f.signature()]), func(rec *registry.Record) bool {
		mode, ok := s.mode(rec.Observation)
		return !ok || mode.Family != f.shape.ProtocolFamily
	})
}

// policy is how the run of one observation was redacted, with the published texts of some; false where a finding says
// already why that cannot be told.
func (s *state) policy(rec *registry.Record, with []*registry.Record) (redact.Policy, bool) {
	o := rec.Observation
	mode, _ := s.mode(o)
	var probes []contract.Probe
	var vocabulary []string
	seen := map[contract.ProbeID]bool{}
	for _, w := range with {
		if p, ok := s.catalog.Probes[w.Observation.Probe]; ok && !seen[p.ID] {
			probes, seen[p.ID] = append(probes, p), true
		}
		if v := w.Observation.Shape.Vocabulary; v != nil {
			vocabulary = append(append(vocabulary, v.Tools...), v.Models...)
		}
	}
	policy, err := s.catalog.Policy(s.catalog.Agents[o.Agent], mode, o.CLIVersion, probes...)
	if err != nil {
		return policy, false // a template that does not compile is a finding of the diagnostics
	}
	policy.Vocabulary = append(policy.Vocabulary, vocabulary...)
	policy.Scanner = s.scanner
	return policy, true
}

// sanitized opens the fixture of a shape through the gates.
func (s *state) sanitized(f *shapeFile, policy redact.Policy) (*redact.Sanitized, error) {
	in, err := s.tree.Open(f.fixturePath())
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // read only
	return redact.Read(in, policy, s.opts.temp())
}

// read reads the fixture as the run of one observation was read, with the published texts of some.
func (s *state) read(f *shapeFile, rec *registry.Record, with []*registry.Record, golden contract.RelPath, normalize bool) error {
	mode, _ := s.mode(rec.Observation)
	policy, ok := s.policy(rec, with)
	if !ok {
		return nil
	}
	sanitized, err := s.sanitized(f, policy)
	var failure *redact.Failure
	if errors.As(err, &failure) {
		f.fixture.failure = failure
		return nil
	}
	if err != nil {
		return err
	}
	defer sanitized.Close() //nolint:errcheck // read only
	if sanitized.Hash() != s.fixtures[f.fixturePath()].hash {
		f.fixture.failure = &redact.Failure{Rule: "structure/spelling", Remedy: "write the file as redaction writes it: no second spelling, nothing beside the entries"}
		return nil
	}
	if normalize {
		if f.fixture.result, err = shape.Of(sanitized); err != nil {
			return err
		}
		f.fixture.keys = sanitized.OpaqueKeys()
	}
	if f.fixture.origin == rec {
		if err := s.conform(f, rec, mode, sanitized); err != nil {
			return err
		}
	}
	events, err := replay.Reference(sanitized, mode.TextEvent)
	if err != nil {
		return err
	}
	f.fixture.goldens[golden], err = replay.MarshalReference(f.signature(), events)
	return err
}

// conform plays an RPC fixture to the host of its mode.
func (s *state) conform(f *shapeFile, rec *registry.Record, mode registry.Mode, sanitized *redact.Sanitized) error {
	if !mode.Family.IsRPC() {
		return nil
	}
	o := rec.Observation
	profile, err := s.catalog.Client(mode.Client, mode.Family)
	if err != nil {
		return nil //nolint:nilerr // a mode without a client is a finding of its own
	}
	probe, parent := s.catalog.Probes[o.Probe], ""
	if probe.Conditions().Resume {
		if parent, err = replay.Parent(sanitized); err != nil {
			return err
		}
	}
	host, err := replay.Host(s.catalog.Agents[o.Agent], o.CLIVersion, mode, probe, profile, parent)
	if err != nil {
		return err
	}
	if err := replay.Conform(sanitized, host); err != nil && !errors.As(err, &f.fixture.host) {
		return err
	}
	return nil
}

var fixtureRules = []Rule{
	{
		ID: "fixture/host", Purpose: "The host's frames of a fixture are those that its client profile sends.", Severity: Error,
		shape: func(s *state, f *shapeFile, _ reporter) {
			if e := f.fixture.host; e != nil {
				s.add(Finding{Severity: Error, Problem: contract.Problem{
					File: string(f.fixturePath()), Line: e.Entry, Rule: "fixture/host", Message: "the host says something else than its client profile",
					Remedy: "capture again: what no host sends makes no contract; a profile that changed is a profile of another name",
				}})
			}
		},
	},
	{
		ID: "fixture/present", Purpose: "Every observed shape has its fixture.", Severity: Error,
		shape: func(s *state, f *shapeFile, report reporter) {
			if len(s.observed[f.signature()]) > 0 && !s.tree.Has(f.fixturePath()) {
				report(string(f.path), "", "the fixture of the shape is not in the tree", "add the sanitized transcript that capture wrote beside the shape")
			}
		},
	},
	{
		ID: "fixture/referenced", Purpose: "Every fixture belongs to a shape.", Severity: Error,
		tree: func(s *state, report reporter) {
			for _, file := range s.tree.Files("fixtures/") {
				family, ok := contract.FamilyOfDir(strings.Split(file, "/")[1])
				if ok && !s.tree.Has(registry.ShapePath(family, signatureOfPath(file))) {
					report(file, "", "there is no shape of this signature in this family", "remove the fixture, or add its shape")
				}
			}
		},
	},
	{
		ID: "fixture/origin", Purpose: "A fixture is the sanitized transcript of an observation.", Severity: Error,
		shape: func(s *state, f *shapeFile, report reporter) {
			if _, ok := s.fixtures[f.fixturePath()]; ok && f.fixture.origin == nil && len(s.readers(f)) > 0 && !s.hashDiffers(f) {
				report(string(f.fixturePath()), "", "no evidence record has this file as its own sanitized transcript", "add the observation whose run this is, or restore the fixture of the first accepted run")
			}
		},
	},
	{
		ID: "fixture/redacted", Purpose: "Redacting a fixture again changes nothing in it.", Severity: Error,
		shape: func(s *state, f *shapeFile, _ reporter) {
			// What the scanner finds is found in the bytes of the file as well.
			if fail := f.fixture.failure; fail != nil && !strings.HasPrefix(fail.Rule, "scan/") {
				s.add(Finding{Severity: Error, Problem: contract.Problem{
					File: string(f.fixturePath()), Line: fail.Entry, Rule: "fixture/redacted", Message: "the line is not what redaction would write (" + fail.Rule + ")", Remedy: fail.Remedy + "; after a change of dialect, " + migrateRemedy,
				}})
			}
		},
	},
	{
		ID: "fixture/shape", Purpose: "A fixture normalizes to its shape.", Severity: Error,
		shape: func(_ *state, f *shapeFile, report reporter) {
			if r := f.fixture.result; r != nil && r.Shape.Signature != f.signature() {
				report(string(f.fixturePath()), "", "the fixture normalizes to another shape", "restore the fixture; after a change of normalizer or dialect, "+migrateRemedy)
			}
		},
	},
	{
		ID: "fixture/dialects", Purpose: "Every dialect that read a run of a shape reads that shape in the fixture.", Severity: Error,
		shape: func(_ *state, f *shapeFile, report reporter) {
			for _, rec := range f.fixture.elsewhere {
				report(string(rec.Path), "/shape/signature", "by the dialect of this run's mode the fixture normalizes to another shape", elsewhereRemedy)
			}
		},
	},
	{
		ID: "fixture/required", Purpose: "A path that a shape requires is in every frame of its kind.", Severity: Error,
		shape: func(_ *state, f *shapeFile, report reporter) {
			if f.fixture.result == nil {
				return
			}
			required := map[[4]string]bool{}
			for _, frame := range f.fixture.result.Shape.FrameShapes {
				for _, p := range frame.Paths {
					required[pathKey(frame, p)] = p.Required
				}
			}
			for i, frame := range f.shape.FrameShapes {
				for j, p := range frame.Paths {
					if p.Required && !required[pathKey(frame, p)] {
						report(string(f.path), fmt.Sprintf("/frame_shapes/%d/paths/%d/required", i, j), "the fixture has frames of this kind without the path", "normalize the fixture again; a shape is never edited by hand")
					}
				}
			}
		},
	},
	{
		ID: "fixture/observed", Purpose: "An observation says of its own run what the fixture shows.", Severity: Error,
		shape: func(_ *state, f *shapeFile, report reporter) {
			if f.fixture.result == nil || f.fixture.origin == nil {
				return
			}
			o := f.fixture.origin.Observation.Shape
			if !slices.Equal(o.Violations, f.fixture.result.Violations) {
				report(string(f.fixture.origin.Path), "/shape/violations", "the invariants that the run broke are not those that the fixture shows broken", migrateRemedy)
			}
			if !slices.Equal(o.Ambient, f.fixture.result.Ambient) {
				report(string(f.fixture.origin.Path), "/shape/ambient", "the ambient events are not those of the fixture", migrateRemedy)
			}
		},
	},
}

func pathKey(f contract.FrameShape, p contract.PathShape) [4]string {
	return [4]string{string(f.Direction) + " " + string(f.Stream), f.EventType, p.Path, string(p.Type)}
}

// hashDiffers reports whether the evidence says already that the fixture is not the published one.
func (s *state) hashDiffers(f *shapeFile) bool {
	hash := s.fixtures[f.fixturePath()].hash
	return slices.ContainsFunc(s.observed[f.signature()], func(rec *registry.Record) bool {
		return rec.Evidence != nil && rec.Evidence.FixtureSHA256 != hash
	})
}
