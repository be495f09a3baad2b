// Command cmd writes the JSON Schemas of pkg/contract, twice: for the registry and for embedding.
// It runs in the folder of pkg/contract: go generate ./pkg/contract.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/open-design/agent-cli-contracts/pkg/contract/schemagen"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1)
	}
}

func run() error {
	files, err := schemagen.Generate(".")
	if err != nil {
		return err
	}
	for _, dir := range []string{"schemas", filepath.Join("..", "..", "registry", "schemas")} {
		for name, data := range files {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
