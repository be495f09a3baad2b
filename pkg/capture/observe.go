package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
)

// place is where a run was: its folders, and what must not be published of it.
type place struct {
	cwd, home string
	scanner   *scan.Scanner
}

// judge takes a recorded run through redaction, normalization and the probe's expectations.
func (c *Capturer) judge(r *run) error {
	policy, err := c.Catalog.Policy(r.target.Agent, r.mode, r.target.Version, r.target.Probe)
	if err != nil {
		return err
	}
	policy.Cwd, policy.Home, policy.Scanner = []string{r.place.cwd}, []string{r.place.home}, r.place.scanner
	policy.Vocabulary = append(policy.Vocabulary, r.driven.report.Offered...)
	if r.sanitized, err = redact.Redact(r.driven.raw, policy, c.Temp); err != nil {
		return err
	}
	if size := r.sanitized.Size(); size > registry.MaxFileSize {
		return &SizeError{"sanitized transcript", size, registry.MaxFileSize}
	}
	if r.shape, err = shape.Of(r.sanitized); err != nil {
		return err
	}
	if r.events, err = replay.Reference(r.sanitized, r.mode.TextEvent); err != nil {
		return err
	}
	if err = replay.Faithful(r.driven.raw, r.sanitized, r.mode.TextEvent, r.events); err != nil {
		return err
	}
	for _, finding := range r.driven.report.Findings {
		r.findings = append(r.findings, "model server: "+finding.String())
	}
	if r.driven.report.Requests > 0 && !heard(r.driven.report, r.mode.PromptOf(r.target.Probe)) {
		r.findings = append(r.findings, "no model request holds the prompt: correct how the mode passes it; the script is played whatever is asked")
	}
	for _, h := range r.target.Agent.HolesOf(r.target.Probe.ID, r.target.Version, r.mode.ID) {
		r.findings = append(r.findings, "the agent file declares a hole here: "+strings.TrimSuffix(h.Reason, ".")+"; remove it, or narrow its releases")
	}
	r.findings = append(r.findings, leaving(r.driven.isolation)...)
	r.findings = append(r.findings, r.driven.findings...)
	if r.shape.Untyped > 0 {
		r.findings = append(r.findings, fmt.Sprintf("%d frames are untyped: add an event_type rule to the dialect", r.shape.Untyped))
	}
	for _, v := range r.shape.Violations {
		r.findings = append(r.findings, "violation: "+v)
	}
	if err := c.listModels(r); err != nil {
		return err
	}
	if err := c.scanHelp(r.help, r.place.scanner); err != nil {
		return err
	}
	return expect(r)
}

// expect compares the reference events with what the probe must see, and the end with those that it allows.
func expect(r *run) error {
	probe, exit := r.target.Probe, r.shape.Shape.Exit
	seen := map[contract.EventName]bool{}
	for _, e := range r.events {
		seen[e.Event] = true
	}
	var missing []contract.EventName
	for _, name := range probe.MustSee() {
		if name == "init_or_status" && r.mode.Family == contract.FamilyPlain {
			continue // plain text has no frame that could say so
		}
		if !seen[name] && (name != "init_or_status" || !seen["session_started"]) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 && slices.Contains(probe.Ends(), exit) {
		return nil
	}
	var names []contract.EventName
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	return &ExpectationError{Probe: probe.ID, Missing: missing, Seen: names, Exit: exit, Ends: probe.Ends()}
}

// FailureRecord is what is kept, privately, of a run that redaction stopped: rule and place, never a value.
type FailureRecord struct {
	Agent    contract.AgentID    `json:"agent"`
	Version  contract.CLIVersion `json:"cli_version"`
	Platform contract.Platform   `json:"platform"`
	Mode     contract.ModeID     `json:"mode"`
	Probe    contract.ProbeID    `json:"probe"`
	At       contract.Timestamp  `json:"captured_at"`
	Raw      contract.Hash       `json:"raw_client_transcript_sha256"`
	Verdict  string              `json:"verdict"`
	Failure  *redact.Failure     `json:"failure"`
	// Bundle is the file beside this one that holds the raw transcript, encrypted; empty when it was discarded.
	Bundle string `json:"raw_bundle,omitempty"`
}

// FailureSuffix ends the names of failure records.
const FailureSuffix = ".redaction-failed.json"

// private writes the failure record of a run that redaction stopped.
func (c *Capturer) private(r *run, err error) error {
	var failure *redact.Failure
	if !errors.As(err, &failure) {
		return err
	}
	if berr := c.encryptRaw(r); berr != nil {
		err = errors.Join(err, berr)
	}
	record := FailureRecord{
		r.target.Agent.ID, r.target.Version, c.Platform, r.mode.ID, r.target.Probe.ID, contract.At(r.at), r.driven.raw.Hash(), "redaction_failed", failure, r.bundle,
	}
	if c.Failed != nil {
		c.Failed(record)
	}
	data, merr := json.MarshalIndent(record, "", "  ")
	if merr != nil {
		return errors.Join(err, merr)
	}
	name := fmt.Sprintf("%s.%s.%s.%s%s", contract.At(r.at).PathStem(), r.target.Agent.ID, r.target.Version, r.target.Probe.ID, FailureSuffix)
	return errors.Join(err, registry.WriteFile(filepath.Join(c.Out, "private", name), append(data, '\n')))
}

// observation builds the record of a run and its sidecar.
func (c *Capturer) observation(r *run, runs int) (contract.Observation, contract.Evidence, error) {
	o := contract.Observation{
		SchemaVersion: contract.SchemaVersion, Agent: r.target.Agent.ID, CLIVersion: r.target.Version, Platform: c.Platform, Probe: r.target.Probe.ID,
		ProtocolFamily: r.mode.Family, ValidityLevel: contract.ObservedLevel(contract.RuntimeObserved), Install: r.exe.install,
		Command: contract.Command{ArgvTemplate: r.argv, StdinMode: r.mode.Stdin, Mode: r.mode.ID},
		Capture: contract.CaptureInfo{
			CapturedAt: contract.At(r.at), Runner: c.Runner, WorkflowRunURL: c.WorkflowRunURL, RawClientTranscriptSHA256: r.driven.raw.Hash(),
			RawArtifactVisibility: contract.RawDiscarded, Backend: r.backend, Route: r.route, ToolVersion: c.ToolVersion, NormalizerVersion: shape.NormalizerVersion,
		},
		Redaction: contract.RedactionInfo{ToolVersion: redact.Version, Status: contract.RedactionPassed},
		Shape: contract.ObservedShape{
			Signature: r.shape.Shape.Signature, Path: registry.ShapePath(r.mode.Family, r.shape.Shape.Signature),
			Ambient: r.shape.Ambient, Violations: r.shape.Violations,
		},
	}
	if r.bundle != "" {
		o.Capture.RawArtifactVisibility = contract.RawPrivate
	}
	if h, ok := r.driven.raw.StreamHash(contract.Stdout); ok {
		o.Capture.RawStdoutSHA256 = &h
	}
	if h, ok := r.driven.raw.StreamHash(contract.Stderr); ok {
		o.Capture.RawStderrSHA256 = &h
	}
	v := contract.Vocabulary{Tools: r.driven.report.Offered, Models: r.models(), Keys: r.sanitized.OpaqueKeys(), Capabilities: r.shape.Capabilities, Help: r.help}
	if len(v.Capabilities)+len(v.Tools)+len(v.Models)+len(v.Keys)+len(v.Help) > 0 {
		o.Shape.Vocabulary = &v
	}
	dialect := contract.HashBytes([]byte("{}")) // a plain mode has none
	if r.mode.Dialect != nil {
		dialect = r.mode.Dialect.Hash
	}
	e := contract.Evidence{
		SchemaVersion: contract.SchemaVersion, SanitizedSHA256: r.sanitized.Hash(), FixtureSHA256: r.sanitized.Hash(), RawSHA256: r.driven.raw.Hash(),
		WorkflowRunURL: c.WorkflowRunURL, Runner: c.Runner, BinarySHA256: o.Install.BinarySHA256,
		Versions:  contract.ToolVersions{Tool: c.ToolVersion, Normalizer: shape.NormalizerVersion, Redaction: redact.Version, Dialect: dialect},
		Isolation: r.driven.isolation, ModelRequests: r.driven.report.Requests, ImageRequests: r.driven.report.Images, RunCount: runs, RedactionChecked: true,
	}
	if r.bundle != "" {
		e.RetentionDays = retentionDays
	}
	return o, e, nil
}

// nextFree moves captured_at on while another observation has its path: two captures may fall into one second.
func nextFree(o *contract.Observation, taken func(contract.RelPath) bool) error {
	for taken(registry.ObservationPath(*o)) {
		at, err := o.Capture.CapturedAt.Time()
		if err != nil {
			return err
		}
		o.Capture.CapturedAt = contract.At(at.Add(time.Second))
	}
	return nil
}
