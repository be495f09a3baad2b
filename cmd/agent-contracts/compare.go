package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/open-design/agent-cli-contracts/internal/stage"
	"github.com/open-design/agent-cli-contracts/pkg/compare"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/scratch"
)

type compareCmd struct {
	New     string `help:"What a capture wrote: DIR with registry/ and private/, or the tree itself; also as a .zip or .tar.gz." required:"" type:"path" placeholder:"DIR"`
	Base    string `help:"Checkout to compare with. Default: --checkout." type:"existingdir" placeholder:"DIR"`
	Format  string `help:"text, markdown (pull request), github (workflow annotations) or json." enum:"text,markdown,github,json" default:"text"`
	Reports string `help:"Write the report files of new shapes into this tree." type:"path" placeholder:"DIR"`
}

func (c *compareCmd) Help() string {
	return `Exit code 1 when anything but same_shape was found; 2 when lint refuses the tree.

Example:
  agent-contracts compare --new out`
}

func (c *compareCmd) Run(_ context.Context, a *app) (err error) {
	if c.Base != "" {
		a.cli.Checkout = c.Base
	}
	s, err := a.open("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	fresh, remove, err := unpacked(c.New)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	report, err := s.Compare(stage.Written(fresh))
	if report == nil {
		return err
	}
	for _, f := range report.Findings {
		a.env.Progress("%s", f)
	}
	if report.Verdicts == nil {
		return err
	}
	return errors.Join(err, c.write(report.Verdicts), c.render(a, report))
}

// unpacked gives the folder that a path stands for: itself, or what an archive holds, until remove is called.
func unpacked(name string) (dir string, remove func() error, err error) {
	info, err := os.Stat(name)
	if err != nil || info.IsDir() {
		return name, func() error { return nil }, err
	}
	own, err := scratch.Dir("")
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(own.Path, "new")
	if err := registry.Unpack(name, dir); err != nil {
		return "", nil, errors.Join(err, own.Remove())
	}
	return dir, own.Remove, nil
}

func (c *compareCmd) render(a *app, report *stage.CompareReport) error {
	format := compare.Format(c.Format)
	if a.cli.JSON {
		format = compare.FormatJSON
	}
	text, err := report.Verdicts.Render(format)
	if err != nil {
		return err
	}
	_, err = a.env.Stdout.Write(text)
	return err
}

func (c *compareCmd) write(r *compare.Report) error {
	if c.Reports == "" {
		return nil
	}
	for path, data := range r.Reports() {
		if err := registry.WriteFile(filepath.Join(c.Reports, filepath.FromSlash(string(path))), data); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) compareText(r *compare.Report) {
	text, err := r.Render(compare.FormatText)
	if err != nil {
		text = fmt.Appendf(nil, "the report could not be printed: %v\n", err)
	}
	a.printf("%s", text)
}
