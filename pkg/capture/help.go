package capture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/capture/helppage"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// driveHelp asks for every help page, one process each, and joins what they printed into one transcript.
func (c *Capturer) driveHelp(ctx context.Context, f *folder, t Target, mode registry.Mode, exe executable) (*driven, []contract.HelpPage, error) {
	joined, err := transcript.NewRecorder(f.private)
	if err != nil {
		return nil, nil, err
	}
	var all driven
	var pages []contract.HelpPage
	var at int64
	for _, command := range registry.HelpCommands(t.Agent) {
		mode.Argv = command.Argv
		d, err := c.spawn(ctx, f, t, mode, exe, spawnOptions{limits: limits(t.Probe)})
		if err == nil && d.exit == contract.ExitTimeout {
			err = errors.Join(fmt.Errorf("the help page %q of %s did not end in time", command.Command, t.Agent.ID), d.raw.Close())
		}
		if err != nil {
			return nil, nil, err
		}
		var text [2]strings.Builder
		err = d.raw.Each(func(e transcript.Entry) error {
			switch e.Stream {
			case contract.Stdout:
				text[0].Write(e.Data)
			case contract.Stderr:
				text[1].Write(e.Data)
			}
			e.AtMs += at
			joined.Record(e)
			return nil
		})
		if err = errors.Join(err, d.raw.Close()); err != nil {
			return nil, nil, err
		}
		at += d.took
		page := contract.HelpPage{Command: command.Command, Flags: []contract.HelpFlag{}}
		switch {
		case d.exit != contract.ExitSuccess:
			page.Unavailable = true
		case text[0].Len() > 0:
			page.Flags = helppage.Parse(text[0].String())
		default: // some print it there
			page.Flags = helppage.Parse(text[1].String())
		}
		pages = append(pages, page)
		all.exit, all.isolation = d.exit, d.isolation
	}
	if all.raw, err = joined.Finish(); err != nil {
		return nil, nil, err
	}
	if !slices.ContainsFunc(pages, func(p contract.HelpPage) bool { return len(p.Flags) > 0 }) {
		return nil, nil, errors.Join(&NoFlagsError{Agent: t.Agent.ID}, all.raw.Close())
	}
	return &all, pages, nil
}

// scanHelp is the second gate for what a help text declares: it holds words of the CLI, and a default may be a value
// of this machine.
func (c *Capturer) scanHelp(pages []contract.HelpPage, scanner *scan.Scanner) error {
	data, err := json.Marshal(pages)
	if err != nil {
		return err
	}
	if hits := scanner.Scan(data); len(hits) > 0 {
		return &redact.Failure{Rule: "scan/" + hits[0].Rule, Path: "$.shape.vocabulary.help", Remedy: "a declared value matches a secret rule: the help page cannot be published"}
	}
	for i, page := range pages {
		for j, flag := range page.Flags {
			if slices.ContainsFunc(c.Known, func(k scan.Known) bool { return k.Value == flag.Default }) {
				pages[i].Flags[j].Default = "<text>"
			}
		}
	}
	return nil
}
