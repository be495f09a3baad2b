package main

import (
	"context"
	"errors"

	"github.com/open-design/agent-cli-contracts/internal/stage"
)

type publishCmd struct {
	Out     string `help:"The folder package and the tarball go here." required:"" type:"path" placeholder:"DIR"`
	New     string `help:"Lay this tree of new records over the registry." type:"existingdir" placeholder:"DIR"`
	Name    string `help:"Name of the package. Default: that of npm/package.json."`
	Version string `help:"Version of the package. Default: that of this tool." name:"package-version" placeholder:"V"`
	DryRun  bool   `help:"Build and verify without asking for the attestations that a publication needs."`
}

func (c *publishCmd) Help() string {
	return `Builds the npm package of the registry, byte-identical whenever and wherever it is built, and verifies it. It uploads
nothing: that is "npm publish --provenance" in the publish workflow.

Example:
  agent-contracts publish --dry-run --out out/package`
}

func (c *publishCmd) Run(_ context.Context, a *app) (err error) {
	s, err := a.open("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	p, err := s.Publish(stage.PublishRequest{Out: c.Out, New: c.New, Name: c.Name, Version: c.Version, Attested: !c.DryRun})
	if err != nil {
		return err
	}
	return a.print(p, func() {
		a.printf("%s %s: %d files, %d bytes unpacked, %d packed\n", p.Name, p.Version, p.Files, p.Size, p.TarballSize)
		a.printf("package   %s\ntarball   %s\nsha256    %s\nintegrity %s\nmanifest  %s\n", p.Folder, p.Tarball, p.TarballSHA256, p.Integrity, p.ManifestSHA256)
	})
}

type verifyCmd struct {
	Package string `arg:"" help:"Tarball, unpacked package, or the folder that publish wrote." type:"path"`
}

func (c *verifyCmd) Help() string {
	return `Hashes every file again, offline, and names the first that differs from the package's manifest.

Example:
  agent-contracts verify out/package/open-design-agent-cli-contracts-0.1.0.tgz`
}

func (c *verifyCmd) Run(_ context.Context, a *app) error {
	m, err := stage.Verify(c.Package)
	if err != nil {
		return err
	}
	return a.print(map[string]any{"name": m.Name, "version": m.Version, "generated_at": m.GeneratedAt, "files": len(m.Files)}, func() {
		a.printf("%s %s of %s: %d files are what the manifest says\n", m.Name, m.Version, m.GeneratedAt, len(m.Files))
	})
}
