package registry

import (
	"fmt"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Backing is one observation that a selector names, and what it is worth.
type Backing struct {
	Observation contract.RelPath       `json:"observation"`
	Evidence    contract.RelPath       `json:"evidence,omitempty"`
	Version     contract.CLIVersion    `json:"cli_version"`
	Platform    contract.Platform      `json:"platform"`
	Probe       contract.ProbeID       `json:"probe"`
	Shape       contract.Hash          `json:"shape"`
	Level       contract.ValidityLevel `json:"validity_level"`
	Backend     contract.Backend       `json:"backend"`
	CapturedAt  contract.Timestamp     `json:"captured_at"`
	// Backs says whether it backs a claim; Reason says why it does not.
	Backs  bool   `json:"backs"`
	Reason string `json:"reason,omitempty"`
}

// Why lists the observations that a selector names, backing or not, and the matrix entries that they lead to.
// The error of a selector that names an unknown agent or nothing at all says so.
func Why(t *Tree, c *Catalog, s Selector) ([]Backing, []contract.MatrixEntry, error) {
	agent, err := c.Agent(s.Agent)
	if err != nil {
		return nil, nil, err
	}
	r, err := LoadRecords(t, nil)
	if err == nil {
		err = r.Problems.Err()
	}
	if err != nil {
		return nil, nil, err
	}
	var list []Backing
	for _, j := range r.Judge(c) {
		o := j.Observation
		if o.Agent != agent.ID || (s.Version != "" && o.CLIVersion != s.Version) || (s.Probe != "" && string(o.Probe) != s.Probe) || (s.Shape != "" && j.Shape != r.Resolve(s.Shape)) {
			continue
		}
		b := Backing{
			Observation: j.Path, Version: o.CLIVersion, Platform: o.Platform, Probe: o.Probe, Shape: j.Shape, Level: contract.ValidityLevel(o.ValidityLevel),
			Backend: o.Capture.Backend, CapturedAt: o.Capture.CapturedAt, Backs: j.Reason == "", Reason: j.Reason,
		}
		if j.Record.Evidence != nil {
			b.Evidence = j.EvidencePath()
		}
		list = append(list, b)
	}
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("no observation of %s is what the selector names: see matrix --coverage for what there is", agent.ID)
	}
	var entries []contract.MatrixEntry
	for _, e := range r.Matrix(c, MatrixOptions{}).Agents {
		if e.Agent == agent.ID && entryHas(e, list) {
			entries = append(entries, e)
		}
	}
	return list, entries, nil
}

// entryHas reports whether one of the observations backs the entry.
func entryHas(e contract.MatrixEntry, list []Backing) bool {
	for _, b := range list {
		for _, shape := range e.ObservedShapes {
			if b.Backs && b.Shape == shape.Shape && Covers(e, b.Version, b.Platform) {
				return true
			}
		}
	}
	return false
}

// Covers reports whether a version on a platform lies in an entry.
func Covers(e contract.MatrixEntry, v contract.CLIVersion, p contract.Platform) bool {
	for _, platform := range e.Platforms {
		for _, rng := range e.VersionRanges {
			if platform == p && matches(rng, v) {
				return true
			}
		}
	}
	return false
}
