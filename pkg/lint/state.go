package lint

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// state is a tree, read once, and what the rules have found in it.
type state struct {
	tree    *registry.Tree
	opts    Options
	catalog *registry.Catalog // nil where it has problems of its own
	scanner *scan.Scanner
	records *registry.Records
	owned   map[string]bool
	modes   sync.Map // modeKey → resolved

	shapes      []*shapeFile // of which this tree holds a part, sorted by path
	bySignature map[contract.Hash]*shapeFile
	observed    map[contract.Hash][]*registry.Record
	sources     map[contract.Hash][]registry.Source
	fixtures    map[contract.RelPath]fixtureFile
	diagnostics map[string]contract.Diagnostics
	errorCases  map[string]contract.ErrorCase

	mu       sync.Mutex
	findings Findings
	faults   []error
}

// shapeFile is a shape and what was made of its fixture.
type shapeFile struct {
	path    contract.RelPath
	shape   contract.Shape
	fixture fixture
}

// load reads every file of the tree once.
func load(t *registry.Tree, opts Options) (*state, error) {
	s := &state{
		tree: t, opts: opts, owned: map[string]bool{}, bySignature: map[contract.Hash]*shapeFile{}, observed: map[contract.Hash][]*registry.Record{},
		sources: map[contract.Hash][]registry.Source{}, fixtures: map[contract.RelPath]fixtureFile{},
		diagnostics: map[string]contract.Diagnostics{}, errorCases: map[string]contract.ErrorCase{},
	}
	for _, file := range t.Files("") {
		s.owned[file] = true
	}
	var err error
	if s.scanner, err = scan.New(scan.Config{Known: opts.Known}); err != nil {
		return nil, err
	}
	if err := s.scanner.Alive(); err != nil {
		return nil, err
	}
	if err := s.loadCatalog(); err != nil {
		return nil, err
	}
	s.records, err = registry.LoadRecords(t, func(file string, data []byte) {
		if s.own(file) {
			s.scan(file, data)
		}
	})
	if err != nil {
		return nil, err
	}
	s.problems(s.records.Problems)
	for _, rec := range s.records.Observations {
		s.observed[rec.Shape] = append(s.observed[rec.Shape], rec)
	}
	for _, src := range s.records.Sources {
		s.sources[src.Shape] = append(s.sources[src.Shape], src)
	}
	s.loadFiles()
	if s.catalog != nil {
		inParallel(s.shapes, s.readFixture)
	}
	return s, errors.Join(s.faults...)
}

func (s *state) own(file string) bool { return s.owned[file] }

// overlay reports whether the tree lies over a base.
func (s *state) overlay() bool { return s.tree.Base() != nil }

// add keeps a finding about this tree. What the base holds is the base's own affair.
func (s *state) add(f Finding) {
	if s.overlay() && s.tree.Base().Has(contract.RelPath(f.File)) && !s.own(f.File) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.findings = append(s.findings, f)
}

func (s *state) problems(list contract.Problems) {
	for _, p := range list {
		s.add(Finding{Problem: p, Severity: Error})
	}
}

// fault keeps an error that says nothing about the tree.
func (s *state) fault(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, err)
}

func (s *state) loadCatalog() error {
	if s.catalog = s.opts.Catalog; s.catalog != nil {
		return nil
	}
	root := s.tree
	for root.Base() != nil {
		root = root.Base()
	}
	var problems contract.Problems
	c, err := registry.LoadCatalog(root, s.opts.Probes)
	if errors.As(err, &problems) {
		s.problems(problems)
		return nil
	}
	s.catalog = c
	return err
}

// recordFolders are read by registry.LoadRecords.
var recordFolders = []string{"observations/", "source-evidence/", "releases/"}

// loadFiles reads what is not read yet: every other file of the tree, and the shapes of its bases.
func (s *state) loadFiles() {
	var files []string
	for _, file := range s.tree.Files("") {
		if !slices.ContainsFunc(recordFolders, func(folder string) bool { return strings.HasPrefix(file, folder) }) {
			files = append(files, file)
		}
	}
	for base := s.tree.Base(); base != nil; base = base.Base() {
		files = append(append(files, base.Files("shapes/")...), base.Files("fixtures/")...)
	}
	slices.Sort(files)
	files = slices.Compact(files)
	s.tree.ReadEach(files, func(i int, data []byte, err error) {
		file := files[i]
		if err != nil {
			s.problems(contract.Problems{registry.Unreadable(file)})
			return
		}
		if s.own(file) {
			s.scan(file, data)
		}
		s.file(file, data)
	})
	for _, sig := range slices.Sorted(maps.Keys(s.bySignature)) {
		f := s.bySignature[sig]
		if s.own(string(f.path)) || s.own(string(f.fixturePath())) || s.own(string(f.goldenPath())) {
			s.shapes = append(s.shapes, f)
		}
	}
	slices.SortFunc(s.shapes, func(a, b *shapeFile) int { return strings.Compare(string(a.path), string(b.path)) })
}

// file checks one file as the record that its path says, and keeps what the rules need of it.
func (s *state) file(file string, data []byte) {
	kind, ok := contract.KindOfPath(file)
	if !ok {
		return
	}
	switch kind {
	case contract.KindShape:
		shape, problems := contract.Decode[contract.Shape](kind, file, data)
		if s.problems(problems); len(problems) > 0 {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		// The file name decides: one whose content has another signature is found by name and reported.
		s.bySignature[signatureOfPath(file)] = &shapeFile{path: contract.RelPath(file), shape: shape}
	case contract.KindTranscript:
		problems := contract.Validate(kind, file, data)
		s.problems(problems)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fixtures[contract.RelPath(file)] = fixtureFile{contract.HashBytes(data), len(problems) == 0}
	case contract.KindDiagnostics:
		keep(s, s.diagnostics, kind, file, data)
	case contract.KindErrorCase:
		keep(s, s.errorCases, kind, file, data)
	default:
		s.problems(contract.Validate(kind, file, data))
	}
}

func keep[T any](s *state, into map[string]T, kind contract.Kind, file string, data []byte) {
	v, problems := contract.Decode[T](kind, file, data)
	if s.problems(problems); len(problems) > 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	into[file] = v
}

// signatureOfPath reads sha256-<hex> out of a file name; empty where there is none.
func signatureOfPath(file string) contract.Hash {
	name := file[strings.LastIndexByte(file, '/')+1:]
	stem, _, _ := strings.Cut(name, ".")
	hex, ok := strings.CutPrefix(stem, "sha256-")
	if !ok {
		return ""
	}
	return contract.Hash("sha256:" + hex)
}
