package registry

import (
	"fmt"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
)

// Mode is a mode of an agent resolved for one release: what starts, and how its output is read.
type Mode struct {
	ID        contract.ModeID
	Family    contract.Family
	Transport contract.Transport
	Stdin     contract.StdinMode
	Argv      []string
	// Trust are the words of Argv that make the CLI trust its working directory.
	Trust []string
	// Message is the line that a jsonl-open mode writes.
	Message map[string]any
	Env     map[string]string
	Tools   map[string][]contract.Tool
	Side    []contract.SideRequest
	// Client, Authenticate and SelectModel say how a host speaks in an RPC mode.
	Client       contract.ClientID
	Authenticate string
	SelectModel  bool
	// MCP is how a run is given an MCP server; nil where it cannot be.
	MCP *contract.MCPForm
	// Resume is how a run continues a session; nil where it cannot.
	Resume *contract.ResumeForm
	// Images is how a run is given an image; nil where it cannot be.
	Images *contract.ImageForm
	// Models says how the listing of the mode models is read; nil in all other modes.
	Models *contract.ModelsForm
	// Dialect reads the frames; nil for plain modes.
	Dialect *protocol.Dialect
	// OwnSandbox says that the CLI confines its own commands by mounts.
	OwnSandbox bool
	// Echoes are the canaries that the CLI prints by itself.
	Echoes []contract.Echo
	// Live is how the mode runs against the vendor's own servers; nil in a scripted run.
	Live *contract.Live
	// TextEvent is what a line of a plain mode means.
	TextEvent contract.EventName
}

// ResolveMode resolves a mode for a release. The modes "version" and "help" exist for every agent, "models" for one that
// says how the release lists its models; an empty id is the agent's default mode.
func ResolveMode(a contract.Agent, id contract.ModeID, version contract.CLIVersion) (Mode, error) {
	if id == contract.ModeVersion && a.VersionProbe.Handshake != "" {
		return Mode{}, fmt.Errorf("%s names its version only in the handshake of mode %s: capture a probe of that mode", a.ID, a.VersionProbe.Handshake)
	}
	if id == contract.ModeVersion {
		return Mode{ID: id, Family: contract.FamilyPlain, Transport: contract.TransportPlain, Stdin: contract.StdinNone, Argv: a.VersionProbe.Argv, TextEvent: "version_reported"}, nil
	}
	if id == contract.ModeModels {
		form, ok := modelsForm(a, version)
		if !ok {
			return Mode{}, fmt.Errorf("%s: release %s: %s", a.ID, version, noModels)
		}
		return Mode{ID: id, Family: contract.FamilyPlain, Transport: contract.TransportPlain, Stdin: contract.StdinNone, Argv: form.Argv, Models: &form, TextEvent: "models_listed"}, nil
	}
	if id == contract.ModeHelp {
		return Mode{ID: id, Family: contract.FamilyPlain, Transport: contract.TransportPlain, Stdin: contract.StdinNone, Argv: HelpCommands(a)[0].Argv, TextEvent: "init_or_status"}, nil
	}
	src, err := findMode(a, id, version)
	if err != nil {
		return Mode{}, err
	}
	m := Mode{ID: src.ID, Family: src.Family, Transport: src.Transport, Stdin: src.StdinMode, Message: src.Stdin, Env: src.Env, Tools: src.Tools, Trust: src.TrustArgv, Side: src.Side, OwnSandbox: src.Sandbox != "", TextEvent: "assistant_text"}
	m.Client, m.Authenticate, m.SelectModel, m.Echoes = src.Client, src.AuthWith, src.Selects, src.Echoes
	if ok, err := contract.MatchReleases(src.Releases, string(version)); err != nil || !ok {
		return m, fmt.Errorf("mode %s of %s does not exist in release %s (%s)", src.ID, a.ID, version, src.Releases)
	}
	form, ok := First(src.Argv, version, func(f contract.ArgvForm) string { return f.Releases })
	if !ok {
		return m, fmt.Errorf("mode %s of %s has no argv for release %s: add a range to registry/agents/%s.json", src.ID, a.ID, version, a.ID)
	}
	m.Argv = form.Argv
	if resume, ok := First(src.Resume, version, func(f contract.ResumeForm) string { return f.Releases }); ok {
		m.Resume = &resume
	}
	if images, ok := First(src.Images, version, func(f contract.ImageForm) string { return f.Releases }); ok {
		m.Images = &images
	} else if src.Family.IsRPC() {
		m.Images = &contract.ImageForm{LinkOnly: src.Family == contract.FamilyACP}
	}
	if mcp, ok := First(src.MCP, version, func(f contract.MCPForm) string { return f.Releases }); ok {
		m.MCP = &mcp
	}
	if src.OutputOf != "" {
		shared, err := findMode(a, src.OutputOf, version)
		if err != nil {
			return m, fmt.Errorf("mode %s of %s: output_of: %w", src.ID, a.ID, err)
		}
		src.Dialects, m.Tools, m.Side = shared.Dialects, shared.Tools, shared.Side
	}
	if src.Family == contract.FamilyPlain {
		return m, nil
	}
	d, err := dialect(a, src, version)
	if err != nil {
		return m, err
	}
	m.Dialect, err = protocol.Compile(d)
	return m, err
}

// PromptOf is the prompt of a probe as a run of the mode gets it.
func (m Mode) PromptOf(p contract.Probe) string {
	image := p.Image()
	if image == nil || m.Images == nil || m.Images.Prompt == "" {
		return p.Sent()
	}
	return contract.Placeholders(map[string]string{"prompt": p.Sent(), "image": image.Name}).Replace(m.Images.Prompt)
}

// UnfitError says that a probe cannot run in a mode, or not with an agent at all. That is no fault of either.
type UnfitError struct {
	Agent  contract.AgentID
	Mode   contract.ModeID
	Probe  contract.ProbeID
	Reason string
}

func (e *UnfitError) Error() string {
	return fmt.Sprintf("probe %s does not fit mode %s of %s: %s", e.Probe, e.Mode, e.Agent, e.Reason)
}

// ProbeMode resolves the mode that a probe runs in: the one named, else the agent's default, else the first one that fits.
func ProbeMode(a contract.Agent, id contract.ModeID, version contract.CLIVersion, p contract.Probe) (Mode, error) {
	if implicit := p.ImplicitMode(); implicit != "" {
		if id.Implicit() && id != implicit {
			return Mode{}, &UnfitError{a.ID, id, p.ID, onlyItsKind}
		}
		if _, ok := modelsForm(a, version); implicit == contract.ModeModels && !ok {
			return Mode{}, &UnfitError{a.ID, implicit, p.ID, noModels}
		}
		return ResolveMode(a, implicit, version)
	}
	m, err := ResolveMode(a, id, version)
	if err != nil {
		return m, err
	}
	reason := unfit(a, m, p)
	if reason == "" {
		return m, nil
	}
	for _, other := range a.Modes {
		if id != "" {
			break
		}
		if o, err := ResolveMode(a, other.ID, version); err == nil && unfit(a, o, p) == "" {
			return o, nil
		}
	}
	return m, &UnfitError{a.ID, m.ID, p.ID, reason}
}

// Fits reports whether any mode of an agent, in any release, can run a probe.
func Fits(a contract.Agent, p contract.Probe) bool {
	if p.ImplicitMode() == contract.ModeVersion && a.VersionProbe.Handshake != "" {
		return false // the handshake of every run is checked, and there is nothing else to see
	}
	if p.ImplicitMode() == contract.ModeModels {
		return len(a.Models) > 0
	}
	if p.ImplicitMode() != "" || len(a.Modes) == 0 {
		return true
	}
	return slices.ContainsFunc(a.Modes, func(m contract.Mode) bool {
		mode := Mode{Family: m.Family, Stdin: m.StdinMode, Trust: m.TrustArgv}
		if len(m.MCP) > 0 {
			mode.MCP = &m.MCP[0]
		}
		if len(m.Resume) > 0 {
			mode.Resume = &m.Resume[0]
		}
		if len(m.Images) > 0 {
			mode.Images = &m.Images[0]
		} else if m.Family.IsRPC() {
			mode.Images = &contract.ImageForm{}
		}
		return unfit(a, mode, p) == ""
	})
}

// onlyItsKind is why a version, help or models command shows nothing of any other probe.
const onlyItsKind = "the command is for probes of its own kind only"

// RunsIn reports whether a mode is of the kind that a probe starts: one of version, help and models for the probes of that
// kind, and one of the agent's own for all others. What a host recorded may be either.
func RunsIn(p contract.Probe, mode contract.ModeID) bool {
	implicit := p.ImplicitMode()
	return p.HostOnly() || mode == implicit || implicit == "" && !mode.Implicit()
}

// unfit says why a probe cannot run in a mode; empty where it can.
func unfit(a contract.Agent, m Mode, p contract.Probe) string {
	switch c := p.Conditions(); {
	case m.ID.Implicit():
		return onlyItsKind
	case len(a.ModelAPI) == 0 && p.NeedsModel():
		return "the agent names no model API to play its script in"
	case c.PromptOn == "stdin" && (m.Stdin == contract.StdinNone || m.Stdin == contract.StdinPromptFile):
		return "the prompt does not come on standard input"
	case c.Untrusted && len(m.Trust) == 0:
		return "it has no trust_argv to leave out"
	case c.MCPServer && m.MCP == nil:
		return "nothing says how a run is given an MCP server (mcp_server)"
	case c.Resume && m.Resume == nil:
		return "nothing says how a run continues a session (resume)"
	case p.BreaksHome() && len(a.HomeFiles) == 0:
		return "the agent has no home files to break"
	case p.Image() != nil && m.Images == nil:
		return "nothing says how a run is given an image (images)"
	case p.Host != nil && !p.Host.OnlyImages() && m.Stdin != contract.StdinRPC:
		return "it is no RPC mode, so there is nothing that the host could answer or cancel"
	case p.Host != nil && p.Host.Script != nil && m.Family != contract.FamilyACP:
		return "the host's requests are those of the Agent Client Protocol, and it speaks another"
	case m.Stdin == contract.StdinRPC && (c.Signal != "" || c.StdinOpen):
		return "the host of an RPC mode ends the run by its frames"
	}
	return unshown(m, p)
}

// unshown says which tool event a probe must show and the output of the mode cannot: plain text has none, nor has a
// dialect that reads none. A mode that is not resolved for a release has no dialect, and may show everything.
func unshown(m Mode, p contract.Probe) string {
	if p.Expected == nil || m.Dialect == nil && m.Family != contract.FamilyPlain {
		return ""
	}
	for _, event := range []contract.EventName{"tool_use", "tool_result"} {
		shows := m.Dialect != nil && slices.ContainsFunc(m.Dialect.Source.Events, func(r contract.EventRule) bool { return r.Event == event })
		if slices.Contains(p.Expected.MustSee, event) && !shows {
			return "its output has no event " + string(event)
		}
	}
	return ""
}

// noModels is why a release has no mode models. RPC modes name models in their session; that is no listing of its own.
const noModels = "nothing says how this agent lists its models (models)"

func modelsForm(a contract.Agent, version contract.CLIVersion) (contract.ModelsForm, bool) {
	return First(a.Models, version, func(f contract.ModelsForm) string { return f.Releases })
}

// HelpCommands are the help pages of an agent; one that declares none is asked with --help.
func HelpCommands(a contract.Agent) []contract.HelpCommand {
	if len(a.Help) == 0 {
		return []contract.HelpCommand{{Argv: []string{"--help"}}}
	}
	return a.Help
}

// VersionMode is the mode in which an agent is asked for its version: that of the version command, or one whose handshake
// names it.
func VersionMode(a contract.Agent, version contract.CLIVersion) (Mode, error) {
	if a.VersionProbe.Handshake != "" {
		return ResolveMode(a, a.VersionProbe.Handshake, version)
	}
	return ResolveMode(a, contract.ModeVersion, version)
}

// dialect picks the dialect of a release; an RPC family has one of its own, which the agent's may extend.
func dialect(a contract.Agent, m contract.Mode, version contract.CLIVersion) (contract.Dialect, error) {
	family, has, err := protocol.FamilyDialect(m.Family)
	if err != nil {
		return family, err
	}
	d, ok := First(m.Dialects, version, func(d contract.Dialect) string { return d.Releases })
	switch {
	case ok && d.Extends != "":
		return protocol.Extend(family, d), nil
	case ok:
		return d, nil
	case has:
		return family, nil
	}
	return d, fmt.Errorf("mode %s of %s has no dialect for release %s: add a range to registry/agents/%s.json", m.ID, a.ID, version, a.ID)
}

// findMode finds a mode by id; without one, the default of the release.
func findMode(a contract.Agent, id contract.ModeID, version contract.CLIVersion) (contract.Mode, error) {
	var known []string
	for _, m := range a.Modes {
		exists, err := contract.MatchReleases(m.Releases, string(version))
		if m.ID == id || (id == "" && err == nil && exists && (m.Default || len(a.Modes) == 1)) {
			return m, nil
		}
		known = append(known, string(m.ID))
	}
	return contract.Mode{}, &UnknownError{"mode of " + string(a.ID), string(id), append(known, string(contract.ModeVersion), string(contract.ModeHelp), string(contract.ModeModels))}
}

// First is the rule of every ranged list of an agent record: the first entry whose range holds the version.
func First[T any](list []T, version contract.CLIVersion, releases func(T) string) (T, bool) {
	for _, entry := range list {
		if ok, err := contract.MatchReleases(releases(entry), string(version)); err == nil && ok {
			return entry, true
		}
	}
	var zero T
	return zero, false
}

// ModelAPI gives the model API that a release speaks.
func ModelAPI(a contract.Agent, version contract.CLIVersion) (contract.ModelAPI, bool) {
	return First(a.ModelAPI, version, func(m contract.ModelAPI) string { return m.Releases })
}

// Policy says what may survive in a transcript of a mode, for the probes named. The caller adds what only a run
// knows: its folders, and the scanner.
func (c *Catalog) Policy(a contract.Agent, m Mode, version contract.CLIVersion, probes ...contract.Probe) (redact.Policy, error) {
	p := redact.Policy{Family: m.Family, Transport: m.Transport, Dialect: m.Dialect}
	for _, probe := range probes {
		p.Literals = append(p.Literals, redact.LiteralsOf(probe)...)
		if probe.Conditions().MCPServer { // a CLI that knows namespaces prints the two apart
			p.Vocabulary = append(p.Vocabulary, contract.MCPServerName, contract.MCPServerTool)
			for _, tool := range m.Tools[contract.MCPIntent] { // the two joined as no word of a protocol is
				p.Vocabulary = append(p.Vocabulary, tool.Name)
			}
		}
		if text := m.PromptOf(probe); text != probe.Sent() {
			p.Literals = append(p.Literals, text)
		}
	}
	if client, ok := c.Clients[m.Client]; ok && client.ACP != nil {
		p.Vocabulary = append(p.Vocabulary, client.ACP.Info.Name, client.ACP.Info.Version)
	}
	if m.Authenticate != "" {
		p.Vocabulary = append(p.Vocabulary, m.Authenticate)
	}
	if api, ok := ModelAPI(a, version); ok {
		p.Vocabulary = append(p.Vocabulary, api.Model)
	}
	var templates []contract.DiagnosticTemplate
	if m.ID == contract.ModeVersion {
		templates = append(templates, contract.DiagnosticTemplate{ID: "version", Text: a.VersionProbe.Template, Holes: map[string]string{"version": "version"}, Class: "diagnostic"})
	}
	for _, t := range c.Diagnostics[a.ID] {
		if ok, err := contract.MatchReleases(t.Releases, string(version)); err == nil && ok {
			templates = append(templates, t)
		}
	}
	var err error
	p.Templates, err = redact.CompileTemplates(templates, p.Literals)
	return p, err
}
