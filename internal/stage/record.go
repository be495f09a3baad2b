package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/capture"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// HostProbe is the probe of runs whose prompt is the host's own.
const HostProbe = "host-run"

// ImportRequest says what a recorded run is of.
type ImportRequest struct {
	Agent, Mode string
	// Version is what the CLI reports; where it is empty, Bin is asked.
	Version string
	// Probe is whose prompt the host sent; PromptFile finds it by that prompt. Without both it is HostProbe.
	Probe, PromptFile string
	Bin, Raw          string
	Backend           contract.Backend
	NoIsolation       bool
	// Recorded is the run; its Home is set here.
	Recorded capture.Recorded
}

// Import takes a run that a host recorded through redaction to an observation. It closes the raw transcript.
func (s *Stage) Import(ctx context.Context, req ImportRequest) (*ProbeReport, error) {
	rec := req.Recorded
	agent, err := s.Checkout.Catalog.Agent(req.Agent)
	if err != nil {
		return nil, errors.Join(err, rec.Raw.Close())
	}
	probe, err := s.hostProbe(req)
	if err != nil {
		return nil, errors.Join(err, rec.Raw.Close())
	}
	if rec.Home, err = os.UserHomeDir(); err != nil {
		rec.Home = ""
	}
	rec.Backend = req.Backend
	got, err := s.capturer(req.Raw, req.NoIsolation).Import(ctx, capture.Target{
		Agent: agent, Version: contract.CLIVersion(req.Version), Mode: contract.ModeID(req.Mode), Probe: probe, Bin: req.Bin,
	}, rec)
	report := probeReport(probe, got, err)
	if err != nil && isAnswer(err) {
		err = &FoundError{err}
	}
	return &report, err
}

// hostProbe finds the probe whose prompt the host sent.
func (s *Stage) hostProbe(req ImportRequest) (contract.Probe, error) {
	if req.PromptFile == "" {
		name := req.Probe
		if name == "" {
			name = HostProbe
		}
		return s.Checkout.Catalog.Probe(name)
	}
	data, err := os.ReadFile(req.PromptFile)
	if err != nil {
		return contract.Probe{}, fmt.Errorf("--prompt-file: %w", err)
	}
	sent := strings.TrimSpace(string(data))
	for _, p := range s.Checkout.Catalog.Probes {
		if p.Prompt != "" && strings.TrimSpace(p.Prompt) == sent && (req.Probe == "" || contract.CanonicalProbe(req.Probe) == p.ID) {
			return p, nil
		}
	}
	return contract.Probe{}, fmt.Errorf("--prompt-file: no probe has this prompt, so it cannot be published: leave the flag out, and all text is redacted; or add the prompt as probes/<id>/prompt.md")
}

// ImportFile is Import for a raw bundle in a file.
func (s *Stage) ImportFile(ctx context.Context, file string, req ImportRequest) (*ProbeReport, error) {
	f, err := openFile(file)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		req.Recorded.At = info.ModTime()
		req.Recorded.Raw, err = transcript.ReadBundle(f, os.TempDir())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w; a raw bundle comes from record --raw or capture --raw", file, err)
	}
	return s.Import(ctx, req)
}

// WritePrivate writes a private record as DIR/private/NAME.
func WritePrivate(dir, name string, data []byte) error {
	folder := filepath.Join(dir, "private")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return registry.WriteFile(filepath.Join(folder, name), data)
}
