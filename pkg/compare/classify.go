package compare

import (
	"fmt"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
)

// comparison is one call of Classify.
type comparison struct {
	base, fresh *registry.Tree
	catalog     *registry.Catalog
	new         []record
	known       map[group][]record
	shapes      map[contract.Hash]contract.Shape
	parsers     []string
}

// Classify gives every observation of the fresh tree that base does not hold, and every failed redaction, exactly one
// verdict. The fresh tree may be an overlay that lacks what base has. It fails where it could not tell: on records
// that are invalid or missing.
func Classify(base, fresh *registry.Tree, catalog *registry.Catalog, failures ...Failure) (*Report, error) {
	c := &comparison{base: base, fresh: fresh, catalog: catalog, shapes: map[contract.Hash]contract.Shape{}}
	if err := c.loadFresh(); err != nil {
		return nil, err
	}
	if err := c.loadBase(); err != nil {
		return nil, err
	}
	c.parsers = parsersOf(base, fresh)
	items := []Item{}
	for _, f := range failures {
		items = append(items, f.item())
	}
	for _, r := range c.new {
		item, err := c.judge(r)
		if err != nil {
			return nil, fmt.Errorf("comparing %s: %w", shape.Plain(string(r.path)), err)
		}
		items = append(items, item)
	}
	return newReport(items), nil
}

// subject is one new observation on its way through the rules.
type subject struct {
	*comparison
	record
	item Item
	// base holds the known observations of the group, the nearest first; peers the other new ones.
	base, peers []record
	// against is what the verdict rests on; nil for a first observation.
	against *record
}

func (c *comparison) judge(r record) (Item, error) {
	s := &subject{comparison: c, record: r, base: nearest(r.Observation, c.known[r.group])}
	for _, other := range c.new {
		if other.group == r.group && other.path != r.path {
			s.peers = append(s.peers, other)
		}
	}
	s.peers = nearest(r.Observation, s.peers)
	s.item = Item{
		Observation: r.path, Agent: r.Agent, CLIVersion: r.CLIVersion, Platform: r.Platform, Probe: r.Probe, Mode: r.group.mode, Backend: r.group.backend,
		CapturedAt: r.Capture.CapturedAt, Signature: r.Shape.Signature,
	}
	for _, rule := range rules {
		ok, err := rule.applies(s)
		if err != nil {
			return Item{}, err
		}
		if ok {
			s.item.Verdict = rule.Verdict
			break
		}
	}
	if s.item.Verdict == RedactionFailed {
		return s.item, nil
	}
	return s.item, s.detail()
}

// detail adds what does not decide the verdict.
func (s *subject) detail() error {
	level := contract.ValidityLevel(s.ValidityLevel)
	if k := s.against; k != nil {
		known := contract.ValidityLevel(k.ValidityLevel)
		s.item.Known = &Known{Observation: k.path, CLIVersion: k.CLIVersion, Platform: k.Platform, Signature: k.Shape.Signature, Grounding: GroundingOf(known)}
		if k.Shape.Signature == s.Shape.Signature && known.Rank() > level.Rank() {
			level = known
		}
		var err error
		if s.item.Changes, err = s.diff(*k); err != nil {
			return err
		}
		s.item.Vocabulary = vocabularyChanges(k.Observation, s.Observation)
		s.item.Flags = flagChanges(k.Observation, s.Observation, s.catalog.Agents[s.Agent].ForbiddenFlags)
		if was, is := k.Capture.NormalizerVersion, s.Capture.NormalizerVersion; was != is && was != "" && is != "" {
			s.item.Findings = append(s.item.Findings, fmt.Sprintf("normalizer %s made the new shape and %s the known one: normalize the fixtures again before judging", is, was))
		}
	}
	var known []string
	if s.against != nil {
		known = s.against.Shape.Violations
	}
	s.item.Violations = without(s.Shape.Violations, known)
	slices.Sort(s.item.Violations)
	s.item.Grounding = GroundingOf(level)
	s.item.Evidence = s.evidence()
	return nil
}

// evidence lists the records behind the item that exist.
func (s *subject) evidence() []contract.RelPath {
	paths := []contract.RelPath{s.path, s.evidencePath(), s.Shape.Path, registry.FixturePath(s.ProtocolFamily, s.Shape.Signature)}
	for _, parser := range s.parsers {
		paths = append(paths, goldenPaths(parser, s.Observation)...)
	}
	return slices.DeleteFunc(paths, func(p contract.RelPath) bool { return !s.fresh.Has(p) && !s.comparison.base.Has(p) })
}

// diff compares the shape with a known observation's.
func (s *subject) diff(known record) ([]shape.Change, error) {
	if known.Shape.Signature == s.Shape.Signature {
		return nil, nil
	}
	before, err := s.shapeOf(known.Observation)
	if err != nil {
		return nil, err
	}
	after, err := s.shapeOf(s.Observation)
	if err != nil {
		return nil, err
	}
	return shape.Diff(before, after), nil
}

// shapeOf reads the shape that an observation names, from either tree: equal signatures are equal shapes.
func (c *comparison) shapeOf(o contract.Observation) (contract.Shape, error) {
	if s, ok := c.shapes[o.Shape.Signature]; ok {
		return s, nil
	}
	data, err := read(o.Shape.Path, c.fresh, c.base)
	if err != nil {
		return contract.Shape{}, fmt.Errorf("reading the shape of an observation: %w", err)
	}
	s, problems := contract.Decode[contract.Shape](contract.KindShape, string(o.Shape.Path), data)
	if err := problems.Err(); err != nil {
		return contract.Shape{}, err
	}
	if s.Signature != o.Shape.Signature {
		return contract.Shape{}, fmt.Errorf("%s holds the shape of another signature: normalize its fixture again", o.Shape.Path)
	}
	c.shapes[s.Signature] = s
	return s, nil
}

// read reads a file from the first tree that holds it.
func read(p contract.RelPath, trees ...*registry.Tree) ([]byte, error) {
	for _, t := range trees {
		if t.Has(p) {
			return t.Read(p)
		}
	}
	return nil, fmt.Errorf("%s: %w", p, registry.ErrMissing)
}
