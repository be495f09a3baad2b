package lint

import (
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

const moveRemedy = "move the file to where its content says, or correct the content"

var pathRules = []Rule{
	{
		ID: "path/observation", Purpose: "The path of an observation says what its body says.", Severity: Error,
		observation: func(_ *state, rec *registry.Record, report reporter) {
			if registry.ObservationPath(rec.Observation) != rec.Path {
				report(string(rec.Path), "", "agent, version, platform, time and probe of the path are not those of the record", moveRemedy)
			}
		},
	},
	{
		ID: "path/shape", Purpose: "The path of a shape says its family and signature.", Severity: Error,
		shape: func(_ *state, f *shapeFile, report reporter) {
			if registry.ShapePath(f.shape.ProtocolFamily, f.shape.Signature) != f.path {
				report(string(f.path), "/signature", "family and signature of the path are not those of the record", moveRemedy)
			}
		},
	},
	{
		ID: "path/fixture", Purpose: "The suffix of a fixture is that of its family.", Severity: Error,
		tree: func(s *state, report reporter) {
			for _, file := range s.tree.Files("fixtures/") {
				family, ok := contract.FamilyOfDir(strings.Split(file, "/")[1])
				if ok && isKnown(file) && !strings.HasSuffix(file, family.FixtureSuffix()) {
					report(file, "", "the suffix is not that of the family", "name it sha256-<hex>"+family.FixtureSuffix())
				}
			}
		},
	},
	{
		ID: "path/agent", Purpose: "Files of an agent carry its id.", Severity: Error,
		tree: func(s *state, report reporter) {
			for _, file := range s.tree.Files("releases/") {
				agent := strings.TrimSuffix(strings.TrimPrefix(file, "releases/"), ".json")
				if _, ok := s.records.Releases[contract.AgentID(agent)]; !ok && !s.broken(file) {
					report(file, "/agent", "the agent is not that of the file name", moveRemedy)
				}
			}
			for file, c := range s.errorCases {
				if prefix := "error-cases/" + string(c.Agent) + "/" + string(c.Probe) + "."; !strings.HasPrefix(file, prefix) {
					report(file, "", "agent and probe of the path are not those of the record", moveRemedy)
				}
			}
			for _, src := range s.records.Sources {
				if !strings.HasPrefix(string(src.Path), "source-evidence/"+string(src.Evidence.Agent)+"/") {
					report(string(src.Path), "/agent", "the agent is not that of the folder", moveRemedy)
				}
			}
		},
	},
}

// broken reports whether a record has problems of its own, so that nothing more can be said about it.
func (s *state) broken(file string) bool {
	for _, p := range s.records.Problems {
		if p.File == file {
			return true
		}
	}
	return false
}
