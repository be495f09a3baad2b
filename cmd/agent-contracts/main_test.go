//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"agent-contracts": main}) }

// TestScripts runs the sessions of testdata/script in a small checkout: the one that package replay tests against, with
// the repository's schemas, consumer library and license.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true, Setup: func(env *testscript.Env) error {
		env.Setenv("AGENT_CONTRACTS_CACHE", filepath.Join(env.WorkDir, "cache"))
		if err := os.CopyFS(env.WorkDir, os.DirFS("../../pkg/replay/testdata/checkout")); err != nil {
			return err
		}
		if err := os.CopyFS(filepath.Join(env.WorkDir, "registry", "schemas"), os.DirFS("../../registry/schemas")); err != nil {
			return err
		}
		library, err := filepath.Glob("../../npm/*.*")
		if err != nil {
			return err
		}
		if err := os.Mkdir(filepath.Join(env.WorkDir, "npm"), 0o755); err != nil {
			return err
		}
		for _, from := range append(library, "../../LICENSE") {
			to := filepath.Join(env.WorkDir, "npm", filepath.Base(from))
			if filepath.Base(from) == "LICENSE" {
				to = filepath.Join(env.WorkDir, "LICENSE")
			}
			data, err := os.ReadFile(from)
			if err != nil {
				return err
			}
			if err := os.WriteFile(to, data, 0o644); err != nil {
				return err
			}
		}
		return nil
	}})
}
