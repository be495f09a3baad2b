package stage

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// derive makes the generated files of a whole registry: the index of agents and the support matrix.
func (s *Stage) derive(t *registry.Tree) (map[contract.RelPath][]byte, error) {
	matrix, err := registry.BuildMatrix(t, s.Checkout.Catalog, registry.MatrixOptions{})
	if err != nil {
		return nil, err
	}
	files := map[contract.RelPath][]byte{}
	for path, record := range map[contract.RelPath]any{"agents.json": registry.BuildIndex(s.Checkout.Catalog), "support-matrix.json": matrix} {
		if files[path], err = contract.Marshal(record); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Matrix regenerates the generated files of the checkout and gives the names of those that changed. With check nothing
// is written, and a stale file is a *FoundError.
func (s *Stage) Matrix(check bool) ([]contract.RelPath, error) {
	files, err := s.derive(s.Checkout.Tree)
	if err != nil {
		return nil, err
	}
	var stale []contract.RelPath
	for _, path := range slices.Sorted(maps.Keys(files)) {
		have, err := s.Checkout.Tree.Read(path)
		if err != nil || !bytes.Equal(have, files[path]) {
			stale = append(stale, path)
		}
	}
	if len(stale) == 0 {
		return nil, nil
	}
	if check {
		return stale, Found("generated files are not current: %v; run agent-contracts matrix", stale)
	}
	return stale, s.put("matrix", stale, files)
}

// put writes derived files into the checkout, all or none.
func (s *Stage) put(what string, paths []contract.RelPath, files map[contract.RelPath][]byte) error {
	tx, err := registry.Begin(filepath.Join(s.Dirs.Checkout, "registry"), what)
	if err != nil {
		return err
	}
	defer tx.Abort()
	for _, path := range paths {
		if err := tx.Put(path, files[path]); err != nil {
			return err
		}
	}
	return tx.Commit()
}
