package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/modelserver"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// driveResumed runs the probe twice in one home and workspace; the second run continues the session of the first, and
// is the one that counts.
func (c *Capturer) driveResumed(ctx context.Context, f *folder, t Target, mode registry.Mode, exe executable) (*driven, error) {
	first, err := c.drive(ctx, f, t, mode, exe)
	if err != nil {
		return nil, err
	}
	if first.exit != contract.ExitSuccess {
		err = fmt.Errorf("the run whose session should be continued ended with %s", first.exit)
	} else if mode.Resume.Session != "" {
		f.session, err = sessionOf(first.raw, mode.Resume.Session)
	}
	if err = errors.Join(err, first.raw.Close()); err != nil {
		return nil, err
	}
	mode.Argv = t.Probe.Argv(mode.Resume.Argv, mode.Trust)
	second, err := c.drive(ctx, f, t, mode, exe)
	if err != nil || second.exit != contract.ExitSuccess || recalls(second.report, t.Probe.Script) {
		return second, err
	}
	return nil, errors.Join(errors.New("the second run did not tell the model what was said in the first one: it began a session of its own; correct resume in the mode"), second.raw.Close())
}

// recalls reports whether a request of the run holds what the script said in the run before. The CLI's word alone does
// not count: some take the id of a session and start anew.
func recalls(report modelserver.Report, script *contract.Script) bool {
	for _, step := range script.Steps {
		said, err := json.Marshal(strings.Join(step.Text, ""))
		if err != nil || len(step.Text) == 0 {
			continue
		}
		for _, x := range report.Exchanges {
			if bytes.Contains(x.Body(), bytes.Trim(said, `"`)) {
				return true
			}
		}
	}
	return false
}

// sessionID is what a CLI may be given back as an argument: no option, and nothing that a path could be made of.
var sessionID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}$`)

// sessionOf finds the session's id in a run's output: the first text at path, in any frame.
func sessionOf(raw *transcript.Raw, path string) (string, error) {
	var stdout bytes.Buffer
	err := raw.Each(func(e transcript.Entry) error {
		if e.Stream == contract.Stdout {
			stdout.Write(e.Data)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	steps := strings.Split(strings.TrimPrefix(path, "$."), ".")
	for line := range bytes.Lines(stdout.Bytes()) {
		var node any
		if json.Unmarshal(line, &node) != nil {
			continue
		}
		for _, step := range steps {
			members, _ := node.(map[string]any)
			node = members[step]
		}
		if id, ok := node.(string); ok && sessionID.MatchString(id) {
			return id, nil
		}
	}
	return "", fmt.Errorf("no frame of the first run has a session id at %s: correct resume in the mode", path)
}
