package registry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// baseURL is the placeholder of the model server, which a live run does not have.
const baseURL = "{base_url}"

// NotLiveError says that nothing tells how a mode runs live.
type NotLiveError struct {
	Agent   contract.AgentID
	Mode    contract.ModeID
	Version contract.CLIVersion
}

func (e *NotLiveError) Error() string {
	return fmt.Sprintf("mode %s of %s cannot be captured live in release %s: add an entry to live in registry/agents/%s.json that says which hosts it may reach and which secrets it needs",
		e.Mode, e.Agent, e.Version, e.Agent)
}

// LiveMode is a resolved mode as it runs live. What points at the model server is left out of its environment. The error is an
// *UnfitError where the probe needs a model server, and a *NotLiveError where the agent's record is silent.
func LiveMode(a contract.Agent, m Mode, version contract.CLIVersion, p contract.Probe) (Mode, error) {
	unfit := func(reason string) error { return &UnfitError{a.ID, m.ID, p.ID, reason} }
	if p.ImplicitMode() != "" {
		return m, unfit("it asks no model: capture it with the scripted backend")
	}
	form, ok := a.LiveForm(m.ID, version)
	if !ok {
		return m, &NotLiveError{a.ID, m.ID, version}
	}
	if p.Staged() {
		return m, unfit("no vendor's server can be asked to fail or to stall as its script does")
	}
	if form.Argv != nil {
		if p.Conditions().Resume {
			return m, unfit("live runs of the mode have an argv of their own, and none that resumes")
		}
		m.Argv = form.Argv
	}
	if slices.ContainsFunc(m.Argv, func(arg string) bool { return strings.Contains(arg, baseURL) }) {
		return m, fmt.Errorf("argv of mode %s of %s names the model server: give the entry in live an argv", m.ID, a.ID)
	}
	m.Env = WithoutModelServer(m.Env)
	m.Echoes = slices.DeleteFunc(slices.Clone(m.Echoes), func(e contract.Echo) bool { return e.Canary == "model-server" })
	m.Live = &form
	return m, nil
}

// WithoutModelServer is an environment without what points at the model server.
func WithoutModelServer(env map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range env {
		if !strings.Contains(value, baseURL) {
			out[name] = value
		}
	}
	return out
}

// HomeFiles are the files that a run of a mode finds in its home, for a release.
func HomeFiles(a contract.Agent, m Mode, version contract.CLIVersion) []contract.HomeFile {
	files := a.HomeFiles
	if m.Live != nil && m.Live.HomeFiles != nil {
		files = m.Live.HomeFiles
	}
	var out []contract.HomeFile
	for _, file := range files {
		in, err := contract.MatchReleases(file.Releases, string(version))
		if err != nil || !in || m.Live != nil && strings.Contains(strings.Join(file.Lines, "\n"), baseURL) {
			continue
		}
		out = append(out, file)
	}
	return out
}
