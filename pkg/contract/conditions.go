package contract

import (
	"slices"
	"strings"
)

// The MCP server that a probe hands to a CLI: its name, by which agent files configure it, its one tool, and the intent
// of scripts that call it.
const (
	MCPServerName = "contracts"
	MCPServerTool = "lookup"
	MCPIntent     = "call-mcp"
)

// RunConditions are what a probe changes about a run of a mode.
type RunConditions struct {
	PromptRepeat int       `json:"prompt_repeat,omitempty" jsonschema:"minimum=2,maximum=10000,description=How often prompt.md is repeated to make the prompt"`
	PromptOn     string    `json:"prompt_on,omitempty" jsonschema:"enum=stdin,description=The probe runs only in modes that take the prompt there"`
	ExtraArgv    []string  `json:"extra_argv,omitempty" jsonschema:"minItems=1,minLength=1,description=Arguments behind those of the mode"`
	StdinOpen    bool      `json:"stdin_open,omitempty" jsonschema:"description=Standard input stays open after what the mode writes"`
	Untrusted    bool      `json:"untrusted,omitempty" jsonschema:"description=The trust_argv of the mode is left out"`
	MCPServer    bool      `json:"mcp_server,omitempty" jsonschema:"description=The run is given an MCP server with one tool\\, lookup"`
	Resume       bool      `json:"resume,omitempty" jsonschema:"description=The run continues the session of an earlier run of the same probe\\, in the same home and workspace"`
	Signal       RunSignal `json:"signal,omitempty" jsonschema:"description=Sent to the CLI when it has been silent for the inactivity limit; a second silence ends the run"`
}

// RunSignal is a signal that hosts send to end a run.
type RunSignal string

// Values lists the enum.
func (RunSignal) Values() []string { return []string{"SIGINT", "SIGTERM"} }

// maxPrompt bounds a repeated prompt, in bytes.
const maxPrompt = 1 << 20

// Conditions are what the probe changes about a run.
func (p Probe) Conditions() RunConditions {
	if p.Expected == nil || p.Expected.Run == nil {
		return RunConditions{}
	}
	return *p.Expected.Run
}

// Sent is the prompt as the CLI gets it.
func (p Probe) Sent() string {
	return strings.TrimRight(strings.Repeat(p.Prompt, max(p.Conditions().PromptRepeat, 1)), "\n")
}

// BreaksHome reports whether the agent's home files are spoilt for the probe.
func (p Probe) BreaksHome() bool { return p.EnvPolicy != nil && p.EnvPolicy.HomeFiles == "break" }

// Argv is the argument template of a run of the probe in a mode with this template and trust_argv.
func (p Probe) Argv(template, trust []string) []string {
	c := p.Conditions()
	out := slices.Clone(template)
	if c.Untrusted {
		out = slices.DeleteFunc(out, func(word string) bool { return slices.Contains(trust, word) })
	}
	return append(out, c.ExtraArgv...)
}

// conditionRules are about a whole probe: the prompt is a file of its own.
var conditionRules = []Rule{
	ruleFor(KindProbe, "probe/prompt-size", "A repeated prompt stays within what a run may be given.", func(p Probe, report reporter) {
		if len(p.Prompt)*p.Conditions().PromptRepeat > maxPrompt {
			report("/expected_min_events/run/prompt_repeat", "the prompt is longer than one mebibyte", "repeat it less often")
		}
	}),
}

// conditionChecks are about expected-min-events.json alone.
var conditionChecks = []partCheck[MinEvents]{
	{"probe/run", "Conditions of a run belong to a probe that runs a mode, and do not bring paths of a machine.", func(m MinEvents, report reporter) {
		if m.Run == nil {
			return
		}
		if m.Kind != "" && m.Kind != "run" {
			report("/run", "a probe of this kind starts no mode", "leave run out, or write kind run")
		}
		for i, arg := range m.Run.ExtraArgv {
			if machinePath.MatchString(arg) {
				report(pointer("run", "extra_argv", i), "the argument holds a path of a machine", "write one that means the same anywhere")
			}
		}
	}},
}
