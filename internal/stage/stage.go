// Package stage wires the packages of pkg/ for one process. The verbs of the terminal program and the action binaries
// both call it, so that what runs on a maintainer's machine is what runs in the pipeline.
package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/open-design/agent-cli-contracts/pkg/capture"
	"github.com/open-design/agent-cli-contracts/pkg/capture/rawbundle"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
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
	return &Stage{
		Recipients: recipients,
		Env:        env, Dirs: dirs, Checkout: checkout, NPM: &upstream.NPM{CacheDir: filepath.Join(dirs.Cache, "installs")},
		Platform: contract.PlatformOf(runtime.GOOS, runtime.GOARCH),
	}, nil
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

// CaptureRequest says what to capture.
type CaptureRequest struct {
	Selector    string
	Probes      []string
	Mode        string
	Repeat      int
	Bin         string
	Raw         string
	NoIsolation bool
}

// CaptureReport is what came of a request, probe by probe.
type CaptureReport struct {
	Agent   contract.AgentID    `json:"agent"`
	Version contract.CLIVersion `json:"cli_version"`
	Probes  []ProbeReport       `json:"probes"`
}

// ProbeReport is the outcome of one probe.
type ProbeReport struct {
	Probe       contract.ProbeID   `json:"probe"`
	Observation contract.RelPath   `json:"observation,omitempty"`
	Signature   contract.Hash      `json:"signature,omitempty"`
	Runs        int                `json:"runs,omitempty"`
	Exit        contract.ExitClass `json:"exit,omitempty"`
	Findings    []string           `json:"findings,omitempty"`
	Error       string             `json:"error,omitempty"`
	Verdict     string             `json:"verdict,omitempty"`
	Failure     *redact.Failure    `json:"failure,omitempty"`
}

// Capture captures every probe of a request. One probe's failure does not stop the others. The error is a *FoundError
// when every failure is an answer about the CLI.
func (s *Stage) Capture(ctx context.Context, req CaptureRequest) (*CaptureReport, error) {
	agent, version, probes, err := s.target(ctx, req)
	if err != nil {
		return nil, err
	}
	c := s.capturer(req.Raw, req.NoIsolation)
	if _, err := registry.ResolveMode(agent, contract.ModeID(req.Mode), version); err != nil {
		return nil, err
	}
	if err := c.Prepare(ctx, capture.Target{Agent: agent, Version: version, Bin: req.Bin}); err != nil {
		return nil, err
	}
	if len(req.Probes) == 0 && !strings.Contains(req.Selector, ":") {
		probes = slices.DeleteFunc(probes, func(p contract.Probe) bool {
			var unfit *registry.UnfitError
			_, err := registry.ProbeMode(agent, contract.ModeID(req.Mode), version, p)
			return errors.As(err, &unfit)
		})
	}
	report := &CaptureReport{Agent: agent.ID, Version: version}
	var unknown, found []error
	for _, probe := range probes {
		got, err := c.Capture(ctx, capture.Target{Agent: agent, Version: version, Mode: contract.ModeID(req.Mode), Probe: probe, Bin: req.Bin, Repeat: req.Repeat})
		entry := probeReport(probe, got, err)
		if err != nil {
			if isAnswer(err) {
				found = append(found, err)
			} else {
				unknown = append(unknown, err)
			}
			s.Progress("%s: %v", probe.ID, err)
		}
		report.Probes = append(report.Probes, entry)
		if ctx.Err() != nil {
			return report, ctx.Err()
		}
	}
	switch {
	case len(unknown) > 0:
		return report, fmt.Errorf("%d of %d probes could not be captured: %w", len(unknown)+len(found), len(probes), errors.Join(append(unknown, found...)...))
	case len(found) > 0:
		return report, Found("%d of %d probes gave no observation: %w", len(found), len(probes), errors.Join(found...))
	}
	return report, nil
}

// capturer wires a capture of this process.
func (s *Stage) capturer(raw string, noIsolation bool) *capture.Capturer {
	return &capture.Capturer{
		Catalog: s.Checkout.Catalog, Base: s.Checkout.Tree, Derive: s.derive, Installer: s.NPM, Platform: s.Platform, Runner: s.runner(), WorkflowRunURL: s.workflowURL(), ToolVersion: ToolVersion,
		Known: s.known(), Now: s.Now, Random: s.Random, Temp: os.TempDir(), Out: s.Out, Raw: raw, Getenv: s.Getenv, Isolate: !noIsolation, Progress: s.Progress,
		Recipients: s.Recipients, Failed: s.alert,
	}
}

// probeReport is the outcome of one probe.
func probeReport(probe contract.Probe, got *capture.Result, err error) ProbeReport {
	entry := ProbeReport{Probe: probe.ID}
	if err == nil {
		entry.Observation, entry.Signature, entry.Runs, entry.Exit, entry.Findings = got.Path, got.Observation.Shape.Signature, got.Evidence.RunCount, got.Shape.Shape.Exit, got.Findings
		return entry
	}
	entry.Error = err.Error()
	var failure *redact.Failure
	if errors.As(err, &failure) {
		entry.Verdict, entry.Failure = "redaction_failed", failure
	}
	return entry
}

// isAnswer tells answers about the CLI from faults of the capture.
func isAnswer(err error) bool {
	var failure *redact.Failure
	var expectation *capture.ExpectationError
	var unstable *capture.UnstableError
	return errors.As(err, &failure) || errors.As(err, &expectation) || errors.As(err, &unstable)
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
