// Command publish is the action that builds the package of the registry and verifies it. It uploads nothing: the workflow
// hands the tarball to a job that can do nothing else.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/open-design/agent-cli-contracts/actions/internal/step"
	"github.com/open-design/agent-cli-contracts/internal/stage"
)

func main() {
	os.Exit(step.Main(run))
}

const summary = `### {{code .Name}} {{code .Version}}

| files | size | tarball | integrity | manifest |
|---:|---:|---:|---|---|
| {{.Files}} | {{.Size}} | {{.TarballSize}} | {{code .Integrity}} | {{code .ManifestSHA256}} |
`

func run(_ context.Context, s *step.Step) (err error) {
	attested, err := s.Enum("attested", "false", "true")
	if err != nil {
		return err
	}
	out := s.Path("out", "out/package")
	st, err := s.Open(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	// A tag has a v in front; a version has not.
	version := strings.TrimPrefix(s.GetInput("version"), "v")
	p, err := st.Publish(stage.PublishRequest{Out: out, Name: s.GetInput("name"), Version: version, Attested: attested == "true"})
	if err != nil {
		return err
	}
	if _, err := stage.Verify(p.Tarball); err != nil {
		return fmt.Errorf("verifying what was built: %w", err)
	}
	s.SetOutput("name", p.Name)
	s.SetOutput("version", p.Version)
	s.SetOutput("tarball", filepath.Base(p.Tarball))
	s.SetOutput("integrity", p.Integrity)
	return s.AddStepSummaryTemplate(summary, p)
}
