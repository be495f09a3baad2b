package contracts_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/open-design/agent-cli-contracts/"

// mayImport is the direction of dependencies: which packages of pkg/ each package of pkg/ may import, in the order
// that data flows. A package below one of these inherits its row. cmd/, actions/ and internal/stage wire everything
// and stand in no row; nothing in pkg/ may import them.
var mayImport = map[string]string{
	"contract":    "",
	"scratch":     "",
	"transcript":  "contract",
	"protocol":    "contract transcript",
	"redact":      "contract transcript protocol",
	"shape":       "contract transcript protocol redact",
	"registry":    "contract scratch transcript protocol redact",
	"replay":      "contract transcript protocol redact registry",
	"upstream":    "contract scratch",
	"modelserver": "contract",
	"discover":    "contract registry upstream",
	"capture":     "contract scratch transcript protocol redact shape registry replay upstream modelserver",
	"compare":     "contract redact shape registry replay",
	"lint":        "contract transcript protocol redact shape registry replay",
	"compat":      "contract registry",
	"publish":     "contract redact registry replay lint",
	"github":      "",
	"workflow":    "",
	"notify":      "contract",
}

// source is one Go file that is no test.
type source struct {
	path string
	file *ast.File
}

// sources parses all Go code of the repository except tests.
func sources(t *testing.T) (map[string][]source, *token.FileSet) {
	t.Helper()
	packages := map[string][]source{}
	set := token.NewFileSet()
	for _, root := range []string{"pkg", "internal", "cmd", "actions"} {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
				return nil
			}
			file, err := parser.ParseFile(set, p, nil, 0)
			if err != nil {
				return err
			}
			dir := filepath.ToSlash(filepath.Dir(p))
			packages[dir] = append(packages[dir], source{filepath.ToSlash(p), file})
			return nil
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return packages, set
}

func TestImports(t *testing.T) {
	packages, _ := sources(t)
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		row, inPkg := strings.CutPrefix(dir, "pkg/")
		if !inPkg {
			continue
		}
		row, _, _ = strings.Cut(row, "/")
		allowed, listed := mayImport[row]
		if !listed {
			t.Errorf("%s has no row in mayImport: add one with its purpose to the design", dir)
			continue
		}
		for _, src := range packages[dir] {
			for _, spec := range src.file.Imports {
				name, ours := strings.CutPrefix(importPath(t, spec), module)
				if !ours {
					continue
				}
				target, isPkg := strings.CutPrefix(name, "pkg/")
				target, _, _ = strings.Cut(target, "/")
				if !isPkg || (target != row && !slices.Contains(strings.Fields(allowed), target)) {
					t.Errorf("%s imports %s: pkg/%s may import only %q", src.path, name, row, allowed)
				}
			}
		}
	}
}

func importPath(t *testing.T, spec *ast.ImportSpec) string {
	t.Helper()
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The order of the rows is one in which every package can be built after those that it may import.
func TestImportsHaveNoCycle(t *testing.T) {
	state := map[string]int{}
	var visit func(string) bool
	visit = func(name string) bool {
		if state[name] != 0 {
			return state[name] == 2
		}
		state[name] = 1
		for _, next := range strings.Fields(mayImport[name]) {
			if _, ok := mayImport[next]; !ok || !visit(next) {
				return false
			}
		}
		state[name] = 2
		return true
	}
	for name := range mayImport {
		if !visit(name) {
			t.Errorf("the row of %s leads back to itself, or to a package without a row", name)
		}
	}
}

// What a package does at start-up, and what a name like util holds, nobody can see from the outside.
func TestNamesAndInit(t *testing.T) {
	vague := []string{"util", "utils", "common", "helpers", "helper", "misc", "base", "shared", "lib"}
	packages, set := sources(t)
	for dir, files := range packages {
		if name := path.Base(dir); slices.Contains(vague, name) || name == path.Base(path.Dir(dir)) {
			t.Errorf("%s: name a package after what it holds, not vaguely and not like its parent", dir)
		}
		for _, src := range files {
			for _, decl := range src.file.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					t.Errorf("%s: no init function; let the caller build what it needs", set.Position(fn.Pos()))
				}
			}
		}
	}
}

// mentions are texts in pkg/ that hold the name of an agent and are no knowledge about it. A mention that is no longer
// there must go from the list.
var mentions = map[string]string{
	"claude-stream-json/v1":  "a protocol family of the specification",
	"qoder-stream-json/v1":   "a protocol family of the specification",
	"copilot-stream-json/v1": "a protocol family of the specification",
	"pi-rpc/v1":              "a protocol family of the specification",
	"pi-rpc":                 "a transport of the specification",
	"qoder_stop_sequence":    "a failure detail of the consumer",
	"FamilyClaude":           "a protocol family of the specification",
	"FamilyQoder":            "a protocol family of the specification",
	"FamilyCopilot":          "a protocol family of the specification",
	"FamilyPiRPC":            "a protocol family of the specification",
	"TransportPiRPC":         "a transport of the specification",
}

// noAgent is what looks like an agent's name and is none: the vendor's name of a model API, an HTML entity.
var noAgent = regexp.MustCompile(`gemini-generate|&amp;`)

// What is particular to an agent is data in registry/agents.
func TestNoAgentInCode(t *testing.T) {
	names := []string{"claude", "codex", "copilot", "cursor", "gemini", "opencode", "qoder", "pi"}
	agents, err := filepath.Glob("registry/agents/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range agents {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".json"))
	}
	slices.Sort(names)
	named := regexp.MustCompile(`(?i)(?:^|[^a-z])(?:` + strings.Join(slices.Compact(names), "|") + `)(?:[^a-z]|$)`)
	used := map[string]bool{}
	packages, set := sources(t)
	check := func(pos token.Pos, text string) {
		if !named.MatchString(words(noAgent.ReplaceAllString(text, ""))) {
			return
		}
		if used[text] = true; mentions[text] == "" {
			t.Errorf("%s: the name of an agent in code: move what is particular to it into registry/agents", set.Position(pos))
		}
	}
	for dir, files := range packages {
		if !strings.HasPrefix(dir, "pkg/") {
			continue
		}
		for _, src := range files {
			ast.Inspect(src.file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ImportSpec:
					return false
				case *ast.Ident:
					check(n.Pos(), n.Name)
				case *ast.BasicLit:
					if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
						check(n.Pos(), text)
					}
				}
				return true
			})
		}
	}
	for text := range mentions {
		if !used[text] {
			t.Errorf("the mention %q is not in the code any more: remove it from the list", text)
		}
	}
}

var camel = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// words separates the words of an identifier.
func words(name string) string { return camel.ReplaceAllString(name, "$1 $2") }
