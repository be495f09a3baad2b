package capture

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// Recorded is a run that a host started, with a recorder in the CLI's place.
type Recorded struct {
	Raw     *transcript.Raw
	At      time.Time
	Backend contract.Backend
	// Argv is what the host passed to the CLI, or nil where nobody knows. Only words of the agent's own record survive of it.
	Argv []string
	// Cwd and Home are the folders that the CLI had.
	Cwd, Home string
	// Findings are remarks of the recorder.
	Findings []string
}

// Import takes a recorded run the way of a captured one: redaction, shape, expectations, records. t.Version may be empty; then
// t.Bin is asked. Import closes the raw transcript.
func (c *Capturer) Import(ctx context.Context, t Target, rec Recorded) (*Result, error) {
	r := &run{
		target: t, at: rec.At, backend: rec.Backend, route: contract.RouteRecorded, findings: rec.Findings,
		exe:    executable{install: contract.Install{Source: "manual"}},
		driven: &driven{raw: rec.Raw, isolation: contract.Isolation{Kind: "none", Network: "host", User: "same"}},
	}
	defer r.close()
	if err := c.keepRaw(r); err != nil {
		return nil, err
	}
	if err := c.identify(ctx, r); err != nil {
		return nil, err
	}
	var err error
	if r.mode, err = registry.ResolveMode(t.Agent, t.Mode, r.target.Version); err != nil {
		return nil, err
	}
	r.argv = r.mode.Argv
	if rec.Argv != nil && !isForm(r.mode.Argv, rec.Argv) {
		r.argv = publicWords(t.Agent, rec.Argv)
		r.findings = append(r.findings, fmt.Sprintf("the host did not start the agent as mode %s does", r.mode.ID))
	}
	scanner, err := scan.New(scan.Config{Known: c.Known})
	if err != nil {
		return nil, err
	}
	r.place = place{cwd: rec.Cwd, home: rec.Home, scanner: scanner}
	if err := c.judge(r); err != nil {
		return nil, c.private(r, err)
	}
	if err := c.encryptRaw(r); err != nil {
		return nil, err
	}
	return c.write(r, 1)
}

// identify finds out what ran: the hash of the executable, and its version where the caller did not name it.
func (c *Capturer) identify(ctx context.Context, r *run) error {
	if r.target.Bin == "" {
		if r.target.Version == "" {
			return fmt.Errorf("the version of %s is not known: name it with --cli-version", r.target.Agent.ID)
		}
		return nil
	}
	var err error
	if r.exe, err = c.executable(ctx, r.target); err != nil || r.target.Version != "" {
		return err
	}
	if r.target.Version, err = c.askVersion(ctx, r.target, r.exe); err != nil {
		return fmt.Errorf("%w; name the version with --cli-version where the program cannot be asked", err)
	}
	if r.target.Version == "" {
		return &VersionError{}
	}
	return nil
}

// isForm reports whether argv is the template with its placeholders filled in.
func isForm(template, argv []string) bool {
	return slices.EqualFunc(template, argv, func(t, arg string) bool { return t == arg || strings.Contains(t, "{") })
}

// publicWords is a template of an argv that no mode has: words that the agent's record uses stay, the rest is the host's.
func publicWords(a contract.Agent, argv []string) []string {
	public := map[string]bool{}
	for _, m := range a.Modes {
		for _, form := range m.Argv {
			for _, word := range form.Argv {
				public[word] = true
			}
		}
	}
	out := make([]string, len(argv))
	for i, word := range argv {
		if out[i] = "{arg}"; public[word] && !strings.Contains(word, "{") {
			out[i] = word
		}
	}
	return out
}
