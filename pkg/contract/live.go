package contract

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Live says how modes run against the vendor's own servers, with an account, for a range of releases.
type Live struct {
	Modes     []ModeID          `json:"modes" jsonschema:"minItems=1,uniqueItems=true"`
	Releases  string            `json:"releases,omitempty"`
	Egress    []string          `json:"egress" jsonschema:"minItems=1,uniqueItems=true,description=Hosts that the CLI may reach: host:port or *.suffix:port; port 80 is plain HTTP\\, every other TLS"`
	Secrets   []string          `json:"secrets" jsonschema:"minItems=1,uniqueItems=true,description=Variables of the caller that hold a credential and are passed on; {secret} is the first one's value"`
	Model     string            `json:"model,omitempty" jsonschema:"pattern=^[A-Za-z0-9._/:-]{1\\,100}$,description=Model id in place of that of model_api"`
	Set       map[string]string `json:"set,omitempty" jsonschema:"description=Environment beside that of agent and mode\\, of which what names {base_url} is left out; an empty value takes a variable away"`
	HomeFiles []HomeFile        `json:"home_files,omitempty" jsonschema:"description=In place of the agent's; without them the agent's are left out that name {base_url}"`
	Argv      []string          `json:"argv,omitempty" jsonschema:"minItems=1,description=In place of the mode's\\, where that names the model server"`
	Notes     string            `json:"notes,omitempty" jsonschema:"maxLength=500"`
}

// LiveForm is how a mode of a release runs live; false where the agent's record does not say.
func (a Agent) LiveForm(mode ModeID, version CLIVersion) (Live, bool) {
	for _, l := range a.Live {
		if in, err := MatchReleases(l.Releases, string(version)); err == nil && in && slices.Contains(l.Modes, mode) {
			return l, true
		}
	}
	return Live{}, false
}

// TakesCredentials reports whether the probe runs without the agent's credentials.
func (p Probe) TakesCredentials() bool {
	return p.EnvPolicy != nil && slices.Contains(p.EnvPolicy.Unset, "{secrets}")
}

// Staged reports whether the probe needs the model server to fail, break off, stall or say nothing: no vendor's server can be
// asked for that.
func (p Probe) Staged() bool {
	return p.Script != nil && !p.TakesCredentials() && slices.ContainsFunc(p.Script.Steps, func(s ScriptStep) bool {
		return s.Error != nil || s.Drop != nil || s.Stall != nil || s.Empty
	})
}

// EgressRule is one entry of a list of hosts that a live capture may reach.
type EgressRule struct {
	Host string
	// Below says that every name below Host is meant, and not Host itself.
	Below bool
	Port  uint16
}

// egressRule is a host or *.host, and a port. Hosts are names with a dot, never addresses.
var egressRule = regexp.MustCompile(`^(\*\.)?((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24}):([0-9]{1,5})$`)

// ParseEgressRule reads host:port or *.suffix:port.
func ParseEgressRule(text string) (EgressRule, error) {
	m := egressRule.FindStringSubmatch(text)
	if m == nil {
		return EgressRule{}, fmt.Errorf("%q is no entry of an egress list: write host.example:443 or *.host.example:443", text)
	}
	port, err := strconv.ParseUint(m[3], 10, 16)
	if err != nil || port == 0 || port == 53 {
		return EgressRule{}, fmt.Errorf("%q: this port cannot be allowed", text)
	}
	return EgressRule{Host: m[2], Below: m[1] != "", Port: uint16(port)}, nil
}

// Matches reports whether a host name, in lower case, is one of the entry's.
func (r EgressRule) Matches(host string) bool {
	if r.Below {
		return strings.HasSuffix(host, "."+r.Host) && host[0] != '*' && egressRule.MatchString(host+":1")
	}
	return host == r.Host
}

// checkLive checks how an agent's modes run live.
func checkLive(a Agent, report reporter) {
	for i, l := range a.Live {
		at := pointer("live", i)
		for j, id := range l.Modes {
			if !slices.ContainsFunc(a.Modes, func(m Mode) bool { return m.ID == id }) {
				report(at+pointer("modes", j), "the agent has no such mode", "name a mode of this file")
			}
		}
		for j, text := range l.Egress {
			if _, err := ParseEgressRule(text); err != nil {
				report(at+pointer("egress", j), "the entry cannot be used", "write host.example:443 or *.host.example:443; no address, no name without a dot, no port 53")
			}
		}
		for j, name := range l.Secrets {
			_, set := l.Set[name]
			switch {
			case !variableName.MatchString(name):
				report(at+pointer("secrets", j), "the text is no name of a variable", variableRemedy)
			case set || slices.Contains(a.Environment.Pass, name):
				report(at+pointer("secrets", j), "the variable is set or passed through as well", "list it in one place: a secret that is passed through would reach a scripted run")
			}
		}
		checkVariables(at+"/set", l.Set, report)
		for j, file := range l.HomeFiles {
			if !relPath.MatchString(file.Path) {
				report(at+pointer("home_files", j, "path"), "the path is not a plain relative one", "write a path with / below the home, without . and .. steps")
			}
		}
		l.texts(func(where, text string, known []string) {
			for _, p := range placeholder.FindAllString(text, -1) {
				if p == "{base_url}" || !slices.Contains(known, p) {
					report(at+where, "a placeholder is unknown here", "a live run has no model server; "+oneOf(slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k == "{base_url}" })))
					return
				}
			}
		})
	}
}

// texts calls f for each text that may hold placeholders.
func (l Live) texts(f func(where, text string, known []string)) {
	for name, value := range l.Set {
		f(pointer("set", name), value, envPlaceholders)
	}
	for i, file := range l.HomeFiles {
		for j, line := range file.Lines {
			f(pointer("home_files", i, "lines", j), line, filePlaceholders)
		}
	}
	for i, arg := range l.Argv {
		f(pointer("argv", i), arg, argvPlaceholders)
	}
}
