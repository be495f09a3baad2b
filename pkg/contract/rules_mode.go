package contract

import (
	"maps"
	"slices"
	"strings"
)

var modeRules = []Rule{
	ruleFor(KindAgent, "mode/id", "A mode has an id of its own, and not one that every agent has.", func(a Agent, report reporter) {
		unique(a.Modes, func(m Mode) string { return string(m.ID) }, func(i int) {
			report(pointer("modes", i, "id"), "the id is there already", "name the mode otherwise")
		})
		for i, m := range a.Modes {
			if m.ID.Implicit() {
				report(pointer("modes", i, "id"), "an agent has this mode without declaring it", "describe it in version_probe, help or models, or name the mode otherwise")
			}
		}
	}),
	ruleFor(KindAgent, "mode/default", "For each release there is one default mode.", checkDefaultMode),
	ruleFor(KindAgent, "mode/transport", "Family, transport and stdin mode of a mode agree.", func(a Agent, report reporter) {
		for i, m := range a.Modes {
			if !slices.Contains(m.Family.Transports(), m.Transport) {
				report(pointer("modes", i, "transport"), "the family has another framing", oneOf(m.Family.Transports()))
			}
			checkStdinMode(pointer("modes", i, "stdin_mode"), m.Family, m.StdinMode, report)
		}
	}),
	ruleFor(KindAgent, "mode/client", "An RPC mode names the client profile that drives it; no other mode has one.", func(a Agent, report reporter) {
		for i, m := range a.Modes {
			switch rpc := m.Family.IsRPC(); {
			case rpc && m.Client == "":
				report(pointer("modes", i, "client"), "nothing says what the host sends", "name a profile of registry/clients")
			case !rpc && (m.Client != "" || m.AuthWith != "" || m.Selects):
				report(pointer("modes", i), "the family has no frames of the host", "leave out client, authenticate and select_model")
			}
		}
	}),
	ruleFor(KindAgent, "mode/prompt", "The prompt has a place: in argv, where no standard input carries it.", func(a Agent, report reporter) {
		for i, m := range a.Modes {
			at := pointer("modes", i)
			place, needed := map[StdinMode]string{StdinNone: "{prompt}", StdinPromptFile: "{prompt_file}"}[m.StdinMode]
			if !needed || m.Family.IsRPC() {
				continue
			}
			check := func(at string, argv []string) {
				if !slices.ContainsFunc(argv, func(arg string) bool { return strings.Contains(arg, place) }) {
					report(at+"/argv", "the prompt has no place", "add an argument with "+place+", or correct stdin_mode")
				}
			}
			for j, form := range m.Argv {
				check(at+pointer("argv", j), form.Argv)
			}
			for j, form := range m.Resume {
				if len(form.Argv) > 0 {
					check(at+pointer("resume", j), form.Argv)
				}
			}
		}
	}),
	ruleFor(KindAgent, "mode/stdin-message", "A mode that writes JSON lines says which, with a place for the prompt.", checkStdinMessage),
	ruleFor(KindAgent, "mode/mcp-server", "What gives a run an MCP server names its command.", func(a Agent, report reporter) {
		for i, m := range a.Modes {
			for j, form := range m.MCP {
				named := false
				form.texts(func(_, text string) { named = named || strings.Contains(text, "{mcp_server}") })
				if !named {
					report(pointer("modes", i, "mcp_server", j), "the command of the server has no place", "write {mcp_server} in an argument, a variable or a home file")
				}
			}
		}
	}),
	ruleFor(KindAgent, "mode/resume", "The id of a session that is continued is read where argv names it, and only there.", func(a Agent, report reporter) {
		for i, m := range a.Modes {
			for j, form := range m.Resume {
				named := slices.ContainsFunc(form.Argv, func(arg string) bool { return strings.Contains(arg, "{session}") })
				found := form.Session != "" || form.File != ""
				switch {
				case form.Session != "" && form.File != "":
					report(pointer("modes", i, "resume", j, "session_file"), "the session is found in two places", "give session or session_file")
				case m.StdinMode == StdinRPC && !found:
					report(pointer("modes", i, "resume", j, "session"), "nothing says which session the host asks for", "give the path at which the CLI names it, or its file")
				case m.StdinMode == StdinRPC && len(form.Argv) == 0:
				case len(form.Argv) == 0:
					report(pointer("modes", i, "resume", j, "argv"), "nothing says how the run is started", "write the arguments")
				case found && !named:
					report(pointer("modes", i, "resume", j, "argv"), "the id of the session has no place", "add an argument with {session}")
				case !found && named:
					report(pointer("modes", i, "resume", j, "session"), "nothing says where the id of the session is found", "give the path at which the CLI prints it")
				}
			}
		}
	}),
	ruleFor(KindAgent, "mode/trust-argv", "What is left out of argv stands there.", func(a Agent, report reporter) {
		for i, m := range a.Modes {
			for j, word := range m.TrustArgv {
				if !slices.ContainsFunc(m.Argv, func(f ArgvForm) bool { return slices.Contains(f.Argv, word) }) {
					report(pointer("modes", i, "trust_argv", j), "no argv of the mode has this word", "correct it, or remove it")
				}
			}
		}
	}),
	ruleFor(KindAgent, "mode/forbidden-flags", "argv carries a forbidden flag only where the mode says why.", checkForbiddenFlags),
	ruleFor(KindAgent, "mode/output-of", "A mode that shares another one's output names a mode of its own family that has output of its own.", checkOutputOf),
	ruleFor(KindAgent, "mode/side-requests", "A side request can be told from the conversation.", checkSideRequests),
	ruleFor(KindAgent, "mode/tools", "An intent names at least one tool.", func(a Agent, report reporter) {
		for i, m := range a.Modes {
			for _, intent := range slices.Sorted(maps.Keys(m.Tools)) {
				if tools := m.Tools[intent]; len(tools) == 0 || slices.ContainsFunc(tools, func(t Tool) bool { return t.Name == "" }) {
					report(pointer("modes", i, "tools", intent), "a tool has no name, or there is none", "name the tools in order of preference")
				}
			}
		}
	}),
}

// texts visits everything of the form that may hold placeholders.
func (f MCPForm) texts(visit func(at, text string)) {
	for i, arg := range f.Argv {
		visit(pointer("argv", i), arg)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Env)) {
		visit(pointer("env", name), f.Env[name])
	}
	for i, file := range f.HomeFiles {
		for j, line := range file.Lines {
			visit(pointer("home_files", i, "lines", j), line)
		}
	}
}

func checkStdinMessage(a Agent, report reporter) {
	for i, m := range a.Modes {
		at := pointer("modes", i, "stdin_message")
		switch {
		case m.StdinMode != StdinJSONLOpen && len(m.Stdin) > 0:
			report(at, "the mode writes no JSON lines", "leave it out, or set stdin_mode to jsonl-open")
		case m.StdinMode == StdinJSONLOpen && !holdsPrompt(m.Stdin):
			report(at, "the prompt has no place", "write the message that carries the prompt, with {prompt} where its text stands")
		}
	}
}

func holdsPrompt(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "{prompt}")
	case []any:
		return slices.ContainsFunc(v, holdsPrompt)
	case map[string]any:
		for _, member := range v {
			if holdsPrompt(member) {
				return true
			}
		}
	}
	return false
}

// checkSideRequests wants conditions: without any, the answer would stand for the whole conversation.
func checkSideRequests(a Agent, report reporter) {
	for i, m := range a.Modes {
		for j, side := range m.Side {
			if side.Model == "" && !side.WithoutTools && side.MaxTokens == 0 && side.Instructions == "" {
				report(pointer("modes", i, "side_requests", j), "the side request has no condition", "give at least one of model, without_tools, max_tokens, instructions")
			}
		}
	}
}

// checkDefaultMode wants a default wherever there is a choice, and no two for the same release.
func checkDefaultMode(a Agent, report reporter) {
	none := true
	for i, m := range a.Modes {
		if !m.Default {
			continue
		}
		none = false
		for _, earlier := range a.Modes[:i] {
			if earlier.Default && RangesOverlap(earlier.Releases, m.Releases) {
				report(pointer("modes", i, "default"), "another mode is the default of some of the same releases", "keep one default, or make the releases disjoint")
				break
			}
		}
	}
	if none && len(a.Modes) > 1 {
		report("/modes", "no mode is the default", "set default on the mode of a capture that names none")
	}
}

func checkOutputOf(a Agent, report reporter) {
	for i, m := range a.Modes {
		if m.OutputOf == "" {
			continue
		}
		at := pointer("modes", i, "output_of")
		j := slices.IndexFunc(a.Modes, func(other Mode) bool { return other.ID == m.OutputOf })
		switch {
		case j < 0 || j == i || a.Modes[j].OutputOf != "":
			report(at, "the mode named has no output of its own", "name another mode of this file that has dialects itself")
		case a.Modes[j].Family != m.Family || a.Modes[j].Transport != m.Transport:
			report(at, "the mode named has another family or framing", "share the output of a mode with the same family and transport")
		case len(m.Dialects) > 0 || len(m.Tools) > 0 || len(m.Side) > 0:
			report(at, "the mode has dialects, tools or side requests of its own as well", "leave them out, or leave out output_of")
		}
	}
}

func checkForbiddenFlags(a Agent, report reporter) {
	forbidden := map[string]bool{}
	for _, f := range a.ForbiddenFlags {
		forbidden[f.Flag] = true
	}
	check := func(m Mode, at string, argv []string) {
		for k, arg := range argv {
			flag, _, _ := strings.Cut(arg, "=")
			if _, allowed := m.Allow[flag]; forbidden[flag] && !allowed {
				report(at+pointer("argv", k), "the flag is forbidden", "remove it, or give a reason in allow_forbidden of the mode")
			}
		}
	}
	for i, form := range a.Models {
		check(Mode{}, pointer("models", i), form.Argv)
	}
	for i, l := range a.Live {
		for _, id := range l.Modes {
			if k := slices.IndexFunc(a.Modes, func(m Mode) bool { return m.ID == id }); k >= 0 {
				check(a.Modes[k], pointer("live", i), l.Argv)
			}
		}
	}
	for i, m := range a.Modes {
		for _, flag := range slices.Sorted(maps.Keys(m.Allow)) {
			at := pointer("modes", i, "allow_forbidden", flag)
			if strings.TrimSpace(m.Allow[flag]) == "" {
				report(at, "the reason is missing", "say why the mode needs the flag")
			}
			if !forbidden[flag] {
				report(at, "the flag is not forbidden", "remove the exception")
			}
		}
		for j, form := range m.Argv {
			check(m, pointer("modes", i, "argv", j), form.Argv)
		}
		for j, form := range m.Resume {
			check(m, pointer("modes", i, "resume", j), form.Argv)
		}
		for j, form := range m.Images {
			check(m, pointer("modes", i, "images", j), form.Argv)
		}
		for j, form := range m.MCP {
			check(m, pointer("modes", i, "mcp_server", j), form.Argv)
		}
	}
}
