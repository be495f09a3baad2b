package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
)

// Failure is the private record of a run that redaction stopped. It says which rule stopped it and where, and
// compare passes on the rule alone.
type Failure struct {
	Agent      contract.AgentID    `json:"agent"`
	CLIVersion contract.CLIVersion `json:"cli_version"`
	Platform   contract.Platform   `json:"platform,omitempty"`
	Mode       contract.ModeID     `json:"mode,omitempty"`
	Probe      contract.ProbeID    `json:"probe"`
	CapturedAt contract.Timestamp  `json:"captured_at"`
	RawSHA256  contract.Hash       `json:"raw_client_transcript_sha256"`
	Failure    redact.Failure      `json:"failure"`
}

// FailureSuffix ends the names of failure records.
const FailureSuffix = ".redaction-failed.json"

// maxFailure bounds a failure record, in bytes.
const maxFailure = 1 << 16

// ReadFailures reads the failure records of a capture's private folder, sorted by name. A folder that does not exist
// holds none. It fails on a record that cannot be read: a failed redaction must not go unnoticed.
func ReadFailures(dir string) ([]Failure, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing failure records: %w", err)
	}
	var failures []Failure
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), FailureSuffix) {
			continue
		}
		name := filepath.Join(dir, e.Name())
		info, err := os.Lstat(name)
		if err != nil {
			return nil, fmt.Errorf("reading a failure record: %w", err)
		}
		if !info.Mode().IsRegular() || info.Size() > maxFailure {
			return nil, fmt.Errorf("%s is no failure record: it is no regular file of at most %d bytes", name, maxFailure)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading a failure record: %w", err)
		}
		f, err := ParseFailure(name, data)
		if err != nil {
			return nil, err
		}
		failures = append(failures, f)
	}
	return failures, nil
}

var (
	agentForm   = regexp.MustCompile(contract.AgentID("").Pattern())
	probeForm   = regexp.MustCompile(contract.ProbeID("").Pattern())
	modeForm    = regexp.MustCompile(`^$|` + contract.ModeID("").Pattern())
	versionForm = regexp.MustCompile(contract.CLIVersion("").Pattern())
	timeForm    = regexp.MustCompile(contract.Timestamp("").Pattern())
	ruleForm    = regexp.MustCompile(`^[a-z0-9-]{1,80}(/[a-z0-9-]{1,80}){0,3}$`)
)

// ParseFailure reads a failure record. The name is for messages.
func ParseFailure(name string, data []byte) (Failure, error) {
	var f Failure
	if json.Unmarshal(data, &f) != nil { // the cause would quote the file
		return Failure{}, fmt.Errorf("%s is no failure record: capture again, or remove the file", name)
	}
	for _, field := range []struct {
		name string
		ok   bool
	}{
		{"agent", agentForm.MatchString(string(f.Agent))},
		{"cli_version", versionForm.MatchString(string(f.CLIVersion))},
		{"platform", f.Platform == "" || slices.Contains(f.Platform.Values(), string(f.Platform))},
		{"mode", modeForm.MatchString(string(f.Mode))},
		{"probe", probeForm.MatchString(string(f.Probe))},
		{"captured_at", timeForm.MatchString(string(f.CapturedAt))},
		{"failure.rule", ruleForm.MatchString(f.Failure.Rule)},
	} {
		if !field.ok {
			return Failure{}, fmt.Errorf("%s is no failure record: %s is missing or malformed: capture again, or remove the file", name, field.name)
		}
	}
	return f, nil
}

// item is the verdict on a failed redaction: rule and place in the transcript, no path and no remedy, which might be
// made of what the CLI printed.
func (f Failure) item() Item {
	rule := "an unnamed rule"
	if ruleForm.MatchString(f.Failure.Rule) {
		rule = "rule " + f.Failure.Rule
	}
	return Item{
		Agent: f.Agent, CLIVersion: f.CLIVersion, Platform: f.Platform, Probe: f.Probe, Mode: f.Mode, CapturedAt: f.CapturedAt, Verdict: RedactionFailed,
		Reason: fmt.Sprintf("%s stopped redaction at entry %d of the transcript; the private failure record says more", rule, f.Failure.Entry),
	}
}
