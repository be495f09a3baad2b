package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// Library opens the fixtures of a tree. Every fixture that it hands out has passed the redaction gate again.
type Library struct {
	Tree    *registry.Tree
	Catalog *registry.Catalog
	// Scanner is the second gate of redaction.
	Scanner *scan.Scanner
	// Temp is a private folder for spools.
	Temp string

	// Records are the observations and source evidence that the fixtures belong to.
	Records *registry.Records

	byShape map[contract.Hash][]*registry.Record
}

// OpenLibrary reads the records of a tree and of the bases below it. Records that are not valid are left out: lint
// reports them, and what they name does not replay.
func OpenLibrary(tree *registry.Tree, catalog *registry.Catalog, scanner *scan.Scanner, temp string) (*Library, error) {
	records, err := registry.LoadRecords(tree, nil)
	if err != nil {
		return nil, err
	}
	l := &Library{Tree: tree, Catalog: catalog, Scanner: scanner, Temp: temp, Records: records, byShape: map[contract.Hash][]*registry.Record{}}
	for _, r := range records.Observations {
		l.byShape[r.Shape] = append(l.byShape[r.Shape], r)
	}
	return l, nil
}

// NoMatchError reports a selector that names nothing of the tree.
type NoMatchError struct {
	Selector registry.Selector
	// Known lists what the tree holds, as selectors, at most a few.
	Known []string
}

func (e *NoMatchError) Error() string {
	if len(e.Known) == 0 {
		return "the tree holds no observation: capture one first"
	}
	return "no observation matches the selector; the tree holds " + strings.Join(e.Known, ", ")
}

// Select lists the observations that a selector names, sorted by path. A selector without an agent names all agents.
// The error is a *NoMatchError when there is none, a *registry.UnknownError where there is no such agent or probe.
func (l *Library) Select(sel registry.Selector) ([]*registry.Record, error) {
	var id contract.AgentID
	if sel.Agent != "" {
		agent, err := l.Catalog.Agent(sel.Agent)
		if err != nil {
			return nil, err
		}
		id = agent.ID
	}
	var probe contract.ProbeID
	if sel.Probe != "" {
		p, err := l.Catalog.Probe(sel.Probe)
		if err != nil {
			return nil, err
		}
		probe = p.ID
	}
	signature := l.Records.Resolve(sel.Shape)
	var out []*registry.Record
	for _, r := range l.Records.Observations {
		o := r.Observation
		if (id == "" || o.Agent == id) && (sel.Version == "" || o.CLIVersion == sel.Version) &&
			(probe == "" || o.Probe == probe) && (signature == "" || r.Shape == signature) {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil, &NoMatchError{sel, l.known(id, sel.Version)}
	}
	return out, nil
}

// known lists what a selector could have named: all probes of a release that is there, else releases, at most a few.
func (l *Library) known(id contract.AgentID, version contract.CLIVersion) []string {
	releases, probes := map[string]bool{}, map[string]bool{}
	for _, r := range l.Records.Observations {
		o := r.Observation
		if id != "" && o.Agent != id {
			continue
		}
		name := fmt.Sprintf("%s@%s", o.Agent, o.CLIVersion)
		releases[name] = true
		if o.CLIVersion == version {
			probes[fmt.Sprintf("%s:%s", name, o.Probe)] = true
		}
	}
	switch {
	case len(probes) > 0:
		return slices.Sorted(maps.Keys(probes))
	case len(releases) == 0 && id != "":
		return l.known("", version)
	}
	return some(slices.Sorted(maps.Keys(releases)))
}

// some shortens a list for a message.
func some(names []string) []string {
	const most = 10
	if len(names) <= most+1 {
		return names
	}
	return append(names[:most:most], fmt.Sprintf("… and %d more", len(names)-most))
}

// Choice is the recording that a child plays, and what it was chosen from.
type Choice struct {
	*registry.Record
	// Releases is how many releases the selector named.
	Releases int
}

// One picks the newest observation that a selector names. What it names must agree on agent and probe: for a child
// process it matters which behaviour is played.
func (l *Library) One(sel registry.Selector) (Choice, error) {
	found, err := l.Select(sel)
	if err != nil {
		return Choice{}, err
	}
	behaviours, releases := map[string]bool{}, map[contract.CLIVersion]bool{}
	agents, probes := map[contract.AgentID]bool{}, map[contract.ProbeID]bool{}
	for _, r := range found {
		o := r.Observation
		name := string(o.Agent)
		if sel.Version != "" {
			name += "@" + string(sel.Version)
		}
		behaviours[name+":"+string(o.Probe)] = true
		agents[o.Agent], probes[o.Probe], releases[o.CLIVersion] = true, true, true
	}
	if len(agents) > 1 || len(probes) > 1 && sel.Shape == "" {
		return Choice{}, fmt.Errorf("the selector names several behaviours (%s): add :PROBE or #sha256-HEX", strings.Join(some(slices.Sorted(maps.Keys(behaviours))), ", "))
	}
	return Choice{slices.MaxFunc(found, func(a, b *registry.Record) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Path, b.Path))
	}), len(releases)}, nil
}

// ReadGolden reads the expected events of a parser for a shape. It is registry.ErrMissing when there are none.
func (l *Library) ReadGolden(p contract.RelPath) (Golden, error) {
	data, err := l.Tree.Read(p)
	if err != nil {
		return Golden{}, fmt.Errorf("reading a golden: %w", err)
	}
	return DecodeGolden(string(p), data)
}

// StaleGoldens reads the fixtures of all observations that a selector names with the reference parser. It returns the
// goldens that are missing or differ from what it reads, with the bytes that they should have.
func (l *Library) StaleGoldens(sel registry.Selector) (map[contract.RelPath][]byte, error) {
	found, err := l.Select(sel)
	if err != nil {
		return nil, err
	}
	stale, seen := map[contract.RelPath][]byte{}, map[contract.RelPath]bool{}
	for _, r := range found {
		family := r.Observation.ProtocolFamily
		path := registry.GoldenPath(registry.ReferenceParser, family, r.Shape)
		if seen[path] {
			continue
		}
		seen[path] = true
		want, err := l.golden(family, r.Shape)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", registry.FixturePath(family, r.Shape), err)
		}
		if have, err := l.Tree.Read(path); err != nil || !bytes.Equal(have, want) {
			stale[path] = want
		}
	}
	return stale, nil
}

// golden derives the reference golden of a shape.
func (l *Library) golden(family contract.Family, shape contract.Hash) ([]byte, error) {
	f, err := l.Fixture(family, shape)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // a spool
	events, err := Reference(f.Sanitized, f.Mode.TextEvent)
	if err != nil {
		return nil, err
	}
	return MarshalReference(shape, events)
}

// DecodeGolden reads the file of a golden. Its error names the file and never quotes it.
func DecodeGolden(file string, data []byte) (Golden, error) {
	var g Golden
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&g); err != nil || g.Parser == "" || g.Shape == "" || g.Events == nil || dec.More() {
		return Golden{}, errors.New(file + " is no golden: it holds parser, shape and events")
	}
	return g, nil
}
