// Package stage wires the packages of pkg/ for one process. The verbs of the terminal program and the action binaries
// both call it, so that what runs on a maintainer's machine is what runs in the pipeline.
package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"filippo.io/age"

	"github.com/open-design/agent-cli-contracts/pkg/capture/rawbundle"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/upstream"
)

// ToolVersion is the version of this tool; the release workflow tags it.
const ToolVersion contract.ToolVersion = "0.1.0"

// Exit codes of every verb and action.
const (
	// ExitDone means that it was done and there is nothing to report.
	ExitDone = 0
	// ExitFound means that something was found: drift, findings, an incompatible shape.
	ExitFound = 1
	// ExitUnknown means that it could not tell, or that it was called wrongly.
	ExitUnknown = 2
)

// FoundError marks a result that is an answer, not a fault: the process exits with 1.
type FoundError struct{ Err error }

func (e *FoundError) Error() string { return e.Err.Error() }
func (e *FoundError) Unwrap() error { return e.Err }

// Found wraps an answer.
func Found(format string, args ...any) error { return &FoundError{fmt.Errorf(format, args...)} }

// ExitCode maps an error to the exit code.
func ExitCode(err error) int {
	var found *FoundError
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &found):
		return ExitFound
	}
	return ExitUnknown
}

// Env is everything of the outside world that a stage touches.
type Env struct {
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Now            func() time.Time
	Random         io.Reader
	// Progress is told what happens.
	Progress func(format string, args ...any)
}

// Dirs are the folders of a process.
type Dirs struct {
	// Checkout holds registry/ and probes/. Out gets what a stage makes. Cache holds installs and listings.
	Checkout, Out, Cache string
}

// DefaultCache is the cache folder of this user.
func DefaultCache() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache folder: %w; name one with --cache", err)
	}
	return filepath.Join(dir, "agent-cli-contracts"), nil
}

// Stage is a process's wiring.
type Stage struct {
	Env
	Dirs
	Checkout *registry.Checkout
	NPM      *upstream.NPM
	Platform contract.Platform
	// Recipients can open raw bundles.
	Recipients []age.Recipient
	// Lookup and Dial are the way out of live captures; nil is the system's own.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial   func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

// Open opens the checkout and the cache.
func Open(env Env, dirs Dirs) (*Stage, error) {
	checkout, err := registry.OpenCheckout(dirs.Checkout)
	if err != nil {
		return nil, err
	}
	recipients, err := rawbundle.Recipients(filepath.Join(dirs.Checkout, rawbundle.RecipientsFile))
	if err != nil {
		return nil, errors.Join(err, checkout.Tree.Close())
	}
	env.Progress = inTurn(env.Progress)
	return &Stage{
		Recipients: recipients,
		Env:        env, Dirs: dirs, Checkout: checkout, NPM: &upstream.NPM{CacheDir: filepath.Join(dirs.Cache, "installs")},
		Platform: contract.PlatformOf(runtime.GOOS, runtime.GOARCH),
	}, nil
}

// inTurn lets goroutines that run side by side report one after another.
func inTurn(progress func(string, ...any)) func(string, ...any) {
	var mu sync.Mutex
	return func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		progress(format, args...)
	}
}

// Close frees the checkout.
func (s *Stage) Close() error { return s.Checkout.Tree.Close() }

// runner names the kind of machine, never the machine.
func (s *Stage) runner() string {
	if image := s.Getenv("ImageOS"); s.Getenv("GITHUB_ACTIONS") == "true" && image != "" {
		return "github-actions/" + image + "-" + runtime.GOARCH
	}
	return "local/" + string(s.Platform)
}

func (s *Stage) workflowURL() *contract.HTTPSURL {
	server, repo, id := s.Getenv("GITHUB_SERVER_URL"), s.Getenv("GITHUB_REPOSITORY"), s.Getenv("GITHUB_RUN_ID")
	if server == "" || repo == "" || id == "" {
		return nil
	}
	url := contract.HTTPSURL(server + "/" + repo + "/actions/runs/" + id)
	return &url
}

// known lists what identifies this machine and must never be published.
func (s *Stage) known() []scan.Known {
	var known []scan.Known
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		known = append(known, scan.Known{Value: home, Kind: "home"})
	}
	if u, err := user.Current(); err == nil {
		known = append(known, scan.Known{Value: u.Username, Kind: "user", TokenOnly: true})
	}
	if host, err := os.Hostname(); err == nil {
		known = append(known, scan.Known{Value: host, Kind: "host", TokenOnly: true})
	}
	return known
}

func (s *Stage) target(ctx context.Context, req CaptureRequest) (contract.Agent, contract.CLIVersion, []contract.Probe, error) {
	sel, err := registry.ParseSelector(req.Selector)
	if err != nil {
		return contract.Agent{}, "", nil, err
	}
	agent, err := s.Checkout.Catalog.Agent(sel.Agent)
	if err != nil {
		return agent, "", nil, err
	}
	version, err := s.version(ctx, agent, sel.Version)
	if err != nil {
		return agent, "", nil, err
	}
	names := req.Probes
	if sel.Probe != "" {
		names = append(names, sel.Probe)
	}
	probes, err := s.probes(names)
	return agent, version, probes, err
}

func (s *Stage) version(ctx context.Context, agent contract.Agent, version contract.CLIVersion) (contract.CLIVersion, error) {
	if version != "" && version != "latest" {
		return version, nil
	}
	list, err := s.Releases(ctx, agent)
	if err != nil {
		return "", fmt.Errorf("finding the latest release of %s: %w; name one: %s@VERSION", agent.ID, err, agent.ID)
	}
	if len(list.Channels) == 0 {
		return "", fmt.Errorf("%s has no release in any channel; name one: %s@VERSION", agent.ID, agent.ID)
	}
	return list.Channels[0].Version, nil
}

func (s *Stage) probes(names []string) ([]contract.Probe, error) {
	var probes []contract.Probe
	if len(names) == 0 {
		for _, p := range s.Checkout.Catalog.Probes {
			if p.HostOnly() {
				continue
			}
			names = append(names, string(p.ID))
		}
	}
	seen := map[contract.ProbeID]bool{}
	for _, name := range names {
		p, err := s.Checkout.Catalog.Probe(name)
		if err != nil {
			return nil, err
		}
		if !seen[p.ID] {
			seen[p.ID] = true
			probes = append(probes, p)
		}
	}
	sortProbes(probes)
	return probes, nil
}
