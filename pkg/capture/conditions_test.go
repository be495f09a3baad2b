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
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// conditional is a target whose agent can be started in every condition.
func conditional(t *testing.T, prompt string, run contract.RunConditions) Target {
	t.Helper()
	target := fakeTarget(t, prompt)
	target.Probe.Expected.Run = &run
	target.Agent.HomeFiles = []contract.HomeFile{{Path: "settings.json", Lines: []string{"{}"}}}
	mode := &target.Agent.Modes[0]
	mode.Argv = []contract.ArgvForm{{Argv: append(mode.Argv[0].Argv, "--trust")}}
	mode.TrustArgv = []string{"--trust"}
	return target
}

// fixtureOf is the only fixture that a capture has written.
func fixtureOf(t *testing.T, c *Capturer) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(c.Out, "registry/fixtures/*/*"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRunConditions(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		c := newCapturer(t, false)
		if _, err := c.Capture(context.Background(), conditional(t, "look around", contract.RunConditions{})); err != nil {
			t.Fatal(err)
		}
		if got := fixtureOf(t, c); !strings.Contains(got, `\"spoilt\":false,\"extra\":false,\"trusted\":true`) {
			t.Error(got)
		}
	})
	t.Run("all", func(t *testing.T) {
		c := newCapturer(t, false)
		target := conditional(t, "look around", contract.RunConditions{ExtraArgv: []string{"--extra"}, Untrusted: true})
		target.Probe.EnvPolicy = &contract.EnvPolicy{HomeFiles: "break"}
		got, err := c.Capture(context.Background(), target)
		if err != nil {
			t.Fatal(err)
		}
		if text := fixtureOf(t, c); !strings.Contains(text, `\"spoilt\":true,\"extra\":true,\"trusted\":false`) {
			t.Error(text)
		}
		if diff := cmp.Diff([]string{"fake-exec", "{base_url}", "{prompt}", "--extra"}, got.Observation.Command.ArgvTemplate); diff != "" {
			t.Error(diff)
		}
	})
}

// The MCP server is this very program, and the CLI starts it inside of its box.
func TestMCPServer(t *testing.T) {
	for _, isolated := range []bool{false, true} {
		c := newCapturer(t, isolated)
		target := conditional(t, "use mcp", contract.RunConditions{MCPServer: true})
		var unfit *registry.UnfitError
		if _, err := c.Capture(context.Background(), target); !errors.As(err, &unfit) {
			t.Errorf("a mode without mcp_server: %v", err)
		}
		target.Agent.Modes[0].MCP = []contract.MCPForm{{
			Argv: []string{"--mcp"}, Env: map[string]string{"FAKE_MCP": "{mcp_server}"},
			HomeFiles: []contract.HomeFile{{Path: "mcp.json", Lines: []string{"{mcp_server}"}}},
		}}
		target.Repeat = 2
		got, err := c.Capture(context.Background(), target)
		if err != nil {
			t.Fatal(err)
		}
		if text := fixtureOf(t, c); !strings.Contains(text, `\"answered\":true,\"tool\":\"lookup\"`) {
			t.Errorf("isolated %t: %s", isolated, text)
		}
		if diff := cmp.Diff([]string{"fake-exec", "{base_url}", "{prompt}", "--trust", "--mcp"}, got.Observation.Command.ArgvTemplate); diff != "" {
			t.Error(diff)
		}
	}
}

// The second run gets the id of the first one's session, and is the one that is recorded.
func TestResume(t *testing.T) {
	c := newCapturer(t, true)
	target := conditional(t, "again", contract.RunConditions{Resume: true})
	var unfit *registry.UnfitError
	if _, err := c.Capture(context.Background(), target); !errors.As(err, &unfit) {
		t.Errorf("a mode without resume: %v", err)
	}
	form := contract.ResumeForm{Argv: []string{"fake-exec", "{base_url}", "{prompt}", "--resume={session}"}, Session: "$.session_id"}
	target.Agent.Modes[0].Resume = []contract.ResumeForm{form}
	got, err := c.Capture(context.Background(), target)
	if err != nil {
		t.Fatal(err)
	}
	if text := fixtureOf(t, c); !strings.Contains(text, `\"resumed\":true`) {
		t.Error(text)
	}
	if diff := cmp.Diff(form.Argv, got.Observation.Command.ArgvTemplate); diff != "" {
		t.Error(diff)
	}
	first := got.Observation.Shape.Signature
	target.Agent.Modes[0].Resume[0] = contract.ResumeForm{Argv: []string{"fake-exec", "{base_url}", "{prompt}", "--resume=latest"}}
	if got, err := c.Capture(context.Background(), target); err != nil || got.Observation.Shape.Signature != first {
		t.Errorf("the latest session: %v", err)
	}
	target.Agent.Modes[0].Resume[0] = contract.ResumeForm{Argv: []string{"fake-exec", "{base_url}", "{prompt}", "--unheard-of"}}
	if _, err := c.Capture(context.Background(), target); err == nil || !strings.Contains(err.Error(), "did not tell the model what was said in the first one") {
		t.Errorf("a session of its own: %v", err)
	}
	target.Agent.Modes[0].Resume[0] = contract.ResumeForm{Argv: []string{"fake-version"}}
	if _, err := c.Capture(context.Background(), target); err == nil || !strings.Contains(err.Error(), "the second run never asked the model") {
		t.Errorf("no session at all: %v", err)
	}
	target.Agent.Modes[0].Resume[0] = form
	target.Agent.Modes[0].Resume[0].Session = "$.session_id.deeper"
	if _, err := c.Capture(context.Background(), target); err == nil || !strings.Contains(err.Error(), "no frame of the first run has a session id at $.session_id.deeper") {
		t.Errorf("no id: %v", err)
	}
	target.Probe.Prompt = "crash"
	if _, err := c.Capture(context.Background(), target); err == nil || !strings.Contains(err.Error(), "should be continued ended with signal") {
		t.Errorf("the first run fails: %v", err)
	}
}

// A host's signal ends the run; how it may end is the probe's to say.
func TestSignalAndExit(t *testing.T) {
	c := newCapturer(t, false)
	target := conditional(t, "wait", contract.RunConditions{Signal: "SIGTERM"})
	target.Probe.Script.Requests = "optional"
	target.Probe.Expected.MustSee = []contract.EventName{"assistant_text"}
	target.Probe.Expected.TimeLimits.Inactivity = 1
	target.Probe.Expected.Exit = []contract.ExitClass{contract.ExitSignal}
	got, err := c.Capture(context.Background(), target)
	if err != nil || got.Shape.Shape.Exit != contract.ExitSignal {
		t.Fatal(err)
	}
	if text := fixtureOf(t, c); !strings.Contains(text, `"event":"kill"`) {
		t.Error(text)
	}
	target.Probe.Expected.Exit = []contract.ExitClass{contract.ExitSuccess}
	var unexpected *ExpectationError
	if _, err := c.Capture(context.Background(), target); !errors.As(err, &unexpected) || !strings.Contains(err.Error(), "ended with signal, and only success will do") {
		t.Errorf("another end: %v", err)
	}
}

// A stalled machine looks like a CLI that hangs: a probe must say that a timeout is an answer.
func TestTimeoutIsNamed(t *testing.T) {
	c := newCapturer(t, false)
	target := conditional(t, "wait", contract.RunConditions{})
	target.Probe.Script.Requests = "optional"
	target.Probe.Expected.MustSee = []contract.EventName{"assistant_text"}
	target.Probe.Expected.TimeLimits.Inactivity = 1
	var unexpected *ExpectationError
	if _, err := c.Capture(context.Background(), target); !errors.As(err, &unexpected) || !strings.Contains(err.Error(), "ended with timeout, and only success, nonzero, signal, unknown will do") {
		t.Errorf("no end is named: %v", err)
	}
	target.Probe.Expected.Exit = []contract.ExitClass{contract.ExitTimeout}
	if got, err := c.Capture(context.Background(), target); err != nil || got.Shape.Shape.Exit != contract.ExitTimeout {
		t.Errorf("a timeout is named: %v", err)
	}
}

func TestProbeThatFitsNoMode(t *testing.T) {
	c := newCapturer(t, false)
	var unfit *registry.UnfitError
	if _, err := c.Capture(context.Background(), conditional(t, "talk", contract.RunConditions{PromptOn: "stdin"})); !errors.As(err, &unfit) {
		t.Errorf("prompt on stdin: %v", err)
	}
}
