package publish

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
)

// collector writes the files of one package and keeps their hashes.
type collector struct {
	Options
	tree    *registry.Tree
	catalog *registry.Catalog
	library *replay.Library
	dir     string
	files   map[string]File
	folded  map[string]string
}

// RefusedError names a file that may not be published, and why. It never quotes the file.
type RefusedError struct{ File, Reason string }

func (e *RefusedError) Error() string { return fmt.Sprintf("%s: %s", e.File, e.Reason) }

// leftOut are folders of a tree that a package does not have: reports are for maintainers.
var leftOut = []string{"reports/"}

func (c *collector) collect() error {
	for t := c.tree; t != nil; t = t.Base() {
		if len(t.Strange) > 0 {
			return &RefusedError{shown(t.Strange[0]), "the entry is no regular file, its path is too deep or too long, or another one differs from it only in case: remove it"}
		}
	}
	library, err := replay.OpenLibrary(c.tree, c.catalog, c.Scanner, c.Temp)
	if err == nil {
		err = library.Records.Problems.Err()
	}
	if err != nil {
		return err
	}
	c.library = library
	if err := c.observations(); err != nil {
		return err
	}
	if err := c.generated(); err != nil {
		return err
	}
	for _, p := range allFiles(c.tree) {
		if err := c.treeFile(p); err != nil {
			return err
		}
	}
	return c.libraryFiles()
}

// allFiles lists the paths of a tree and of the bases below it, sorted, each once.
func allFiles(t *registry.Tree) []string {
	var files []string
	for ; t != nil; t = t.Base() {
		files = append(files, t.Files("")...)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// observations refuses runs that are not fit to be public, and records that do not hang together.
func (c *collector) observations() error {
	hashes := map[contract.RelPath]contract.Hash{}
	for _, r := range c.library.Records.Observations {
		o := r.Observation
		refuse := func(reason string) error { return &RefusedError{string(r.Path), reason} }
		switch {
		case r.Evidence == nil:
			return refuse("the observation has no evidence record beside it")
		case o.Redaction.Status != contract.RedactionPassed:
			return refuse("its redaction did not pass: only passed ones are published")
		case !r.Evidence.RedactionChecked:
			return refuse("its evidence does not say that the redaction was checked")
		case c.RequireAttestation && r.Evidence.Attestation == nil:
			return refuse("no maintainer has attested that its raw artifact was checked")
		}
		fixture := registry.FixturePath(o.ProtocolFamily, r.Shape)
		if hashes[fixture] == "" {
			data, err := c.tree.Read(fixture)
			if err != nil {
				return fmt.Errorf("%s: its fixture: %w", r.Path, err)
			}
			hashes[fixture] = contract.HashBytes(data)
		}
		// A migration of shapes writes fixtures anew; the evidence keeps what it saw.
		if r.Shape == o.Shape.Signature && hashes[fixture] != r.Evidence.FixtureSHA256 {
			return refuse("the fixture of its shape is not the one that its evidence names")
		}
	}
	return nil
}

// generated writes the files that follow from the others.
func (c *collector) generated() error {
	matrix := c.library.Records.Matrix(c.catalog, registry.MatrixOptions{GeneratedAt: c.GeneratedAt})
	c.GeneratedAt = cmp.Or(c.GeneratedAt, matrix.GeneratedAt)
	for p, record := range map[contract.RelPath]any{registry.MatrixPath: matrix, registry.IndexPath: registry.BuildIndex(c.catalog)} {
		data, err := contract.Marshal(record)
		if err != nil {
			return err
		}
		if err := c.record(string(p), data); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.catalog.Probes)) {
		data, err := contract.Marshal(c.catalog.Probes[id])
		if err != nil {
			return err
		}
		if problems := contract.Validate(contract.KindProbe, "probes/"+string(id)+".json", data); len(problems) > 0 {
			return problems
		}
		if err := c.put("data/probes/"+string(id)+".json", data); err != nil {
			return err
		}
	}
	return nil
}

// treeFile takes one file of the tree by what its path says that it is. What has no kind has no place in a package.
func (c *collector) treeFile(p string) error {
	if strings.Contains("/"+p, "/.") {
		return &RefusedError{shown(p), "dot files are not published: remove it"}
	}
	if slices.ContainsFunc(leftOut, func(folder string) bool { return strings.HasPrefix(p, folder) }) || p == "README.md" {
		return nil
	}
	if p == string(registry.MatrixPath) || p == string(registry.IndexPath) {
		return nil // generated above, from all trees
	}
	kind, ok := contract.KindOfPath(p)
	switch {
	case ok && kind == contract.KindTranscript:
		return c.fixture(p)
	case ok:
		return c.treeRecord(p)
	case strings.HasPrefix(p, "goldens/") && strings.HasSuffix(p, ".json"):
		return c.golden(p)
	case strings.HasPrefix(p, "schemas/") && strings.HasSuffix(p, ".schema.json"), p == string(registry.AliasesPath):
		return c.plainJSON(p)
	}
	return &RefusedError{shown(p), "no file of this name belongs into a package: remove it"}
}

func (c *collector) treeRecord(p string) error {
	data, err := c.tree.Read(contract.RelPath(p))
	if err != nil {
		return err
	}
	return c.record(p, data)
}

// record writes a record that its schema and rules accept.
func (c *collector) record(p string, data []byte) error {
	kind, _ := contract.KindOfPath(p)
	if problems := contract.Validate(kind, p, data); len(problems) > 0 {
		return problems
	}
	return c.put("data/"+p, data)
}

// fixture reads a transcript through the redaction gate.
func (c *collector) fixture(p string) error {
	signature, family, ok := shapeOfPath(p)
	if !ok || string(registry.FixturePath(family, signature)) != p {
		return &RefusedError{shown(p), "the name is not that of a fixture: name it after its shape"}
	}
	f, err := c.library.Fixture(family, signature)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // a spool
	return c.transcript(p, f.Sanitized)
}

// transcript is the only way of a transcript into a package: it takes what passed both gates, not bytes.
func (c *collector) transcript(p string, s *redact.Sanitized) error {
	var out bytes.Buffer
	if err := s.WriteJSONL(&out); err != nil {
		return err
	}
	return c.put("data/"+p, out.Bytes())
}

func (c *collector) golden(p string) error {
	data, err := c.tree.Read(contract.RelPath(p))
	if err != nil {
		return err
	}
	if !strings.HasSuffix(p, ".events.json") {
		return c.plainJSON(p)
	}
	g, err := replay.DecodeGolden(p, data)
	if err != nil {
		return err
	}
	if signature, _, ok := shapeOfPath(p); !ok || signature != g.Shape {
		return &RefusedError{p, "the golden speaks of another shape than its name"}
	}
	return c.put("data/"+p, data)
}

func (c *collector) plainJSON(p string) error {
	data, err := c.tree.Read(contract.RelPath(p))
	if err != nil {
		return err
	}
	if !json.Valid(data) {
		return &RefusedError{p, "the file is not JSON"}
	}
	return c.put("data/"+p, data)
}

// shapeOfPath reads the shape and the family that a file is named after.
func shapeOfPath(p string) (contract.Hash, contract.Family, bool) {
	stem, _, _ := strings.Cut(path.Base(p), ".")
	hex, ok := strings.CutPrefix(stem, "sha256-")
	family, known := contract.FamilyOfDir(path.Base(path.Dir(p)))
	hash := contract.Hash("sha256:" + hex)
	return hash, family, ok && known && hashForm.MatchString(string(hash))
}

// libraryFiles takes the consumer library: code and types, nothing else of its folder.
func (c *collector) libraryFiles() error {
	template, err := fs.ReadFile(c.Library, "package.json")
	if err != nil {
		return fmt.Errorf("reading the consumer library: %w", err)
	}
	manifest, err := packageJSON(template, c.Name, c.Version)
	if err != nil {
		return err
	}
	for p, data := range map[string][]byte{"package.json": manifest, "README.md": c.Readme, "LICENSE": c.License} {
		if err := c.put(p, data); err != nil {
			return err
		}
	}
	for _, pattern := range []string{"*.js", "*.d.ts", "types/*.d.ts"} {
		names, err := fs.Glob(c.Library, pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			info, err := fs.Stat(c.Library, name)
			if err != nil {
				return fmt.Errorf("reading the consumer library: %w", err)
			}
			if !info.Mode().IsRegular() {
				return &RefusedError{shown(name), "the library holds something that is no regular file"}
			}
			data, err := fs.ReadFile(c.Library, name)
			if err != nil {
				return fmt.Errorf("reading the consumer library: %w", err)
			}
			if err := c.put(name, data); err != nil {
				return err
			}
		}
	}
	if _, ok := c.files["index.js"]; !ok {
		return errors.New("the consumer library has no index.js")
	}
	return nil
}

// put scans a file and writes it.
func (c *collector) put(p string, data []byte) error {
	switch other, taken := c.folded[strings.ToLower(p)]; {
	case !packagePath(p) || len(p) > 400:
		return &RefusedError{shown(p), "the name may not stand in a package"}
	case taken:
		return &RefusedError{p, "the package holds this file already, as " + other}
	case len(data) > maxFile:
		return &RefusedError{p, fmt.Sprintf("the file is larger than %d bytes", maxFile)}
	}
	if rule := c.hit(p, data); rule != "" {
		return &RefusedError{p, "the text matches the secret rule " + rule + ": redact it again; a value that was ever public must be revoked"}
	}
	file := filepath.Join(c.dir, filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return err
	}
	c.folded[strings.ToLower(p)] = p
	c.files[p] = File{contract.HashBytes(data), int64(len(data))}
	return nil
}

// hit gives the rule that a file matches. Lines of JSON are scanned one by one: most of them occur in many files, and
// what was clean once is clean again.
func (c *collector) hit(p string, data []byte) string {
	if !strings.HasSuffix(p, ".json") && !strings.HasSuffix(p, ".jsonl") {
		if hits := c.Scanner.Scan(data); len(hits) > 0 {
			return hits[0].Rule
		}
		return ""
	}
	for line := range bytes.Lines(data) {
		if hits := c.Scanner.Line(line); len(hits) > 0 {
			return hits[0].Rule
		}
	}
	return ""
}

func (c *collector) manifest() (*Manifest, []byte, error) {
	m := &Manifest{SchemaVersion: contract.SchemaVersion, Name: c.Name, Version: c.Version, GeneratedAt: c.GeneratedAt, Files: c.files}
	data, err := contract.Marshal(m)
	if err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(filepath.Join(c.dir, ManifestFile), data, 0o644); err != nil {
		return nil, nil, err
	}
	m, err = ParseManifest(data)
	return m, data, err
}
