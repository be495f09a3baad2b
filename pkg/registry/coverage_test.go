package registry

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Each probe of the table has another reason for its hole; two more agents have none of their own.
func TestCoverageTables(t *testing.T) {
	mode := contract.Mode{ID: "run", Family: contract.FamilyPlain, Transport: contract.TransportPlain, StdinMode: contract.StdinNone, Argv: []contract.ArgvForm{{Argv: []string{"{prompt}"}}}}
	agent := contract.Agent{
		ID: "acme", Modes: []contract.Mode{mode}, ModelAPI: []contract.ModelAPI{{Dialect: "openai-chat", Model: "m"}},
		Models: []contract.ModelsForm{{Releases: ">=2.0.0", Argv: []string{"models"}, Line: "(.+)"}},
		Holes: []contract.Hole{
			{Probe: "refused", Releases: "2.0.0", Reason: "The CLI refuses it."},
			{Probe: "chat", Mode: "run", Reason: "It never ends."},
			{Probe: "gone", Releases: "2.0.0", Reason: "It asks without end."},
		},
	}
	script := &contract.Script{Steps: []contract.ScriptStep{{Text: []string{"Hello."}}}}
	tool := &contract.Script{Steps: []contract.ScriptStep{{Tool: &contract.ToolStep{Intent: "dig"}}}}
	probes := map[contract.ProbeID]contract.Probe{}
	for _, p := range []contract.Probe{
		{ID: "chat", Script: script},
		{ID: "gone", Script: script},
		{ID: "refused", Script: script},
		{ID: "piped", Script: script, Expected: &contract.MinEvents{Run: &contract.RunConditions{PromptOn: "stdin"}}},
		{ID: "tool", Script: script, Expected: &contract.MinEvents{MustSee: []contract.EventName{"tool_use"}}},
		{ID: "digs", Script: tool},
		{ID: "host", Expected: &contract.MinEvents{Kind: "host"}},
		{ID: "list-models", Expected: &contract.MinEvents{Kind: "models"}},
	} {
		probes[p.ID] = p
	}
	b := builder{agent: agent, catalog: &Catalog{Agents: map[contract.AgentID]contract.Agent{"acme": agent}, Probes: probes}, releases: contract.ReleaseList{
		Channels: []contract.ChannelHead{{Name: "latest", Version: "2.0.0"}, {Name: "old", Version: "1.0.0"}},
		Releases: []contract.ReleaseRecord{{Version: "2.0.0"}, {Version: "1.0.0"}, {Version: "0.9.0"}},
	}, judged: []Judged{
		withdrawn("2.0.0", "chat", "run"), withdrawn("2.0.0", "gone", "run"), withdrawn("1.0.0", "gone", "run"),
	}}
	coverage := []AgentCoverage{b.coverage(), {Agent: "other", Reason: "It cannot be installed."}}
	want := `acme
  success streams                 missing
  version and model probes        missing
  tool, file and artifact flows   missing
  bidirectional RPC               the agent file has no RPC mode
  error forms                     missing
  probe        2.0.0  1.0.0
  chat             x      x
  digs             t      t
  gone             x      !
  list-models      .      -
  piped            -      -
  refused          x      .
  tool             -      -
  ! gone (1.0.0): withdrawn
  - tool (every release): no mode fits: its output has no event tool_use
  - piped (every release): no mode fits: the prompt does not come on standard input
  - list-models (1.0.0): nothing says how this agent lists its models (models)
  . list-models (2.0.0): not captured yet
  . refused (1.0.0): not captured yet
  t digs (every release): no mode names a tool for the intent dig
  x gone (2.0.0): It asks without end.
  x refused (2.0.0): The CLI refuses it.
  x chat (every release): in mode run: It never ends.
  other releases that nothing covers: 1

other
  not capturable: It cannot be installed.

` + legend + "\nother spellings, accepted wherever a probe is named: list_models\n"
	if diff := cmp.Diff(want, CoverageText(coverage)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	page := CoverageMarkdown(coverage)
	for _, line := range []string{"| probe | 2.0.0 | 1.0.0 |", "|---|---:|---:|", "| refused | x | . |", "- x refused (2.0.0): The CLI refuses it.", "Not capturable: It cannot be installed.", "other spellings, accepted wherever a probe is named: list_models"} {
		if !strings.Contains(page, line+"\n") {
			t.Errorf("no line %q in\n%s", line, page)
		}
	}
}

// A hole of one mode is none of the probe as long as another mode may show it.
func TestHoleOfOneMode(t *testing.T) {
	mode := contract.Mode{ID: "run", Family: contract.FamilyPlain, Transport: contract.TransportPlain, StdinMode: contract.StdinNone, Argv: []contract.ArgvForm{{Argv: []string{"{prompt}"}}}}
	other := mode
	other.ID = "other"
	agent := contract.Agent{
		ID: "acme", Modes: []contract.Mode{mode, other}, ModelAPI: []contract.ModelAPI{{Dialect: "openai-chat", Model: "m"}},
		Holes: []contract.Hole{{Probe: "chat", Mode: "run", Reason: "It never ends."}},
	}
	probe := contract.Probe{ID: "chat", Script: &contract.Script{Steps: []contract.ScriptStep{{Text: []string{"Hello."}}}}}
	if kind, reason := WhyNot(agent, "1.0.0", probe); kind != HoleNotCaptured {
		t.Errorf("%s: %s", kind, reason)
	}
	agent.Holes = append(agent.Holes, contract.Hole{Probe: "chat", Mode: "other", Reason: "It says nothing."})
	if kind, reason := WhyNot(agent, "1.0.0", probe); kind != HoleDeclared || reason != "in mode run: It never ends.; in mode other: It says nothing." {
		t.Errorf("%s: %s", kind, reason)
	}
}

// Releases that cannot be installed are told apart from those that nobody captured; a release whose observations back
// nothing has a column.
func TestCoverageOfReleases(t *testing.T) {
	agent := contract.Agent{
		ID: "acme", Modes: []contract.Mode{{ID: "run", Family: contract.FamilyPlain, Transport: contract.TransportPlain, Argv: []contract.ArgvForm{{Argv: []string{"{prompt}"}}}}},
		Holes: []contract.Hole{
			{Probe: "asks", Releases: "<1.0.0", Reason: "It downloads its executable."},
			{Probe: "asks", Releases: "3.0.0", Reason: "Its executable was never published."},
		},
	}
	asks := contract.Probe{ID: "asks", Expected: &contract.MinEvents{Kind: "version"}}
	b := builder{agent: agent, catalog: &Catalog{Agents: map[contract.AgentID]contract.Agent{"acme": agent}, Probes: map[contract.ProbeID]contract.Probe{"asks": asks, "chat": {ID: "chat"}}}, releases: contract.ReleaseList{
		Channels: []contract.ChannelHead{{Name: "latest", Version: "3.0.0"}},
		Releases: []contract.ReleaseRecord{{Version: "3.0.0"}, {Version: "2.0.0"}, {Version: "1.0.0"}, {Version: "0.2.0"}, {Version: "0.1.0"}},
	}, judged: []Judged{withdrawn("2.0.0", "asks", contract.ModeVersion)}}
	got := CoverageText([]AgentCoverage{b.coverage()})
	for _, line := range []string{"  probe  3.0.0  2.0.0", "  asks       x      !", "  chat       x      .", "  x asks, chat (3.0.0): Its executable was never published.",
		"  x 0.2.0, 0.1.0: It downloads its executable.", "  other releases that nothing covers: 1"} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
}

func withdrawn(v contract.CLIVersion, probe contract.ProbeID, mode contract.ModeID) Judged {
	o := contract.Observation{Agent: "acme", CLIVersion: v, Probe: probe, Command: contract.Command{Mode: mode}}
	return Judged{Record: &Record{Observation: o}, Reason: "withdrawn"}
}
