package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// records writes what the records of a part derive from its shape: references, and what reading the fixture says of the
// run. What was seen, and when, and by what, stays as it is.
func (m *migrator) records(to target, p, first *part) error {
	hash, path := contract.HashBytes(first.data), registry.ShapePath(to.family, to.signature)
	was := p.reader.Observation.Shape
	var opaque []string // keys that the new rules took out of the shape
	for _, key := range p.keys {
		if was.Vocabulary == nil || !slices.Contains(was.Vocabulary.Keys, key) {
			opaque = append(opaque, key)
		}
	}
	for _, rec := range m.observed[p.signature()] {
		err := rewrite(m, rec.Path, func(o *contract.Observation) {
			o.Shape.Signature, o.Shape.Path = to.signature, path
			// Another run of the shape keeps no transcript. Where the old rules said of it what they said of the fixture's
			// run, so do the new ones.
			if p.fixture.origin != nil {
				if rec == p.reader || slices.Equal(o.Shape.Violations, was.Violations) {
					o.Shape.Violations = p.result.Violations
				}
				if rec == p.reader || slices.Equal(o.Shape.Ambient, was.Ambient) {
					o.Shape.Ambient = p.result.Ambient
				}
				o.Shape.Vocabulary = withKeys(o.Shape.Vocabulary, opaque)
			}
			if o.ParserReplay != nil && o.ParserReplay.Golden != nil {
				golden := renamed(*o.ParserReplay.Golden, p.signature(), to.signature)
				o.ParserReplay.Golden = &golden
			}
		})
		if err == nil && rec.Evidence != nil {
			err = rewrite(m, rec.EvidencePath(), func(e *contract.Evidence) {
				e.FixtureSHA256 = hash
				if p.fresh && e.SanitizedSHA256 == m.fixtures[p.fixturePath()].hash {
					e.SanitizedSHA256 = contract.HashBytes(p.data)
				}
			})
		}
		if err != nil {
			return err
		}
	}
	for _, src := range m.sources[p.signature()] {
		if err := rewrite(m, src.Path, func(e *contract.SourceEvidence) {
			e.DerivedShape = contract.DerivedShape{Signature: to.signature, Path: path}
		}); err != nil {
			return err
		}
	}
	return nil
}

// rewrite writes a record that change makes another one. It is read without its defaults, which stay unsaid.
func rewrite[T any](m *migrator, path contract.RelPath, change func(*T)) error {
	data, err := m.tree.Read(path)
	if err != nil {
		return err
	}
	var record T
	if err := json.Unmarshal(data, &record); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	was, err := contract.Marshal(record)
	if err != nil {
		return err
	}
	change(&record)
	is, err := contract.Marshal(record)
	if err == nil && !bytes.Equal(was, is) {
		m.out.Files[path] = is
	}
	return err
}

// withKeys adds keys to a vocabulary.
func withKeys(v *contract.Vocabulary, keys []string) *contract.Vocabulary {
	fresh := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return v != nil && slices.Contains(v.Keys, key) })
	if len(fresh) == 0 {
		return v
	}
	out := contract.Vocabulary{}
	if v != nil {
		out = *v
	}
	out.Keys = slices.Concat(out.Keys, fresh)
	slices.Sort(out.Keys)
	return &out
}
