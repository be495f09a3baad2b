package stage

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/lint"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// MigrationReport says what a migration did.
type MigrationReport struct {
	Moves   []lint.Move        `json:"moves"`
	Written []contract.RelPath `json:"written"`
	Removed []contract.RelPath `json:"removed"`
}

// Migrate reads every fixture of the checkout again and moves the shapes that its dialects read differently now, all or
// none. A tree that cannot be migrated as it is gives a *FoundError.
func (s *Stage) Migrate() (*MigrationReport, error) {
	// The lock comes first: what is read must be what is changed.
	tx, err := registry.Begin(filepath.Join(s.Dirs.Checkout, "registry"), "normalize")
	if err != nil {
		return nil, err
	}
	defer tx.Abort()
	tree, err := registry.OpenTree(filepath.Join(s.Dirs.Checkout, "registry"))
	if err != nil {
		return nil, err
	}
	defer tree.Close() //nolint:errcheck // read only
	m, err := lint.Migrate(tree, lint.Options{Catalog: s.Checkout.Catalog, Known: s.known()})
	var problems contract.Problems
	if errors.As(err, &problems) {
		return nil, Found("%w", problems)
	}
	if err != nil {
		return nil, err
	}
	report := &MigrationReport{Moves: append([]lint.Move{}, m.Moves...), Written: slices.AppendSeq([]contract.RelPath{}, maps.Keys(m.Files)), Removed: []contract.RelPath{}}
	slices.Sort(report.Written)
	if len(m.Files) == 0 {
		return report, nil
	}
	for _, path := range report.Written {
		if err := tx.Put(path, m.Files[path]); err != nil {
			return nil, err
		}
	}
	for _, path := range m.Removed {
		if _, stays := m.Files[path]; stays {
			continue
		}
		if err := tx.Remove(path); err != nil {
			return nil, err
		}
		report.Removed = append(report.Removed, path)
	}
	slices.Sort(report.Removed)
	if err := tx.Derive(s.derive); err != nil {
		return nil, err
	}
	return report, tx.Commit()
}
