package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/capture"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// CaptureRequest says what to capture.
type CaptureRequest struct {
	Selector    string
	Probes      []string
	Mode        string
	Repeat      int
	Bin         string
	Raw         string
	NoIsolation bool
	// Backend is scripted, where it is empty, or live.
	Backend string
	// Jobs is how many probes run side by side; 0 lets the machine decide.
	Jobs int
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
	if req.Jobs < 0 {
		return nil, errors.New("--jobs: at least 1")
	}
	agent, version, probes, err := s.target(ctx, req)
	if err != nil {
		return nil, err
	}
	c := s.capturer(req.Raw, req.NoIsolation)
	mode, err := registry.ResolveMode(agent, contract.ModeID(req.Mode), version)
	if err != nil {
		return nil, err
	}
	live := req.Backend == string(contract.BackendLive)
	if live {
		if err := c.MayRunLive(agent, mode, version); err != nil {
			return nil, err
		}
	}
	if err := c.Prepare(ctx, capture.Target{Agent: agent, Version: version, Bin: req.Bin}); err != nil {
		return nil, err
	}
	if len(req.Probes) == 0 && !strings.Contains(req.Selector, ":") {
		probes = slices.DeleteFunc(probes, func(p contract.Probe) bool {
			var unfit *registry.UnfitError
			m, err := registry.ProbeMode(agent, contract.ModeID(req.Mode), version, p)
			if err == nil && live {
				_, err = registry.LiveMode(agent, m, version, p)
			}
			if err != nil {
				return errors.As(err, &unfit)
			}
			holes := agent.HolesOf(p.ID, version, m.ID)
			if len(holes) > 0 {
				s.Progress("%s: left out, since the agent file says why there is nothing to see: %s", p.ID, holes[0].Reason)
			}
			return len(holes) > 0
		})
	}
	report := &CaptureReport{Agent: agent.ID, Version: version}
	var unknown, found []error
	target := capture.Target{Agent: agent, Version: version, Mode: contract.ModeID(req.Mode), Bin: req.Bin, Repeat: req.Repeat, Backend: contract.Backend(req.Backend)}
	s.observeAll(ctx, c, probes, cmp.Or(req.Jobs, Jobs()), target, func(probe contract.Probe, got *capture.Result, err error) {
		if err != nil {
			if isAnswer(err) {
				found = append(found, err)
			} else {
				unknown = append(unknown, err)
			}
		}
		report.Probes = append(report.Probes, probeReport(probe, got, err))
	})
	if ctx.Err() != nil {
		return report, ctx.Err()
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
		Recipients: s.Recipients, Failed: s.alert, Lookup: s.Lookup, Dial: s.Dial,
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
