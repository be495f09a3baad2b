package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/open-design/agent-cli-contracts/internal/stage"
)

type runCmd struct {
	Selector    string `arg:"" help:"AGENT or AGENT@VERSION."`
	Bin         string `help:"Run this executable instead of installing one. It must report the version asked for." placeholder:"PATH"`
	Out         string `help:"Where everything goes." default:"out" type:"path" placeholder:"DIR"`
	Jobs        *int   `help:"Run N probes side by side. Default: by cores and free memory, at most 4." placeholder:"N"`
	NoIsolation bool   `help:"Run the CLI without namespaces of its own."`
}

func (c *runCmd) Help() string {
	return `Installs the release, runs every probe against the scripted model server, redacts, normalizes, compares with
the registry and builds the package.

Example:
  agent-contracts run codex@0.133.0`
}

func (c *runCmd) Run(ctx context.Context, a *app) (err error) {
	jobs, err := atLeastOne(c.Jobs)
	if err != nil {
		return err
	}
	s, err := a.open(c.Out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	report, err := s.Run(ctx, stage.CaptureRequest{Selector: c.Selector, Bin: c.Bin, Repeat: 1, Jobs: jobs, NoIsolation: c.NoIsolation})
	if report == nil {
		return err
	}
	return errors.Join(err, a.print(report, func() { a.runText(report) }))
}

func (a *app) runText(r *stage.RunReport) {
	if r.Capture == nil {
		return
	}
	a.printf("%s %s, captured by its real CLI against the scripted model server:\n\n", r.Agent, r.Version)
	a.captureText(r.Capture)
	if r.Package == nil {
		return
	}
	a.printf("\n")
	a.compareText(r.Compare)
	a.printf("\nNew records  %s\nRegistry     %s  (with the new records, validated)\nReport       %s\nPackage      %s  (%d files, %d kB; verify offline: agent-contracts verify)\n",
		near(r.Registry), near(r.Tree), near(r.Report), near(r.Package.Tarball), r.Package.Files, r.Package.TarballSize/1000)
}

// near names a path below the working directory as a person would type it.
func near(path string) string {
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
