package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

var observationRules = []Rule{
	{
		ID: "observation/agent", Purpose: "Agent, probe and mode of an observation exist.", Severity: Error,
		observation: func(s *state, rec *registry.Record, report reporter) {
			o := rec.Observation
			agent, ok := s.catalog.Agents[o.Agent]
			if !ok {
				report(string(rec.Path), "/agent", "no agent has this id", "add registry/agents/<id>.json, or correct the id")
				return
			}
			if _, ok := s.catalog.Probes[o.Probe]; !ok {
				report(string(rec.Path), "/probe", "there is no such probe", "add the folder probes/<id>, or correct the id")
			}
			if _, err := s.resolve(agent, o); err != nil {
				report(string(rec.Path), "/command/mode", "the agent file has no such mode for this release", "add the mode, or a range of releases to it, in registry/agents/<agent>.json")
			}
		},
	},
	{
		ID: "observation/mode", Purpose: "The version, help and models commands show their own kind of probe, and no other mode does.", Severity: Error,
		observation: func(s *state, rec *registry.Record, report reporter) {
			o := rec.Observation
			if p, ok := s.catalog.Probes[o.Probe]; ok && o.Command.Mode != "" && !registry.RunsIn(p, o.Command.Mode) {
				report(string(rec.Path), "/command/mode", "the probe does not run in this mode", "capture the probe in a mode that fits it")
			}
		},
	},
	{
		ID: "observation/family", Purpose: "The family of an observation is the one that its agent declares for the mode.", Severity: Error,
		observation: func(s *state, rec *registry.Record, report reporter) {
			if mode, ok := s.mode(rec.Observation); ok && mode.Family != rec.Observation.ProtocolFamily {
				report(string(rec.Path), "/protocol_family", "the agent does not declare this family for the mode", "correct the family, or declare a mode of it in registry/agents/<agent>.json")
			}
		},
	},
	{
		ID: "observation/redacted", Purpose: "Only what passed redaction is committed.", Severity: Error,
		observation: func(_ *state, rec *registry.Record, report reporter) {
			if rec.Observation.Redaction.Status != contract.RedactionPassed {
				report(string(rec.Path), "/redaction/status", "the redaction of this run did not pass", "keep it private; capture again once the rules let it pass")
			}
		},
	},
	{
		// Releases that print nothing may give the same bytes by chance, hence the version.
		ID: "observation/duplicate", Purpose: "A run is recorded once.", Severity: Error,
		tree: func(s *state, report reporter) {
			type run struct {
				raw      contract.Hash
				agent    contract.AgentID
				version  contract.CLIVersion
				platform contract.Platform
			}
			seen := map[run]bool{}
			for _, rec := range s.records.Observations {
				o := rec.Observation
				raw := run{o.Capture.RawClientTranscriptSHA256, o.Agent, o.CLIVersion, o.Platform}
				if seen[raw] {
					report(string(rec.Path), "/capture/raw_client_transcript_sha256", "another observation is of the same raw transcript", "keep one of them: the same run seen twice confirms nothing")
				}
				seen[raw] = true
			}
		},
	},
	{
		ID: "observation/shape", Purpose: "The shape of an observation exists and agrees with it.", Severity: Error,
		observation: func(s *state, rec *registry.Record, _ reporter) {
			o := rec.Observation
			f := s.bySignature[rec.Shape]
			if f == nil {
				if !s.tree.Has(registry.ShapePath(o.ProtocolFamily, rec.Shape)) { // a broken shape has its own findings
					s.problems(contract.Problems{{File: string(rec.Path), Pointer: "/shape/path", Rule: "observation/shape", Message: "the shape is not in the tree", Remedy: "add the shape file that this path names"}})
				}
				return
			}
			o.Shape.Signature = rec.Shape
			s.problems(contract.CheckShape(string(rec.Path), o, f.shape))
		},
	},
	{
		ID: "observation/names", Purpose: "What a CLI names in public reads like a name.", Severity: Error,
		observation: func(_ *state, rec *registry.Record, report reporter) {
			v := rec.Observation.Shape.Vocabulary
			if v == nil {
				return
			}
			check := func(at, s string, ok func(string) bool) {
				if !ok(s) {
					report(string(rec.Path), "/shape/vocabulary/"+at, "the value reads like data", "capture again: what does not read like a name is left out")
				}
			}
			for _, s := range v.Tools {
				check("tools", s, protocol.IsName)
			}
			for _, s := range v.Models {
				check("models", s, protocol.IsName)
			}
			for i, page := range v.Help {
				at := fmt.Sprintf("help/%d/flags", i)
				for _, f := range page.Flags {
					for _, s := range append(slices.Clone(f.Aliases), f.Flag) {
						check(at, strings.Trim(s, "-"), protocol.IsWord)
					}
					for _, s := range f.Values {
						check(at, s, protocol.IsWord)
					}
					if f.Default != "" && f.Default != "<text>" {
						check(at, f.Default, protocol.IsWord)
					}
				}
			}
		},
	},
	{
		ID: "observation/end", Purpose: "A run ended as its probe allows: a timeout is an answer only where the probe names it.", Severity: Error,
		observation: func(s *state, rec *registry.Record, report reporter) {
			probe, ok := s.catalog.Probes[rec.Observation.Probe]
			f := s.bySignature[rec.Shape]
			if !ok || probe.HostOnly() || f == nil || rec.Withdrawn() {
				return
			}
			if exit := f.shape.Exit; !slices.Contains(probe.Ends(), exit) {
				report(string(rec.Path), "/shape", "the run ended with "+string(exit)+", which its probe does not allow", "withdraw the observation, or name the end in exit of the probe's expected-min-events.json")
			}
		},
	},
	{
		ID: "observation/consumer-golden", Purpose: "The golden of a consumer's parser exists.", Severity: Error,
		observation: func(s *state, rec *registry.Record, report reporter) {
			if replay := rec.Observation.ParserReplay; replay != nil && replay.Golden != nil && !s.tree.Has(*replay.Golden) {
				report(string(rec.Path), "/parser_replay/golden", "the golden is not in the tree", "add it, or write status not_run and no golden")
			}
		},
	},
}

// mode resolves the mode of an observation; false where a finding says already why it cannot be.
func (s *state) mode(o contract.Observation) (registry.Mode, bool) {
	agent, ok := s.catalog.Agents[o.Agent]
	if !ok {
		return registry.Mode{}, false
	}
	mode, err := s.resolve(agent, o)
	return mode, err == nil
}

// modeKey is what the mode of an observation depends on: few in a tree, however many observations it has.
type modeKey struct {
	agent   contract.AgentID
	mode    contract.ModeID
	version contract.CLIVersion
}

type resolved struct {
	mode registry.Mode
	err  error
}

func (s *state) resolve(agent contract.Agent, o contract.Observation) (registry.Mode, error) {
	key := modeKey{o.Agent, registry.ObservedMode(s.catalog, o), o.CLIVersion}
	known, ok := s.modes.Load(key)
	if !ok {
		mode, err := registry.ResolveMode(agent, key.mode, key.version)
		known, _ = s.modes.LoadOrStore(key, resolved{mode, err})
	}
	r := known.(resolved)
	return r.mode, r.err
}

var evidenceRules = []Rule{
	{
		ID: "evidence/present", Purpose: "Every observation has an evidence record that agrees with it, and every evidence record an observation.", Severity: Error,
		tree: func(s *state, report reporter) {
			for _, rec := range s.records.Observations {
				if rec.Evidence == nil && !s.tree.Has(rec.EvidencePath()) {
					report(string(rec.Path), "", "the evidence record is missing", "add the sidecar <time>.<probe>.evidence.json that capture wrote beside it")
				}
			}
			for _, file := range s.tree.Files("observations/") {
				stem, ok := strings.CutSuffix(file, ".evidence.json")
				if ok && !s.tree.Has(contract.RelPath(stem+".observation.json")) {
					report(file, "", "there is no observation of this name", "remove the evidence record, or add its observation")
				}
			}
		},
	},
	{
		ID: "evidence/agrees", Purpose: "An evidence record says what its observation says.", Severity: Error,
		observation: func(s *state, rec *registry.Record, _ reporter) {
			if rec.Evidence != nil {
				s.problems(contract.CheckEvidence(string(rec.EvidencePath()), *rec.Evidence, rec.Observation))
			}
		},
	},
	{
		ID: "evidence/fixture-hash", Purpose: "An evidence record has the hash of the published fixture.", Severity: Error,
		observation: func(s *state, rec *registry.Record, report reporter) {
			path := registry.FixturePath(rec.Observation.ProtocolFamily, rec.Shape)
			if file, ok := s.fixtures[path]; ok && rec.Evidence != nil && rec.Evidence.FixtureSHA256 != file.hash {
				report(string(rec.EvidencePath()), "/fixture_sha256", "the hash is not that of the fixture of the shape", "restore the fixture of the first accepted run; a fixture is never edited")
			}
		},
	},
}
