package lint

import (
	"fmt"
	"maps"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
)

var catalogRules = []Rule{
	{
		ID: "agent/dialects", Purpose: "Every dialect of an agent compiles.", Severity: Error,
		tree: func(s *state, report reporter) {
			s.eachMode(func(file, at string, _ contract.Agent, m contract.Mode) {
				for i, d := range m.Dialects {
					if d.Extends != "" {
						family, _, err := protocol.FamilyDialect(m.Family)
						if err != nil {
							report(file, fmt.Sprintf("%s/dialects/%d", at, i), err.Error(), "correct the entry")
							continue
						}
						d = protocol.Extend(family, d)
					}
					if _, err := protocol.Compile(d); err != nil {
						report(file, fmt.Sprintf("%s/dialects/%d", at, i), err.Error(), "correct the entry")
					}
				}
				if m.Family != contract.FamilyPlain && !m.Family.IsRPC() && len(m.Dialects) == 0 && m.OutputOf == "" {
					report(file, at+"/dialects", "the mode has no dialect, so its frames cannot be read", "add one")
				}
			})
		},
	},
	{
		ID: "agent/client", Purpose: "An RPC mode is driven by a client profile that speaks its family and takes its steps.", Severity: Error,
		tree: func(s *state, report reporter) {
			s.eachMode(func(file, at string, _ contract.Agent, m contract.Mode) {
				if !m.Family.IsRPC() {
					return
				}
				client, err := s.catalog.Client(m.Client, m.Family)
				switch {
				case err != nil:
					report(file, at+"/client", "no profile of this name speaks the family", "add registry/clients/<id>.json, or correct the name")
				case m.AuthWith != "" && (client.ACP == nil || !slices.Contains(client.ACP.Steps, contract.StepAuthenticate)):
					report(file, at+"/authenticate", "the host of this profile does not authenticate", "leave it out, or name another profile")
				case m.Selects && (client.ACP == nil || !slices.Contains(client.ACP.Steps, contract.StepModel)):
					report(file, at+"/select_model", "the host of this profile selects no model", "leave it out, or name another profile")
				}
			})
		},
	},
	{
		ID: "agent/intents", Purpose: "The intents that a mode has tools for are intents of a probe's script.", Severity: Error,
		tree: func(s *state, report reporter) {
			s.eachMode(func(file, at string, _ contract.Agent, m contract.Mode) {
				used := s.intents(func(contract.Probe) bool { return true })
				for _, intent := range slices.Sorted(maps.Keys(m.Tools)) {
					if !used[intent] {
						report(file, at+"/tools/"+intent, "no probe's script has this intent", "correct its name, or remove it")
					}
				}
			})
		},
	},
	{
		ID: "agent/tools", Purpose: "A mode has a tool for every intent of the probes' scripts.", Severity: Warning,
		tree: func(s *state, report reporter) {
			s.eachMode(func(file, at string, a contract.Agent, m contract.Mode) {
				fits := func(p contract.Probe) bool {
					hole := slices.ContainsFunc(a.Holes, func(h contract.Hole) bool {
						return h.Probe == p.ID && h.Releases == "" && (h.Mode == "" || h.Mode == m.ID)
					})
					return !hole && (p.Host == nil || m.Family.IsRPC() || p.Host.OnlyImages() && len(m.Images) > 0) && (!p.Conditions().MCPServer || len(m.MCP) > 0)
				}
				for _, intent := range slices.Sorted(maps.Keys(s.intents(fits))) {
					if len(m.Tools[intent]) == 0 && m.OutputOf == "" && a.NotCapturable == "" && len(a.ModelAPI) > 0 {
						report(file, at+"/tools", "the mode has no tool for the intent "+intent, "add the tool, so that the probe can be captured")
					}
				}
			})
		},
	},
	{
		ID: "agent/holes", Purpose: "A hole is one of a probe that exists, and no observation that stands fills it.", Severity: Error,
		tree: checkHoles,
	},
	{
		ID: "agent/aliases", Purpose: "An alias names one agent.", Severity: Error,
		tree: func(s *state, report reporter) {
			if s.catalog == nil {
				return
			}
			owner := map[string]contract.AgentID{}
			for id := range s.catalog.Agents {
				owner[string(id)] = id
			}
			for _, id := range slices.Sorted(maps.Keys(s.catalog.Agents)) {
				for i, alias := range s.catalog.Agents[id].Aliases {
					if other, taken := owner[alias]; taken && other != id {
						report(agentFile(id), fmt.Sprintf("/aliases/%d", i), "another agent has this id or alias", "name each agent by aliases of its own")
					}
					owner[alias] = id
				}
			}
		},
	},
	{
		ID: "diagnostics/examples", Purpose: "A diagnostic template matches its examples, none of its counter-examples, and what it makes of a message.", Severity: Error,
		tree: func(s *state, report reporter) {
			for file, d := range s.diagnostics {
				for i, t := range d.Templates {
					checkTemplate(file, fmt.Sprintf("/templates/%d", i), t, report)
				}
				if s.catalog != nil {
					if _, ok := s.catalog.Agents[d.Agent]; !ok {
						report(file, "/agent", "no agent has this id", "add registry/agents/<id>.json, or correct the id")
					}
				}
			}
		},
	},
}

func agentFile(id contract.AgentID) string { return "agents/" + string(id) + ".json" }

func checkHoles(s *state, report reporter) {
	if s.catalog == nil {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(s.catalog.Agents)) {
		for i, h := range s.catalog.Agents[id].Holes {
			if _, ok := s.catalog.Probes[h.Probe]; !ok && !s.overlay() {
				report(agentFile(id), fmt.Sprintf("/holes/%d/probe", i), "there is no such probe", "add the folder probes/<id>, or correct the id")
			}
		}
	}
	for _, rec := range s.records.Observations {
		if rec.Withdrawn() {
			continue // it shows nothing: the hole may be what says why
		}
		o := rec.Observation
		for i, h := range s.catalog.Agents[o.Agent].Holes {
			if !h.Denies(o.Probe, o.CLIVersion, o.Command.Mode) {
				continue
			}
			if s.overlay() { // the agent file is the base's, and what fills the hole is handed over here
				report(string(rec.Path), "/probe", fmt.Sprintf("the agent file declares a hole here (holes/%d)", i), "narrow the releases of the hole in registry/agents/<agent>.json, or remove it")
			} else {
				report(agentFile(o.Agent), fmt.Sprintf("/holes/%d", i), fmt.Sprintf("release %s has an observation of the probe", o.CLIVersion), "narrow the hole's releases, or remove it")
			}
		}
	}
}

// eachMode visits the declared modes of all agents of this tree.
func (s *state) eachMode(visit func(file, at string, a contract.Agent, m contract.Mode)) {
	if s.catalog == nil || s.overlay() {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(s.catalog.Agents)) {
		for i, m := range s.catalog.Agents[id].Modes {
			visit(agentFile(id), fmt.Sprintf("/modes/%d", i), s.catalog.Agents[id], m)
		}
	}
}

// intents are those of the scripts of the probes that fit.
func (s *state) intents(fits func(contract.Probe) bool) map[string]bool {
	used := map[string]bool{}
	for _, p := range s.catalog.Probes {
		if p.Script == nil || !fits(p) {
			continue
		}
		for _, step := range p.Script.Steps {
			if step.Tool != nil {
				used[step.Tool.Intent] = true
			}
		}
	}
	return used
}

func checkTemplate(file, at string, t contract.DiagnosticTemplate, report reporter) {
	compiled, err := redact.CompileTemplates([]contract.DiagnosticTemplate{t}, nil)
	if err != nil {
		report(file, at, err.Error(), "correct the template")
		return
	}
	for i, example := range t.Match {
		where := fmt.Sprintf("%s/match/%d", at, i)
		text, _, ok := compiled.Recognise(example)
		if !ok {
			report(file, where, "the template does not match its own example", "correct one of them")
			continue
		}
		if again, _, ok := compiled.Recognise(text); !ok || again != text {
			report(file, where, "what the template makes of the example is not left alone when it is read again", "type its holes so that each matches its own placeholder")
		}
	}
	for i, example := range t.NoMatch {
		if _, _, ok := compiled.Recognise(example); ok {
			report(file, fmt.Sprintf("%s/no_match/%d", at, i), "the template matches its counter-example", "make the literal text longer or the holes narrower")
		}
	}
}
