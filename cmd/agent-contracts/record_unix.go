//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/open-design/agent-cli-contracts/internal/stage"
	"github.com/open-design/agent-cli-contracts/pkg/capture"
	"github.com/open-design/agent-cli-contracts/pkg/capture/recorder"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// keeperVariable tells the second process of a recording what it is. The agent never gets it.
const keeperVariable = "AGENT_CONTRACTS_KEEPER"

// Exit codes of a command that could not be started, as env(1) has them.
const (
	exitCannotRun = 126
	exitNotFound  = 127
)

// stand is the recorder in the agent's place. The same program is its keeper, started a second time.
func (c *recordCmd) stand(ctx context.Context, a *app) error {
	command := c.command()
	path, err := exec.LookPath(command[0])
	if err != nil {
		return startFailed(a, err)
	}
	if a.env.Getenv(keeperVariable) != "" {
		_ = os.Unsetenv(keeperVariable)
		c.keep(ctx, a, path, command[1:])
		return nil
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	keeper := &exec.Cmd{Path: exe, Args: os.Args, Env: append(os.Environ(), keeperVariable+"=1")}
	exit, err := recorder.Run(recorder.Agent{Path: path, Name: command[0], Args: command[1:], Keeper: keeper, Wait: c.Wait})
	switch {
	case err != nil:
		return startFailed(a, err)
	case exit.Signal != "":
		return childExit(raise(exit.Signal))
	}
	return childExit(exit.Code)
}

func startFailed(a *app, err error) error {
	_, _ = fmt.Fprintf(a.env.Stderr, "agent-contracts: %v\n", err)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return childExit(exitNotFound)
	}
	return childExit(exitCannotRun)
}

// recordReport is the private record of a recording. It holds no byte of the agent.
type recordReport struct {
	At       contract.Timestamp `json:"recorded_at"`
	Recorded bool               `json:"recorded"`
	Error    string             `json:"error,omitempty"`
	Raw      string             `json:"raw,omitempty"`
	// Held says that something held the agent's output after its end; what it printed later is not in the recording.
	Held  bool               `json:"output_held,omitempty"`
	Probe *stage.ProbeReport `json:"observation,omitempty"`
}

// keep is the second process: it passes the streams on, then makes the records. It has no terminal to speak to.
func (c *recordCmd) keep(ctx context.Context, a *app, path string, args []string) {
	at := a.env.Now()
	a.env.Progress = func(string, ...any) {}
	spool := filepath.Join(c.Out, "private")
	_ = os.MkdirAll(spool, 0o700) // where it fails, so does opening the spool, which says so
	recorder.Keep(spool, func(r recorder.Recording) {
		report := recordReport{At: contract.At(at), Recorded: r.Err == nil, Held: r.Held}
		if r.Err != nil {
			report.Error = r.Err.Error()
		} else {
			c.finish(ctx, a, path, r, capture.Recorded{Raw: r.Raw, At: at, Argv: args}, &report)
		}
		data, err := json.MarshalIndent(report, "", "  ")
		if err == nil {
			_ = stage.WritePrivate(c.Out, fmt.Sprintf("%s.%d.record.json", contract.At(at).PathStem(), os.Getpid()), append(data, '\n'))
		}
	})
}

// finish makes the records of a recording.
func (c *recordCmd) finish(ctx context.Context, a *app, path string, r recorder.Recording, rec capture.Recorded, report *recordReport) {
	rec.Cwd, _ = os.Getwd()
	if r.Held {
		rec.Findings = append(rec.Findings, "something held the agent's output after its end")
	}
	var err error
	if c.Agent == "" {
		report.Raw, err = capture.KeepRaw(c.Raw, r.Raw)
		err = errors.Join(err, r.Raw.Close())
	} else {
		report.Probe, err = c.imported(ctx, a, path, rec)
	}
	if err != nil {
		report.Error = err.Error()
	}
}
