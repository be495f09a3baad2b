package contracts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/lint"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

func openRegistry(t *testing.T) (*registry.Tree, *registry.Catalog) {
	t.Helper()
	tree, err := registry.OpenTree("registry")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	catalog, err := registry.LoadCatalog(tree, "probes")
	if err != nil {
		t.Fatalf("agents, diagnostics or probes are not valid:\n%v", err)
	}
	return tree, catalog
}

// The committed registry keeps every rule of package lint. Each file is a subtest, so that a failure names the record.
func TestRegistry(t *testing.T) {
	tree, catalog := openRegistry(t)
	findings, err := lint.Run(tree, lint.Options{Catalog: catalog, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	byFile := map[string]lint.Findings{}
	for _, f := range findings {
		byFile[f.File] = append(byFile[f.File], f)
	}
	check := func(name string, found lint.Findings) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range found {
				if f.Severity == lint.Error {
					t.Error(f)
				} else {
					t.Log(f)
				}
			}
		})
	}
	for _, file := range tree.Files("") {
		check(file, byFile[file])
		delete(byFile, file)
	}
	for file, found := range byFile { // files that should be there
		check(file, found)
	}
}

// What is generated is committed as it would be generated now. The difference shows what a change of the records did
// to the claims.
func TestRegistryIsGenerated(t *testing.T) {
	tree, catalog := openRegistry(t)
	t.Run("agents.json", func(t *testing.T) {
		t.Parallel()
		regenerated(t, tree, registry.IndexPath, contract.KindAgentsIndex, func(contract.AgentIndex) (contract.AgentIndex, error) {
			return registry.BuildIndex(catalog), nil
		})
	})
	t.Run("support-matrix.json", func(t *testing.T) {
		t.Parallel()
		regenerated(t, tree, registry.MatrixPath, contract.KindSupportMatrix, func(committed contract.SupportMatrix) (contract.SupportMatrix, error) {
			return registry.BuildMatrix(tree, catalog, registry.MatrixOptions{OpenDesignMinCommit: committed.OpenDesignMinCommit})
		})
	})
}

func regenerated[T any](t *testing.T, tree *registry.Tree, path contract.RelPath, kind contract.Kind, generate func(committed T) (T, error)) {
	t.Helper()
	if !tree.Has(path) && len(tree.Files("observations/")) == 0 {
		t.Skip("nothing was observed yet, so nothing is claimed")
	}
	data, err := tree.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	committed, problems := contract.Decode[T](kind, string(path), data)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want, err := generate(committed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := contract.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), string(data)); diff != "" {
		t.Errorf("generate it again: -generated +committed\n%s", diff)
	}
}
