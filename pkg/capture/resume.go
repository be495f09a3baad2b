package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/modelserver"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
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
	switch {
	case !first.endedWell(mode.Family):
		err = fmt.Errorf("the run whose session should be continued ended with %s", first.exit)
	case mode.Resume.File != "":
		f.session, err = sessionFile(expand(mode.Resume.File, map[string]string{"home": f.home, "cwd": f.cwd}))
	case mode.Resume.Session != "":
		f.session, err = sessionOf(first.raw, mode.Resume.Session)
	}
	if err = errors.Join(err, first.raw.Close()); err != nil {
		return nil, err
	}
	if len(mode.Resume.Argv) > 0 {
		mode.Argv = t.Probe.Argv(mode.Resume.Argv, mode.Trust)
	}
	second, err := c.drive(ctx, f, t, mode, exe)
	if err != nil || !second.endedWell(mode.Family) || recalls(second.report, t.Probe.Script) == (mode.Resume.Forgets == "") {
		return second, err
	}
	switch {
	case mode.Resume.Forgets != "":
		err = errors.New("the second run told the model what was said in the first one, which resume in the mode denies: remove forgets")
	case second.report.Requests == 0 && refuses(second.raw):
		err = errors.New("the second run answered its host with an error and never asked the model: it refuses the session; correct resume in the mode")
	case second.report.Requests == 0:
		err = fmt.Errorf("the second run never asked the model (exit: %s): correct resume in the mode", second.exit)
	default:
		err = errors.New("the second run did not tell the model what was said in the first one: it began a session of its own; correct resume in the mode")
	}
	return nil, errors.Join(err, second.raw.Close())
}

// endedWell reports whether a run came to its end. A peer that stays after its turn is ended by its host.
func (d *driven) endedWell(family contract.Family) bool {
	return d.exit == contract.ExitSuccess || family.IsRPC() && d.stop == protocol.StopLingers
}

// refuses reports whether a CLI answered a request of its host with an error.
func refuses(raw *transcript.Raw) bool {
	refused := false
	_ = raw.Each(func(e transcript.Entry) error { // without a second look the run is told of otherwise
		var f struct {
			Error   json.RawMessage `json:"error"`
			Success *bool           `json:"success"`
		}
		if e.Dir == contract.CLIToServer && json.Unmarshal(e.Frame, &f) == nil {
			refused = refused || f.Error != nil || f.Success != nil && !*f.Success
		}
		return nil
	})
	return refused
}

// sessionFile finds the one file that matches. Hosts look for the file that a run has changed, and take none where
// several did.
func sessionFile(pattern string) (string, error) {
	files, err := filepath.Glob(pattern)
	if err == nil && len(files) != 1 {
		err = fmt.Errorf("the first run left %d session files: correct session_file in the mode's resume", len(files))
	}
	if err != nil {
		return "", err
	}
	return files[0], nil
}

// recalls reports whether a request of the run holds what the script said in the run before. The CLI's word alone does
// not count: some take the id of a session and start anew.
func recalls(report modelserver.Report, script *contract.Script) bool {
	return slices.ContainsFunc(script.Steps, func(step contract.ScriptStep) bool {
		return len(step.Text) > 0 && told(report, strings.Join(step.Text, ""))
	})
}

// sessionID is what a CLI may be given back as an argument: no option, and nothing that a path could be made of.
var sessionID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}$`)

// sessionOf finds the session's id in a run's output: the first text at path, in any frame.
func sessionOf(raw *transcript.Raw, path string) (string, error) {
	var stdout bytes.Buffer
	err := raw.Each(func(e transcript.Entry) error {
		if e.Stream == contract.Stdout {
			stdout.Write(e.Data)
			if e.Frame != nil {
				stdout.Write(append(bytes.Clone(e.Frame), '\n'))
			}
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
