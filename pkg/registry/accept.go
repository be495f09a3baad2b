package registry

import (
	"fmt"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Accept builds in dir the tree that the base becomes with the records of an overlay: what a merged pull request
// gives. What the base has stays as it is, so the fixture of the first accepted run wins; evidence of later runs then
// names that one. derive adds the generated files of the finished tree.
func Accept(dir string, base, overlay *Tree, derive func(*Tree) (map[contract.RelPath][]byte, error)) error {
	tx, err := Begin(dir, "accept")
	if err != nil {
		return err
	}
	defer tx.Abort()
	fixtures := map[contract.Hash]contract.Hash{} // of the overlay → of the base, where both have one
	for _, p := range overlay.Files("fixtures/") {
		if !base.has(p) {
			continue
		}
		kept, err := base.hash(p)
		if err != nil {
			return err
		}
		dropped, err := overlay.hash(p)
		if err != nil {
			return err
		}
		fixtures[dropped] = kept
	}
	for _, p := range base.Files("") {
		if err := copyFile(tx, base, p, nil); err != nil {
			return err
		}
	}
	for _, p := range overlay.Files("") {
		if base.has(p) {
			continue
		}
		if err := copyFile(tx, overlay, p, fixtures); err != nil {
			return err
		}
	}
	if err := tx.Derive(derive); err != nil {
		return err
	}
	return tx.Commit()
}

func copyFile(tx *Tx, from *Tree, p string, fixtures map[contract.Hash]contract.Hash) error {
	data, err := from.Read(contract.RelPath(p))
	if err != nil {
		return fmt.Errorf("accepting %s: %w", p, err)
	}
	if len(fixtures) > 0 && strings.HasSuffix(p, ".evidence.json") {
		e, problems := contract.Decode[contract.Evidence](contract.KindEvidence, p, data)
		if len(problems) > 0 {
			return problems
		}
		if kept, ok := fixtures[e.FixtureSHA256]; ok {
			e.FixtureSHA256 = kept
			if data, err = contract.Marshal(e); err != nil {
				return err
			}
		}
	}
	return tx.Put(contract.RelPath(p), data)
}

// has reports whether the tree itself, not its base, holds the path.
func (t *Tree) has(p string) bool { _, ok := t.at[p]; return ok }

func (t *Tree) hash(p string) (contract.Hash, error) {
	data, err := t.Read(contract.RelPath(p))
	return contract.HashBytes(data), err
}
