package lint

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

const goldenRemedy = "run agent-contracts replay --write"

var goldenRules = []Rule{
	{
		ID: "golden/present", Purpose: "Every observed shape has the golden of the reference events.", Severity: Error,
		shape: func(s *state, f *shapeFile, report reporter) {
			if len(s.observed[f.signature()]) > 0 && !s.tree.Has(f.goldenPath()) {
				report(string(f.path), "", "the reference golden of the shape is not in the tree", goldenRemedy)
			}
		},
	},
	{
		ID: "golden/referenced", Purpose: "Every golden belongs to a shape, and says so.", Severity: Error,
		tree: func(s *state, report reporter) {
			for _, file := range s.tree.Files("goldens/") {
				step := strings.Split(file, "/")
				if len(step) != 4 {
					continue // it has no place in the layout
				}
				family, ok := contract.FamilyOfDir(step[2])
				if ok && !s.tree.Has(registry.ShapePath(family, signatureOfPath(file))) {
					report(file, "", "there is no shape of this signature in this family", "remove the golden, or add its shape")
				}
				if strings.HasSuffix(file, ".events.json") {
					s.checkHead(file, step[1], report)
				}
			}
		},
	},
	{
		ID: "golden/current", Purpose: "A reference golden is what the reference parser reads in the fixture.", Severity: Error,
		shape: func(s *state, f *shapeFile, report reporter) {
			for path, want := range f.fixture.goldens {
				if got, err := s.tree.Read(path); err == nil && !bytes.Equal(got, want) {
					report(string(path), "", "the events are not those of the fixture", goldenRemedy)
				}
			}
		},
	},
}

// checkHead compares parser and shape of a golden with its path.
func (s *state) checkHead(file, parser string, report reporter) {
	data, err := s.tree.Read(contract.RelPath(file))
	if err != nil {
		return // reported where it was read first
	}
	var head struct {
		Parser string        `json:"parser"`
		Shape  contract.Hash `json:"shape"`
	}
	switch {
	case json.Unmarshal(data, &head) != nil:
		report(file, "", "the file is no JSON object with parser, shape and events", goldenRemedy)
	case head.Parser != parser || head.Shape != signatureOfPath(file):
		report(file, "", "parser and shape of the path are not those of the golden", moveRemedy)
	}
}
