package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/open-design/agent-cli-contracts/internal/stage"
)

// Each verb's help has an example, and what an example says is a command line that the program takes.
func TestHelpHasExamples(t *testing.T) {
	// The files that examples name exist where somebody has made them.
	named := kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		return ctx.Scan.PopValueInto("path", target.Addr().Interface())
	})
	options := []kong.Option{kong.Vars{"version": ""}, kong.NamedMapper("existingfile", named), kong.NamedMapper("existingdir", named)}
	var c cli
	parser, err := kong.New(&c, options...)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range parser.Model.Leaves(true) {
		args := append(strings.Fields(verb.Path()), "--help")
		var stdout, stderr bytes.Buffer
		if code := Main(t.Context(), args, stage.Env{Stdout: &stdout, Stderr: &stderr}); code != 0 || stderr.Len() > 0 {
			t.Errorf("%s --help ends with %d: %s", verb.Path(), code, stderr.String())
		}
		examples := 0
		for line := range strings.Lines(verb.Detail) {
			command, ok := strings.CutPrefix(line, "  agent-contracts ")
			if !ok {
				continue
			}
			examples++
			if !strings.Contains(stdout.String(), strings.TrimSpace(command)) {
				t.Errorf("%s --help does not show: %s", verb.Path(), command)
			}
			parser, err := kong.New(new(cli), options...)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.Parse(words(command)); err != nil {
				t.Errorf("%s: %s: %v", verb.Path(), strings.TrimSpace(command), err)
			}
		}
		if examples == 0 {
			t.Errorf("%s --help has no example", verb.Path())
		}
	}
}

// words splits a command line as a shell does, as far as examples need it.
func words(line string) []string {
	var out []string
	for i, part := range strings.FieldsFunc(line, func(r rune) bool { return r == '\'' || r == '"' }) {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}
