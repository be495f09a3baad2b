package lint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

const (
	migrateRemedy   = "run agent-contracts normalize --all"
	elsewhereRemedy = "capture this run again and withdraw this observation: its own transcript is not kept, so no fixture can stand for it"
)

// Move is a shape whose signature moved.
type Move struct {
	From         contract.Hash `json:"from"`
	To           contract.Hash `json:"to"`
	Observations int           `json:"observations"`
}

// Migration is what a tree must change so that its shapes are those that its dialects and the normalizer of today read.
type Migration struct {
	// Moves are sorted by the old signature.
	Moves []Move
	// Files are written; what they hold is the whole content. The generated files are not among them.
	Files map[contract.RelPath][]byte
	// Removed go, unless they are among Files.
	Removed []contract.RelPath
}

// Migrate reads every fixture of a tree again. It reads only; nothing is to be done where Files is empty. The error is
// contract.Problems where the tree cannot be migrated as it is: a fixture that was edited must not become a valid one.
func Migrate(t *registry.Tree, opts Options) (*Migration, error) {
	s, err := load(t, opts)
	if err != nil {
		return nil, fmt.Errorf("migrating %s: %w", t.Name, err)
	}
	m := &migrator{state: s, out: &Migration{Files: map[contract.RelPath][]byte{}}, targets: map[target][]*part{}, aliases: maps.Clone(s.records.Aliases)}
	for _, f := range s.findings { // of loading alone: broken records, secrets
		m.problems = append(m.problems, f.Problem)
	}
	if s.catalog != nil && len(m.problems) == 0 {
		err = m.plan()
	}
	if err != nil {
		return nil, fmt.Errorf("migrating %s: %w", t.Name, err)
	}
	if len(m.problems) > 0 {
		return nil, m.problems
	}
	return m.out, nil
}

// target is a shape of the migrated tree.
type target struct {
	family    contract.Family
	signature contract.Hash
}

// part is a shape of today that becomes a target, or a part of one.
type part struct {
	*shapeFile
	reader *registry.Record
	with   []*registry.Record
	result *shape.Result
	keys   []string
	// data is the fixture; fresh where redaction writes it differently today.
	data  []byte
	fresh bool
}

func (p *part) moved() bool { return p.result.Shape.Signature != p.signature() }

type migrator struct {
	*state
	out      *Migration
	problems contract.Problems
	targets  map[target][]*part
	aliases  map[contract.Hash]contract.Hash
}

func (m *migrator) problem(path contract.RelPath, message, remedy string) {
	m.problems = append(m.problems, contract.Problem{File: string(path), Rule: "migrate", Message: message, Remedy: remedy})
}

func (m *migrator) plan() error {
	gone := map[contract.Hash]bool{}
	for _, f := range m.shapes {
		p, err := m.part(f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.fixturePath(), err)
		}
		if p == nil {
			continue
		}
		to := target{f.shape.ProtocolFamily, p.result.Shape.Signature}
		m.targets[to] = append(m.targets[to], p)
		if p.moved() {
			gone[f.signature()] = true
		}
	}
	for to := range m.targets {
		if gone[to.signature] {
			m.problem(registry.ShapePath(to.family, to.signature), "another shape becomes this one, which moves as well", "change the dialects in two steps, with a migration after each")
		}
	}
	if len(m.problems) > 0 {
		return nil
	}
	for _, to := range slices.SortedFunc(maps.Keys(m.targets), func(a, b target) int { return cmp.Compare(a.signature, b.signature) }) {
		if err := m.become(to, m.targets[to]); err != nil {
			return err
		}
	}
	for old := range gone {
		delete(m.aliases, m.out.to(old)) // it is a shape again
	}
	if len(gone) > 0 {
		data, err := json.MarshalIndent(m.aliases, "", "  ")
		if err != nil {
			return err
		}
		m.out.Files[registry.AliasesPath] = append(data, '\n')
	}
	slices.SortFunc(m.out.Moves, func(a, b Move) int { return cmp.Compare(a.From, b.From) })
	return nil
}

func (m *Migration) to(old contract.Hash) contract.Hash {
	i := slices.IndexFunc(m.Moves, func(move Move) bool { return move.From == old })
	return m.Moves[i].To
}

// part reads the fixture of a shape; nil where it has none, or nothing says how to read it.
func (m *migrator) part(f *shapeFile) (*part, error) {
	records := m.readers(f)
	file, ok := m.fixtures[f.fixturePath()]
	if !ok || len(records) == 0 {
		return nil, nil
	}
	if !file.valid || m.hashDiffers(f) {
		m.problem(f.fixturePath(), "the fixture is not the one that its evidence names", "restore the fixture of the first accepted run")
		return nil, nil
	}
	for _, rec := range f.fixture.elsewhere {
		m.problem(rec.Path, "the shape moves for some of its observations and not for others", elsewhereRemedy)
	}
	data, err := m.tree.Read(f.fixturePath())
	if err != nil {
		return nil, err
	}
	p := &part{shapeFile: f, result: f.fixture.result, keys: f.fixture.keys, data: data}
	p.reader, p.with = f.reader(records)
	if f.fixture.failure != nil {
		err = m.redactAgain(p)
	}
	if err != nil || p.result == nil {
		return nil, err
	}
	return p, nil
}

// redactAgain writes the fixture as redaction writes it today.
func (m *migrator) redactAgain(p *part) error {
	policy, ok := m.policy(p.reader, p.with)
	if !ok {
		return nil
	}
	raw, err := transcript.ReadBundle(bytes.NewReader(p.data), m.opts.temp())
	if err != nil {
		return err
	}
	defer raw.Close() //nolint:errcheck // an unlinked spool
	clean, err := redact.Redact(raw, policy, m.opts.temp())
	if err != nil {
		return err
	}
	defer clean.Close() //nolint:errcheck // an unlinked spool
	var out bytes.Buffer
	if err := clean.WriteJSONL(&out); err != nil {
		return err
	}
	p.data, p.fresh, p.keys = out.Bytes(), true, clean.OpaqueKeys()
	p.result, err = shape.Of(clean)
	return err
}

// become writes a target. The fixture of a shape that stays wins, else that of the first run.
func (m *migrator) become(to target, parts []*part) error {
	first := slices.MinFunc(parts, func(a, b *part) int {
		return cmp.Or(compareBool(a.moved(), b.moved()), cmp.Compare(a.reader.At, b.reader.At), cmp.Compare(a.reader.Path, b.reader.Path))
	})
	if first.moved() || first.fresh || len(parts) > 1 {
		if err := m.shapeFiles(to, first, parts); err != nil {
			return err
		}
	}
	for _, p := range parts {
		if err := m.records(to, p, first); err != nil {
			return err
		}
		if !p.moved() {
			continue
		}
		m.aliases[p.signature()] = to.signature
		m.out.Moves = append(m.out.Moves, Move{p.signature(), to.signature, len(m.observed[p.signature()])})
		m.out.Removed = append(m.out.Removed, p.path, p.fixturePath())
	}
	return nil
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// shapeFiles writes shape, fixture and goldens of a target.
func (m *migrator) shapeFiles(to target, first *part, parts []*part) error {
	fresh := first.result.Shape
	fresh.ValidityLevel = slices.MaxFunc(parts, func(a, b *part) int {
		return cmp.Compare(a.shape.ValidityLevel.Rank(), b.shape.ValidityLevel.Rank())
	}).shape.ValidityLevel // levels never sink
	data, err := contract.Marshal(fresh)
	if err != nil {
		return err
	}
	m.out.Files[registry.ShapePath(to.family, to.signature)] = data
	m.out.Files[registry.FixturePath(to.family, to.signature)] = first.data
	if err := m.golden(to, first, first.reader, first.with, registry.GoldenPath(registry.ReferenceParser, to.family, to.signature)); err != nil {
		return err
	}
	for _, p := range parts {
		if err := m.goldens(to, first, p); err != nil {
			return err
		}
	}
	return nil
}

// golden writes the reference events of the fixture of a target, as one observation's mode reads them.
func (m *migrator) golden(to target, first *part, rec *registry.Record, with []*registry.Record, path contract.RelPath) error {
	policy, ok := m.policy(rec, with)
	if !ok {
		return nil
	}
	clean, err := redact.Read(bytes.NewReader(first.data), policy, m.opts.temp())
	if err != nil {
		return fmt.Errorf("%s: %w", first.fixturePath(), err)
	}
	defer clean.Close() //nolint:errcheck // an unlinked spool
	mode, _ := m.mode(rec.Observation)
	events, err := replay.Reference(clean, mode.TextEvent)
	if err != nil {
		return err
	}
	m.out.Files[path], err = replay.MarshalReference(to.signature, events)
	return err
}

// goldens takes the other goldens of a part along: those of single agents are read again, those of other parsers renamed.
func (m *migrator) goldens(to target, first, p *part) error {
	for _, file := range m.tree.Files("goldens/") {
		step := strings.Split(file, "/")
		if signatureOfPath(file) != p.signature() || len(step) != 4 || step[2] != to.family.Dir() {
			continue
		}
		path := renamed(contract.RelPath(file), p.signature(), to.signature)
		if p.moved() {
			m.out.Removed = append(m.out.Removed, contract.RelPath(file))
		}
		if _, done := m.out.Files[path]; done || p != first && m.tree.Has(path) {
			continue
		}
		if step[1] != registry.ReferenceParser {
			data, err := m.tree.Read(contract.RelPath(file))
			if err != nil {
				return err
			}
			if p.moved() {
				m.out.Files[path] = bytes.ReplaceAll(data, []byte(p.signature()), []byte(to.signature))
			}
			continue
		}
		agent := contract.AgentID(strings.TrimSuffix(strings.TrimPrefix(step[3], p.signature().FileStem()+"."), ".events.json"))
		records := m.readers(p.shapeFile)
		i := slices.IndexFunc(records, func(rec *registry.Record) bool { return rec.Observation.Agent == agent })
		if i < 0 {
			continue
		}
		if err := m.golden(to, first, records[i], append(slices.Clone(first.with), records...), path); err != nil {
			return err
		}
	}
	return nil
}

// renamed is a path after its shape moved.
func renamed(path contract.RelPath, from, to contract.Hash) contract.RelPath {
	return contract.RelPath(strings.ReplaceAll(string(path), from.FileStem(), to.FileStem()))
}
