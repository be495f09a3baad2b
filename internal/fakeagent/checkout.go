package fakeagent

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

//go:embed all:checkout
var checkout embed.FS

// Checkout writes a checkout whose only agent is this one into the folder dir, which may be missing.
func Checkout(dir string) error {
	files, err := fs.Sub(checkout, "checkout")
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, files); err != nil {
		return err
	}
	return schemas(filepath.Join(dir, "registry", "schemas"))
}

// schemas writes the published schemas, which are generated and so not part of the embedded checkout.
func schemas(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range contract.Kind("").Values() {
		kind := contract.Kind(name)
		if kind.IsProbePart() {
			continue // parts of the schema of probes
		}
		data, err := contract.SchemaFile(kind)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name+".schema.json"), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
