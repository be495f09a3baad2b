package registry

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
)

// FuzzAgent holds that an agent file is refused with problems that name what is wrong, or can be used: it survives
// being written and read again, and each of its modes resolves or says why not, for any release.
func FuzzAgent(f *testing.F) {
	files, err := filepath.Glob("../../registry/agents/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no agent files: %v", err)
	}
	for _, file := range append(files, "../contract/testdata/valid/all-fields.agent.json") {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "1.2.3")
		f.Add(data, "0.133.0-alpha.1")
	}
	f.Fuzz(func(t *testing.T, data []byte, version string) {
		agent, problems := contract.Decode[contract.Agent](contract.KindAgent, "agents/x.json", data)
		for _, p := range problems {
			if p.Rule == "" || p.Message == "" || p.Remedy == "" {
				t.Fatalf("an incomplete problem: %+v", p)
			}
		}
		if len(problems) > 0 {
			return
		}
		again(t, contract.KindAgent, agent)
		c := Catalog{Agents: map[contract.AgentID]contract.Agent{agent.ID: agent}}
		for _, m := range append(agent.Modes, contract.Mode{}, contract.Mode{ID: contract.ModeVersion}) {
			mode, err := ResolveMode(agent, m.ID, contract.CLIVersion(version))
			if err != nil {
				continue
			}
			if policy, err := c.Policy(agent, mode, contract.CLIVersion(version), contract.Probe{Prompt: "x"}); err == nil && policy.Templates == nil {
				t.Fatal("a policy without templates")
			}
		}
		BuildIndex(&c)
	})
}

// again writes a record and reads it back.
func again[T any](t *testing.T, kind contract.Kind, record T) {
	t.Helper()
	data, err := contract.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	back, problems := contract.Decode[T](kind, "x.json", data)
	if len(problems) > 0 {
		t.Fatalf("what was accepted is refused when it is written again: %v", problems)
	}
	if diff := cmp.Diff(record, back); diff != "" {
		t.Fatalf("(-record +again)\n%s", diff)
	}
}

func TestPromptIsText(t *testing.T) {
	_, problems, err := loadProbe(fstest.MapFS{"p/prompt.md": {Data: []byte("half \xc3")}, "p/env-policy.json": {Data: []byte("{}")}}, "p")
	if err != nil || len(problems) != 1 || problems[0].Rule != "probe/text" || problems[0].File != "probes/p/prompt.md" {
		t.Errorf("got %v, %v", problems, err)
	}
}

// FuzzProbe holds that the files of a probe are refused, or make a probe whose texts can be published.
func FuzzProbe(f *testing.F) {
	probes, err := filepath.Glob("../../probes/*")
	if err != nil || len(probes) == 0 {
		f.Fatalf("no probes: %v", err)
	}
	part := func(dir, name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			f.Fatal(err)
		}
		return data
	}
	for _, dir := range probes {
		f.Add(part(dir, "prompt.md"), part(dir, "expected-min-events.json"), part(dir, "env-policy.json"), part(dir, "script.json"))
	}
	f.Fuzz(func(t *testing.T, prompt, expected, policy, script []byte) {
		fsys := fstest.MapFS{"p/fixture-files/a.txt": {Data: []byte("a")}}
		for name, data := range map[string][]byte{"prompt.md": prompt, "expected-min-events.json": expected, "env-policy.json": policy, "script.json": script} {
			if len(data) > 0 {
				fsys["p/"+name] = &fstest.MapFile{Data: data}
			}
		}
		p, problems, err := loadProbe(fsys, "p")
		if err != nil || len(problems) > 0 {
			return
		}
		again(t, contract.KindProbe, p)
		for _, literal := range redact.LiteralsOf(p) {
			if literal == "" {
				t.Fatal("an empty literal")
			}
		}
	})
}
