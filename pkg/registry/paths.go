// Package registry reads and writes the tree of records: agents, probes, observations, shapes, fixtures and goldens.
//
// The tree is the hand-off between stages. A stage never edits it file by file: it fills a transaction, which becomes
// visible as a whole, so that a killed process leaves a valid tree and the next one completes what was promised.
package registry

import (
	"fmt"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// ReferenceParser names the goldens of this project's own reference events.
const ReferenceParser = "reference"

// ObservationPath is where an observation lives.
func ObservationPath(o contract.Observation) contract.RelPath {
	return contract.RelPath(observationStem(o) + ".observation.json")
}

// EvidencePath is where the observation's sidecar lives.
func EvidencePath(o contract.Observation) contract.RelPath {
	return contract.RelPath(observationStem(o) + ".evidence.json")
}

func observationStem(o contract.Observation) string {
	return fmt.Sprintf("observations/%s/%s/%s/%s.%s", o.Agent, o.CLIVersion, o.Platform, o.Capture.CapturedAt.PathStem(), o.Probe)
}

// ShapePath is where a shape lives.
func ShapePath(f contract.Family, signature contract.Hash) contract.RelPath {
	return contract.RelPath(fmt.Sprintf("shapes/%s/%s.shape.json", f.Dir(), signature.FileStem()))
}

// FixturePath is where the sanitized transcript of a shape lives.
func FixturePath(f contract.Family, signature contract.Hash) contract.RelPath {
	return contract.RelPath(fmt.Sprintf("fixtures/%s/%s%s", f.Dir(), signature.FileStem(), f.FixtureSuffix()))
}

// GoldenPath is where a parser's expected events for a shape live.
func GoldenPath(parser string, f contract.Family, signature contract.Hash) contract.RelPath {
	return contract.RelPath(fmt.Sprintf("goldens/%s/%s/%s.events.json", parser, f.Dir(), signature.FileStem()))
}

// ReportPath is where the report of one new shape against a known one lives.
func ReportPath(agent contract.AgentID, version contract.CLIVersion, fresh, known contract.Hash) contract.RelPath {
	return contract.RelPath(fmt.Sprintf("reports/diffs/%s/%s-%s-vs-%s.md", agent, version, fresh.FileStem(), known.FileStem()))
}
