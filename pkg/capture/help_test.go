//go:build unix

package capture

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
)

// helpTarget is the fake's help probe; its page declares a default.
func helpTarget(t *testing.T, fallback string) Target {
	t.Helper()
	target := fakeTarget(t, "")
	target.Probe = contract.Probe{ID: "help-probe", Expected: &contract.MinEvents{Kind: "help"}}
	target.Agent.Help = []contract.HelpCommand{{Argv: []string{"fake-help"}}, {Command: "old", Argv: []string{"fake-help", "old"}}}
	target.Agent.Environment.Set = map[string]string{"FAKE_DEFAULT": fallback}
	return target
}

func TestHelpPages(t *testing.T) {
	c := newCapturer(t, true)
	got, err := c.Capture(context.Background(), helpTarget(t, "here"))
	if err != nil {
		t.Fatal(err)
	}
	want := []contract.HelpPage{
		{Flags: []contract.HelpFlag{{Flag: "--look", Aliases: []string{"-l"}, Value: "<DIR>", Default: "here"}}},
		{Command: "old", Unavailable: true, Flags: []contract.HelpFlag{}},
	}
	if diff := cmp.Diff(want, got.Observation.Shape.Vocabulary.Help); diff != "" {
		t.Error(diff)
	}
	data, err := os.ReadFile(filepath.Join(c.Out, "registry", string(got.Path)))
	if err != nil || strings.Contains(string(data), "Look at") {
		t.Errorf("the description is in the record, or: %v", err)
	}
}

// A declared default may be a value of the machine.
func TestHelpPagesKeepNoValueOfTheMachine(t *testing.T) {
	c := newCapturer(t, false)
	c.Known = []scan.Known{{Value: "operator", Kind: "user", TokenOnly: true}}
	got, err := c.Capture(context.Background(), helpTarget(t, "operator"))
	if err != nil {
		t.Fatal(err)
	}
	if flag := got.Observation.Shape.Vocabulary.Help[0].Flags[0]; flag.Default != "<text>" {
		t.Errorf("default %q", flag.Default)
	}
	if got, err = c.Capture(context.Background(), helpTarget(t, "canary")); err != nil || got.Observation.Shape.Vocabulary.Help[0].Flags[0].Default != "<text>" {
		t.Errorf("a canary as default: %v", err)
	}
	c.Known = []scan.Known{{Value: "correct-horse-battery", Kind: "secret-env"}} // reads like a name
	var failure *redact.Failure
	if _, err := c.Capture(context.Background(), helpTarget(t, "correct-horse-battery")); !errors.As(err, &failure) {
		t.Errorf("a secret as default: %v", err)
	}
	target := helpTarget(t, "x")
	target.Agent.Help = target.Agent.Help[1:]
	var none *NoFlagsError
	if _, err := c.Capture(context.Background(), target); !errors.As(err, &none) {
		t.Errorf("no flags anywhere: %v", err)
	}
}
