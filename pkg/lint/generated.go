package lint

import (
	"bytes"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

const generateRemedy = "generate it again; it is never edited by hand"

// generatedRules look at the lowest tree only: an overlay holds no generated file.
var generatedRules = []Rule{
	{
		ID: "generated/agents", Purpose: "agents.json is what the agent files give.", Severity: Error,
		tree: func(s *state, report reporter) {
			if s.catalog != nil {
				s.compare(registry.IndexPath, registry.BuildIndex(s.catalog), report)
			}
		},
	},
	{
		ID: "generated/matrix", Purpose: "support-matrix.json is what the observations give.", Severity: Error,
		tree: func(s *state, report reporter) {
			if s.catalog == nil || len(s.records.Problems) > 0 {
				return
			}
			opts := registry.MatrixOptions{}
			if m, ok := s.matrix(); ok {
				opts.OpenDesignMinCommit = m.OpenDesignMinCommit // the consumer's own configuration
			} else if s.tree.Has(registry.MatrixPath) {
				return // no valid record, which is reported
			}
			s.compare(registry.MatrixPath, s.records.Matrix(s.catalog, opts), report)
		},
	},
	{
		ID: "generated/schemas", Purpose: "The published schemas are those that records are validated by.", Severity: Error,
		tree: func(s *state, report reporter) {
			if s.overlay() {
				return
			}
			want := map[string][]byte{}
			for _, kind := range publishedKinds() {
				file := "schemas/" + string(kind) + ".schema.json"
				data, err := contract.SchemaFile(kind)
				if err != nil {
					s.fault(err)
					return
				}
				want[file] = data
				if got, err := s.tree.Read(contract.RelPath(file)); err != nil || !bytes.Equal(got, data) {
					report(file, "", "the schema is missing or not the one of this release", generateRemedy)
				}
			}
			for _, file := range s.tree.Files("schemas/") {
				if want[file] == nil && isKnown(file) {
					report(file, "", "no kind of record has this schema", "remove it")
				}
			}
		},
	},
}

// publishedKinds are the kinds with a schema file of their own; the parts of a probe are described in the probe's.
func publishedKinds() []contract.Kind {
	var kinds []contract.Kind
	for _, kind := range contract.Kind("").Values() {
		if !contract.Kind(kind).IsProbePart() {
			kinds = append(kinds, contract.Kind(kind))
		}
	}
	return kinds
}

// compare regenerates a file. A tree without observations claims nothing, and may lack it.
func (s *state) compare(path contract.RelPath, want any, report reporter) {
	if s.overlay() || (!s.tree.Has(path) && len(s.records.Observations) == 0) {
		return
	}
	data, err := contract.Marshal(want)
	if err != nil {
		s.fault(err)
		return
	}
	if got, err := s.tree.Read(path); err != nil || !bytes.Equal(got, data) {
		report(string(path), "", "the file is missing or not what the records give", generateRemedy)
	}
}

// matrix is the committed support matrix of this tree, where it is a valid record.
func (s *state) matrix() (contract.SupportMatrix, bool) {
	if s.overlay() {
		return contract.SupportMatrix{}, false
	}
	data, err := s.tree.Read(registry.MatrixPath)
	if err != nil {
		return contract.SupportMatrix{}, false
	}
	m, problems := contract.Decode[contract.SupportMatrix](contract.KindSupportMatrix, string(registry.MatrixPath), data)
	return m, len(problems) == 0
}
