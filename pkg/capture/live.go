package capture

import (
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/capture/egress"
	"github.com/open-design/agent-cli-contracts/pkg/capture/isolation"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// minSecret is how long a credential must be for the scanner to find it.
const minSecret = 8

// MayRunLive refuses, before anything is installed, live captures that have no account, that the agent's record does not describe, or
// that would not be isolated: a CLI that holds a real credential runs nowhere else.
func (c *Capturer) MayRunLive(agent contract.Agent, mode registry.Mode, version contract.CLIVersion) error {
	if !c.Isolate {
		return errors.New("a live capture runs isolated only: leave --no-isolation out, on Linux with namespaces (agent-contracts status --machine)")
	}
	form, ok := agent.LiveForm(mode.ID, version)
	if !ok {
		return &registry.NotLiveError{Agent: agent.ID, Mode: mode.ID, Version: version}
	}
	_, err := c.liveSecrets(&form)
	return err
}

// liveSecrets are the credentials that a live run is given, by the names of their variables.
func (c *Capturer) liveSecrets(live *contract.Live) (map[string]string, error) {
	secrets := map[string]string{}
	for _, name := range live.Secrets {
		value := c.Getenv(name)
		switch {
		case value == "":
			return nil, fmt.Errorf("the variable %s is not set: a live capture needs the account's credential in it", name)
		case len(value) < minSecret:
			return nil, fmt.Errorf("the value of %s is shorter than %d characters: it could not be found where it must not be", name, minSecret)
		}
		secrets[name] = value
	}
	return secrets, nil
}

// A wayOut is the proxy of a live run, and what of the box leads to it.
type wayOut struct {
	proxy   *egress.Proxy
	outside *isolation.Outside
	url     string
}

// wayOut makes the proxy of a live run; nil for others.
func (c *Capturer) wayOut(mode registry.Mode) (*wayOut, error) {
	if mode.Live == nil {
		return nil, nil //nolint:nilnil // a scripted run has none
	}
	proxy, err := egress.New(egress.Config{Allow: mode.Live.Egress, Lookup: c.Lookup, Dial: c.Dial})
	if err != nil {
		return nil, err
	}
	return &wayOut{proxy: proxy, outside: &isolation.Outside{Ports: proxy.Ports(), Resolve: proxy.Resolve}}, nil
}

// serve lets the child of a box out.
func (w *wayOut) serve(box *isolation.Box) {
	w.url = "http://" + box.Listener().Addr().String()
	go w.proxy.Serve(box.Listener())
	for i, l := range box.Ports() {
		go w.proxy.ServePort(l, w.outside.Ports[i])
	}
}

// close ends what is open.
func (w *wayOut) close(box *isolation.Box) error {
	err := boxed(box.Listener().Close())
	for _, l := range box.Ports() {
		err = errors.Join(err, boxed(l.Close()))
	}
	w.proxy.Close()
	return err
}

// proxyVariables make programs use a proxy that heed such variables. NODE_USE_ENV_PROXY is not among them: Node prints a warning
// for it, and reaches the proxy's checks without it.
func proxyVariables(url string) map[string]string {
	env := map[string]string{}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		env[name] = url
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		env[name] = "localhost,127.0.0.1,::1"
	}
	return env
}

// record says what went out, and adds what was refused to what was looked up and reached for past the proxy.
func (w *wayOut) record(i *contract.Isolation, names []string, a isolation.Addresses) ([]string, isolation.Addresses, []string) {
	if w == nil {
		return names, a, nil
	}
	report := w.proxy.Report()
	for _, u := range report.Used {
		i.Egress = append(i.Egress, contract.EgressUse{To: u.Rule, Connections: u.Connections, SentBytes: u.Sent, ReceivedBytes: u.Received})
	}
	names, a.Listed = slices.Concat(names, report.Names), slices.Concat(a.Listed, report.Addresses)
	slices.Sort(names)
	var findings []string
	for _, fault := range report.Faults {
		findings = append(findings, "egress: "+fault)
	}
	return slices.Compact(names), a, findings
}

// boxed drops the error of a listener that a killed box has taken with it.
func boxed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
