package actiontest

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/open-design/agent-cli-contracts/internal/fakeagent"
)

var update = flag.Bool("update", false, "rewrite the golden files of the scripts")

// Scripts runs every script of testdata/script. A script finds the checkout in $WORK/checkout, the fake agent as the
// input bin, and what the step wrote in the files output and summary.md. Two more commands exist:
//
//	output NAME VALUE   the step's output NAME is VALUE
//	quiet WORD...       no file under $WORK/out/registry and nothing printed by the last command holds one of the words
func Scripts(t *testing.T) {
	agent, err := exec.LookPath("fake-agent")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"), UpdateScripts: *update, RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			for name, value := range map[string]string{
				"GITHUB_WORKSPACE": env.WorkDir, "GITHUB_OUTPUT": filepath.Join(env.WorkDir, "output"),
				"GITHUB_STEP_SUMMARY": filepath.Join(env.WorkDir, "summary.md"),
				"INPUT_CHECKOUT":      "checkout", "INPUT_CACHE": "cache", "INPUT_BIN": agent,
				// The fake's own gate; a runner's isolation is tested in package isolation.
				"INPUT_ISOLATION": "off",
			} {
				env.Setenv(name, value)
			}
			return fakeagent.Checkout(filepath.Join(env.WorkDir, "checkout"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"output": output, "quiet": quiet},
	})
}

// output checks one output of the step; the last one written counts.
func output(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: output NAME VALUE")
	}
	got, found := "", false
	lines := strings.Split(ts.ReadFile("output"), "\n")
	for i := 0; i < len(lines); i++ {
		name, delimiter, ok := strings.Cut(lines[i], "<<")
		if !ok {
			continue
		}
		var value []string
		for i++; i < len(lines) && lines[i] != delimiter; i++ {
			value = append(value, lines[i])
		}
		if name == args[0] {
			got, found = strings.Join(value, "\n"), true
		}
	}
	if !found || got != args[1] {
		ts.Fatalf("output %s is %q (set: %t), want %q", args[0], got, found, args[1])
	}
}

// quiet proves that words of the child are nowhere where the public could read them.
func quiet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: quiet WORD...")
	}
	places := map[string]string{"standard output": ts.ReadFile("stdout"), "standard error": ts.ReadFile("stderr")}
	for _, name := range []string{"output", "summary.md"} {
		if _, err := os.Stat(ts.MkAbs(name)); err == nil {
			places[name] = ts.ReadFile(name)
		}
	}
	err := filepath.WalkDir(ts.MkAbs("out"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		places[path] = string(data)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		ts.Fatalf("%v", err)
	}
	for place, text := range places {
		for _, word := range args {
			if strings.Contains(text, word) {
				ts.Fatalf("%s holds %q", place, word)
			}
		}
	}
}
