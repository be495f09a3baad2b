package lint

import (
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

var shapeRules = []Rule{
	{
		ID: "shape/referenced", Purpose: "Every shape was observed, or is known from source evidence.", Severity: Error,
		shape: func(s *state, f *shapeFile, report reporter) {
			if len(s.observed[f.signature()]) == 0 && len(s.sources[f.signature()]) == 0 {
				report(string(f.path), "", "no observation and no source evidence names the shape", "remove it with its fixture and goldens, or add the record that it belongs to")
			}
		},
	},
	{
		ID: "shape/level", Purpose: "The level of a shape is the strongest of the records that it rests on.", Severity: Error,
		shape: func(s *state, f *shapeFile, report reporter) {
			// A withdrawal takes claims back, but published levels never sink: both are accepted then.
			accepted, all := s.levels(f.signature())
			if rank := f.shape.ValidityLevel.Rank(); all > 0 && (rank < accepted || rank > all) {
				report(string(f.path), "/validity_level", "the level is not the strongest of the shape's observations and source evidence", "write the strongest level; the signature does not depend on it")
			}
		},
	},
	{
		ID: "shape/source", Purpose: "The shape of a source evidence record exists and agrees with it.", Severity: Error,
		tree: func(s *state, report reporter) {
			for _, src := range s.records.Sources {
				f := s.bySignature[src.Shape]
				switch {
				case f == nil && !s.tree.Has(registry.ShapePath(src.Evidence.ProtocolFamily, src.Shape)):
					report(string(src.Path), "/derived_shape/path", "the shape is not in the tree", "add the shape file that this path names")
				case f != nil && f.shape.ProtocolFamily != src.Evidence.ProtocolFamily:
					report(string(src.Path), "/protocol_family", "the family is not that of the shape", "name the shape's family")
				}
				if s.catalog != nil {
					if _, ok := s.catalog.Agents[src.Evidence.Agent]; !ok {
						report(string(src.Path), "/agent", "no agent has this id", "add registry/agents/<id>.json, or correct the id")
					}
				}
			}
		},
	},
}

// signature is the name that the file has; a rule of its own compares it with the content.
func (f *shapeFile) signature() contract.Hash { return signatureOfPath(string(f.path)) }

// levels gives the ranks of the strongest level over the records that are not withdrawn, and over all.
func (s *state) levels(signature contract.Hash) (accepted, all int) {
	for _, rec := range s.observed[signature] {
		rank := contract.ValidityLevel(rec.Observation.ValidityLevel).Rank()
		all = max(all, rank)
		if !rec.Withdrawn() {
			accepted = max(accepted, rank)
		}
	}
	for _, src := range s.sources[signature] {
		rank := contract.ValidityLevel(src.Evidence.ValidityLevel).Rank()
		accepted, all = max(accepted, rank), max(all, rank)
	}
	return accepted, all
}
