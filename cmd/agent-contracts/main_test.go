//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"filippo.io/age"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/open-design/agent-cli-contracts/internal/fakeagent"
	"github.com/open-design/agent-cli-contracts/pkg/capture/mcpserver"
)

func TestMain(m *testing.M) {
	// A CLI under test starts this program by another name, as an MCP server.
	testscript.Main(m, map[string]func(){"agent-contracts": main, mcpserver.Name: main, "fake-agent": fakeagent.Main})
}

var update = flag.Bool("update", false, "rewrite the golden files of the scripts")

// TestScripts runs the sessions of testdata/script. The working directory is a small checkout with fixtures: the one that
// package replay tests against. The folder fake holds another, whose agent can be captured with --bin $FAKE. $ONLY is a
// PATH with nothing but these two programs. "onejson FILE" checks that a file, or stdout, is one JSON document.
func TestScripts(t *testing.T) {
	fake, err := exec.LookPath("fake-agent")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true, Cmds: map[string]func(*testscript.TestScript, bool, []string){"onejson": oneJSON}, Setup: func(env *testscript.Env) error {
		env.Setenv("AGENT_CONTRACTS_CACHE", filepath.Join(env.WorkDir, "cache"))
		env.Setenv("FAKE", fake)
		env.Setenv("ONLY", filepath.Dir(fake))
		return errors.Join(
			fakeagent.Checkout(filepath.Join(env.WorkDir, "fake")),
			os.CopyFS(env.WorkDir, os.DirFS("../../pkg/replay/testdata/checkout")),
			os.CopyFS(filepath.Join(env.WorkDir, "registry", "schemas"), os.DirFS("../../registry/schemas")),
			library(env.WorkDir),
			keys(env.WorkDir),
		)
	}})
}

// keys writes two pairs of age keys, which no file of a repository should hold: NAME.txt is private, NAME.pub public.
func keys(dir string) error {
	for _, name := range []string{"maintainer", "stranger"} {
		id, err := age.GenerateX25519Identity()
		if err == nil {
			err = errors.Join(
				os.WriteFile(filepath.Join(dir, name+".txt"), []byte(id.String()+"\n"), 0o600),
				os.WriteFile(filepath.Join(dir, name+".pub"), []byte(id.Recipient().String()+"\n"), 0o600))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// library copies what a package needs besides the registry: the consumer library and the license.
func library(dir string) error {
	files, err := filepath.Glob("../../npm/*.*")
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, "npm"), 0o755); err != nil {
		return err
	}
	for _, from := range append(files, "../../LICENSE") {
		to := filepath.Join(dir, "npm", filepath.Base(from))
		if filepath.Base(from) == "LICENSE" {
			to = filepath.Join(dir, "LICENSE")
		}
		data, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func oneJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: onejson FILE")
	}
	var document any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &document); err != nil {
		ts.Fatalf("%s is not one JSON document: %v", args[0], err)
	}
}
