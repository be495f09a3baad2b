package contracts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// workflow is what the rules below read of a workflow or of a composite action.
type workflow struct {
	name        string
	text        string
	On          yaml.Node      `yaml:"on"`
	Permissions yaml.Node      `yaml:"permissions"`
	Concurrency yaml.Node      `yaml:"concurrency"`
	Jobs        map[string]job `yaml:"jobs"`
	Inputs      map[string]any `yaml:"inputs"`
	Runs        struct {
		Using string `yaml:"using"`
		Steps []step `yaml:"steps"`
	} `yaml:"runs"`
}

type job struct {
	RunsOn      string            `yaml:"runs-on"`
	Uses        string            `yaml:"uses"`
	Timeout     int               `yaml:"timeout-minutes"`
	Permissions map[string]string `yaml:"permissions"`
	Environment any               `yaml:"environment"`
	Secrets     any               `yaml:"secrets"`
	Steps       []step            `yaml:"steps"`
	source      string            // the job as text
}

type step struct {
	Uses            string            `yaml:"uses"`
	Run             string            `yaml:"run"`
	Shell           string            `yaml:"shell"`
	If              string            `yaml:"if"`
	ContinueOnError any               `yaml:"continue-on-error"`
	With            map[string]any    `yaml:"with"`
	Env             map[string]string `yaml:"env"`
}

// writes lists every right to write that a workflow's jobs may ask for.
var writes = map[string][]string{
	"release.yml": {"contents", "actions"}, // the tag, and the start of publish
	"publish.yml": {"id-token"},            // by which the npm registry knows the workflow
}

// uploads lists every path that may become an artifact: anyone can read those of a public repository.
var uploads = []string{"out/plan.json", "out/registry", "out/private/*.raw.jsonl.age", "out/private/*.redaction-failed.json", "out/compare.json", "out/package/*.tgz"}

// rule is one condition; check returns what breaks it.
type rule struct {
	id    string
	check func(w workflow) []string
	// breaks is a workflow that the rule must refuse: a rule that never fires proves nothing.
	breaks string
}

var (
	pinned     = regexp.MustCompile(`(?m)^\s*(?:- )?uses: *([^\s#]+)(?: +# (v\d+\.\d+\.\d+))?\s*$`)
	shaPinned  = regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_./-]+@[0-9a-f]{40}$`)
	leaks      = regexp.MustCompile(`(^|[\s;|&(])(echo|printf|tee|cat|env|printenv|set -x)\b|\|\| *true|\|\| *:`)
	compound   = regexp.MustCompile(`[\n;|&]`)
	foreign    = regexp.MustCompile(`\./actions/capture|make integration`)
	secretsUse = regexp.MustCompile(`\bsecrets\b`)
)

var rules = []rule{
	{"permissions/none-at-the-top", func(w workflow) []string {
		if w.Permissions.Kind != yaml.MappingNode || len(w.Permissions.Content) > 0 {
			return []string{"write permissions: {} at the top"}
		}
		return nil
	}, "permissions: read-all\njobs: {}"},
	{"permissions/per-job", func(w workflow) (out []string) {
		for id, j := range w.Jobs {
			if j.Permissions == nil {
				out = append(out, id+": say what the job may do")
			}
			for scope, level := range j.Permissions {
				if level == "write" && !slices.Contains(writes[w.name], scope) {
					out = append(out, fmt.Sprintf("%s: may not write %s", id, scope))
				}
			}
		}
		return out
	}, "permissions: {}\njobs: {a: {permissions: {contents: write}}}"},
	{"pin/sha", func(w workflow) (out []string) {
		for _, m := range pinned.FindAllStringSubmatch(w.text, -1) {
			if !strings.HasPrefix(m[1], "./") && (!shaPinned.MatchString(m[1]) || m[2] == "") {
				out = append(out, m[1]+": pin the full commit with its version as a comment")
			}
		}
		if n := strings.Count(w.text, "uses:"); n != len(pinned.FindAllString(w.text, -1)) {
			out = append(out, "write each uses: on a line of its own")
		}
		return out
	}, "jobs:\n  a:\n    steps:\n      - uses: actions/checkout@v5\n"},
	{"triggers/pull-request-target", func(w workflow) []string {
		if w.triggers("pull_request_target") || w.triggers("issue_comment") {
			return []string{"code of strangers would run with the rights of the repository"}
		}
		return nil
	}, "on: pull_request_target\njobs: {}"},
	{"triggers/capture", func(w workflow) (out []string) {
		if !strings.HasPrefix(w.name, "capture") {
			return nil
		}
		for _, event := range w.events() {
			if event != "schedule" && event != "workflow_dispatch" {
				out = append(out, "capture may not run on "+event)
			}
		}
		return out
	}, "name: capture\non: [push]\njobs: {}"},
	{"secrets/pull-request", func(w workflow) (out []string) {
		if !w.triggers("pull_request") {
			return nil
		}
		for id, j := range w.Jobs {
			if secretsUse.MatchString(j.source) || j.Environment != nil || j.Secrets != nil {
				out = append(out, id+": no secret and no environment where a pull request runs")
			}
		}
		return out
	}, "on: pull_request\njobs: {a: {env: {T: '${{ secrets.T }}'}}}"},
	{"secrets/foreign-code", func(w workflow) (out []string) {
		for id, j := range w.Jobs {
			if foreign.MatchString(j.source) && secretsUse.MatchString(j.source) && j.Environment != "capture" {
				out = append(out, id+": a CLI runs here; a secret needs the environment capture")
			}
		}
		return out
	}, "jobs: {a: {steps: [{uses: ./actions/capture, env: {T: '${{ secrets.T }}'}}]}}"},
	{"secrets/environment", func(w workflow) (out []string) {
		for id, j := range w.Jobs {
			if (secretsUse.MatchString(j.source) || (j.Permissions["id-token"] == "write" && j.Uses == "")) && j.Environment == nil {
				out = append(out, id+": a secret or a token that signs needs a protected environment")
			}
		}
		return out
	}, "jobs: {a: {permissions: {id-token: write}}}"},
	{"run/no-expression", func(w workflow) (out []string) {
		for _, s := range w.steps() {
			if strings.Contains(s.Run, "${{") {
				out = append(out, "hand values to a script by env: "+s.Run)
			}
		}
		return out
	}, "jobs: {a: {steps: [{run: 'make x TITLE=${{ github.head_ref }}'}]}}"},
	{"run/one-quiet-command", func(w workflow) (out []string) {
		for _, s := range w.steps() {
			if leaks.MatchString(s.Run) || compound.MatchString(strings.TrimSpace(s.Run)) {
				out = append(out, "one command that prints nothing of others, or a make target: "+s.Run)
			}
		}
		return out
	}, "jobs: {a: {steps: [{run: cat out/raw.jsonl}]}}"},
	{"steps/no-continue-on-error", func(w workflow) (out []string) {
		for _, s := range w.steps() {
			if s.ContinueOnError != nil {
				out = append(out, "green by skipping: "+s.Run+s.Uses)
			}
		}
		return out
	}, "jobs: {a: {steps: [{run: make x, continue-on-error: true}]}}"},
	{"checkout/no-credentials", func(w workflow) (out []string) {
		for _, s := range w.steps() {
			if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
				out = append(out, "checkout leaves the token in the workspace: persist-credentials: false")
			}
		}
		return out
	}, "jobs: {a: {steps: [{uses: actions/checkout@v5}]}}"},
	{"checkout/base-code", func(w workflow) (out []string) {
		if w.triggers("pull_request") {
			return nil
		}
		for _, s := range w.steps() {
			if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["ref"] != nil {
				out = append(out, "only the workflow's own commit may be checked out here")
			}
		}
		return out
	}, "on: workflow_run\njobs: {a: {steps: [{uses: actions/checkout@v5, with: {ref: x}}]}}"},
	{"upload/listed", func(w workflow) (out []string) {
		for _, s := range w.steps() {
			if !strings.HasPrefix(s.Uses, "actions/upload-artifact@") {
				continue
			}
			path, _ := s.With["path"].(string)
			if !slices.Contains(uploads, path) || s.With["retention-days"] == nil || s.With["if-no-files-found"] != "error" {
				out = append(out, fmt.Sprintf("%q: upload a listed path, with retention-days and if-no-files-found: error", path))
			}
		}
		return out
	}, "jobs: {a: {steps: [{uses: actions/upload-artifact@v4, with: {path: out}}]}}"},
	{"jobs/bounded", func(w workflow) (out []string) {
		if w.Concurrency.Kind == 0 && len(w.Jobs) > 0 {
			out = append(out, "name a concurrency group")
		}
		for id, j := range w.Jobs {
			if j.Uses == "" && (j.Timeout == 0 || j.Timeout > 60 || j.RunsOn == "" || strings.Contains(j.RunsOn, "latest")) {
				out = append(out, id+": a time limit of at most 60 minutes and an exact image")
			}
		}
		return out
	}, "jobs: {a: {runs-on: ubuntu-latest}}"},
}

func (w workflow) events() []string {
	var out []string
	switch w.On.Kind {
	case yaml.ScalarNode:
		out = append(out, w.On.Value)
	case yaml.SequenceNode:
		for _, n := range w.On.Content {
			out = append(out, n.Value)
		}
	case yaml.MappingNode:
		for i := 0; i < len(w.On.Content); i += 2 {
			out = append(out, w.On.Content[i].Value)
		}
	}
	return out
}

func (w workflow) triggers(event string) bool { return slices.Contains(w.events(), event) }

func (w workflow) steps() []step {
	out := slices.Clone(w.Runs.Steps)
	for _, j := range w.Jobs {
		out = append(out, j.Steps...)
	}
	return out
}

func parseWorkflow(t *testing.T, name string, data []byte) workflow {
	t.Helper()
	w := workflow{name: name, text: string(data)}
	var sources struct {
		Jobs map[string]yaml.Node `yaml:"jobs"`
	}
	if err := yaml.Unmarshal(data, &w); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := yaml.Unmarshal(data, &sources); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for id, j := range w.Jobs {
		node := sources.Jobs[id]
		source, err := yaml.Marshal(&node)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		j.source = string(source)
		w.Jobs[id] = j
	}
	return w
}

func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := parseWorkflow(t, filepath.Base(file), data)
			for _, r := range rules {
				for _, problem := range r.check(w) {
					t.Errorf("%s: %s", r.id, problem)
				}
			}
		})
	}
}

func TestEachWorkflowRuleFires(t *testing.T) {
	for _, r := range rules {
		w := parseWorkflow(t, "capture.yml", []byte(r.breaks))
		if len(r.check(w)) == 0 {
			t.Errorf("%s does not refuse its example", r.id)
		}
	}
}

func TestActions(t *testing.T) {
	files, err := filepath.Glob("actions/*/action.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no actions: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := parseWorkflow(t, "action.yml", data)
			env := map[string]string{}
			for _, s := range w.Runs.Steps {
				if s.Run != "" && s.Shell != "bash" {
					t.Errorf("name the shell of %q", s.Run)
				}
				for name, value := range s.Env {
					env[name] = value
				}
			}
			if w.Runs.Using != "composite" {
				t.Errorf("runs.using is %q", w.Runs.Using)
			}
			for input := range w.Inputs {
				if env["INPUT_"+strings.ToUpper(input)] != "${{ inputs."+input+" }}" {
					t.Errorf("input %s does not reach the program as INPUT_%s", input, strings.ToUpper(input))
				}
			}
			for _, r := range rules {
				switch r.id {
				case "pin/sha", "run/no-expression", "run/one-quiet-command", "steps/no-continue-on-error":
					for _, problem := range r.check(w) {
						t.Errorf("%s: %s", r.id, problem)
					}
				}
			}
		})
	}
}
