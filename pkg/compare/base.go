package compare

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

const observationSuffix = ".observation.json"

// record is an observation with its place and its group.
type record struct {
	path contract.RelPath
	contract.Observation
	group group
}

// group is what observations must share to be compared.
type group struct {
	agent   contract.AgentID
	mode    contract.ModeID
	probe   contract.ProbeID
	backend contract.Backend
}

func (c *comparison) newRecord(p contract.RelPath, o contract.Observation) record {
	return record{p, o, group{o.Agent, c.modeOf(o), o.Probe, o.Capture.Backend}}
}

// modeOf gives the mode of an observation. Old records name none: they ran the version command, or the agent's
// default mode.
func (c *comparison) modeOf(o contract.Observation) contract.ModeID {
	if o.Command.Mode != "" {
		return o.Command.Mode
	}
	if implicit := c.catalog.Probes[o.Probe].ImplicitMode(); implicit != "" {
		return implicit
	}
	m, err := registry.ResolveMode(c.catalog.Agents[o.Agent], "", o.CLIVersion)
	if err != nil {
		return "" // an agent that the catalog lacks is compared with records that name no mode either
	}
	return m.ID
}

// loadFresh reads the observations of the fresh tree that the base does not hold byte by byte.
func (c *comparison) loadFresh() error {
	var problems contract.Problems
	for _, name := range c.fresh.Files("observations/") {
		p := contract.RelPath(name)
		if !strings.HasSuffix(name, observationSuffix) {
			continue
		}
		data, err := c.fresh.Read(p)
		if err != nil {
			return fmt.Errorf("reading a new observation: %w", err)
		}
		if c.base.Has(p) {
			known, err := c.base.Read(p)
			if err != nil {
				return fmt.Errorf("reading a known observation: %w", err)
			}
			if string(known) == string(data) {
				continue
			}
		}
		o, found := contract.Decode[contract.Observation](contract.KindObservation, name, data)
		if problems = append(problems, found...); len(found) == 0 {
			c.new = append(c.new, c.newRecord(p, o))
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("the new tree is invalid: %w", problems.Sort())
	}
	return nil
}

// loadBase reads the known observations of the groups that the new ones belong to. Withdrawn ones do not count,
// nor what redaction did not pass.
func (c *comparison) loadBase() error {
	groups := map[group]bool{}
	probes := map[contract.AgentID]map[string]bool{}
	for _, r := range c.new {
		groups[r.group] = true
		if probes[r.Agent] == nil {
			probes[r.Agent] = map[string]bool{}
		}
		probes[r.Agent]["."+string(r.Probe)+observationSuffix] = true
	}
	c.known = map[group][]record{}
	var problems contract.Problems
	for agent, suffixes := range probes {
		for _, name := range c.base.Files("observations/" + string(agent) + "/") {
			// The name says the probe, so that other probes' records need not be read.
			_, suffix, _ := strings.Cut(path.Base(name), ".")
			if !suffixes["."+suffix] {
				continue
			}
			data, err := c.base.Read(contract.RelPath(name))
			if err != nil {
				return fmt.Errorf("reading a known observation: %w", err)
			}
			o, found := contract.Decode[contract.Observation](contract.KindObservation, name, data)
			if problems = append(problems, found...); len(found) > 0 {
				continue
			}
			r := c.newRecord(contract.RelPath(name), o)
			if !groups[r.group] || o.Redaction.Status != contract.RedactionPassed {
				continue
			}
			withdrawn, err := c.withdrawn(r)
			if err != nil {
				return err
			}
			if !withdrawn {
				c.known[r.group] = append(c.known[r.group], r)
			}
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("the known tree is invalid, run validate: %w", problems.Sort())
	}
	return nil
}

func (r record) evidencePath() contract.RelPath {
	return contract.RelPath(strings.TrimSuffix(string(r.path), observationSuffix) + ".evidence.json")
}

func (c *comparison) withdrawn(r record) (bool, error) {
	p := r.evidencePath()
	if !c.base.Has(p) {
		return false, nil // its absence is lint's finding
	}
	data, err := c.base.Read(p)
	if err != nil {
		return false, fmt.Errorf("reading known evidence: %w", err)
	}
	e, problems := contract.Decode[contract.Evidence](contract.KindEvidence, string(p), data)
	return e.Withdrawn != nil, problems.Err()
}

// nearest orders known observations for a new one: its own platform first, then the nearest version below or equal,
// the nearest above, and what cannot be ordered; the latest capture of one version first.
func nearest(o contract.Observation, known []record) []record {
	side := func(v contract.CLIVersion) int {
		switch order, ok := contract.CompareVersions(string(v), string(o.CLIVersion)); {
		case !ok:
			return 2
		case order > 0:
			return 1
		}
		return 0
	}
	foreign := func(r record) int {
		if r.Platform == o.Platform {
			return 0
		}
		return 1
	}
	out := slices.Clone(known)
	slices.SortFunc(out, func(a, b record) int {
		sa, sb := side(a.CLIVersion), side(b.CLIVersion)
		order, _ := contract.CompareVersions(string(a.CLIVersion), string(b.CLIVersion))
		if sa == 0 {
			order = -order
		}
		if sa == 2 {
			order = 0
		}
		return cmp.Or(foreign(a)-foreign(b), sa-sb, order, laterFirst(a, b), cmp.Compare(a.path, b.path))
	})
	return out
}

func laterFirst(a, b record) int {
	x, errX := a.Capture.CapturedAt.Time()
	y, errY := b.Capture.CapturedAt.Time()
	if errX != nil || errY != nil {
		return 0 // unreachable: both were validated
	}
	return y.Compare(x)
}
