//go:build unix

package capture

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
)

// gathered is what a CLI may pick up by itself in its box.
func gathered() []string {
	var all []string
	for _, name := range []string{os.Getenv("HOME") + "/.private-note", os.Getenv("HOME") + "/.gitconfig", ".private/note.txt"} {
		data, _ := os.ReadFile(name)
		for _, word := range strings.Fields(string(data)) {
			if len(word) > 30 {
				all = append(all, strings.TrimSuffix(word, "@invalid.example"))
			}
		}
	}
	host, _ := os.Hostname()
	return append(all, os.Getenv("PRIVATE_NOTE"), os.Getenv("FAKE_KEY"), host)
}

// leakAt prints, or sends to the model server, what the fake agent has gathered.
func leakAt(where, baseURL string) {
	for i, v := range gathered() {
		tool, model := "look", "fake-model"
		switch where {
		case "tool":
			tool = v
		case "model":
			model = v
		case "type":
			fmt.Printf("{\"type\":%q}\n", v)
		case "key":
			fmt.Printf("{\"type\":\"text\",%q:1}\n", v)
		case "key above":
			fmt.Printf("{\"type\":\"text\",%q:{\"x y\":1}}\n", v)
		case "text":
			fmt.Printf("{\"type\":\"text\",\"text\":%q,\"id\":%q}\n", v, v)
		case "noise":
			fmt.Printf("note: %s\n", v)
		case "stderr":
			fmt.Fprintf(os.Stderr, "error: %s\n", base64.StdEncoding.EncodeToString([]byte(v)))
		}
		body := fmt.Sprintf(`{"model":%q,"stream":true,"input":[],"tools":[{"type":"function","name":%q}]}`, model, tool)
		if resp, err := http.Post(baseURL+"/v1/responses", "application/json", strings.NewReader(body)); err == nil {
			if where == "answer" && i == 0 {
				fmt.Printf("{\"type\":\"text\",\"id\":%q}\n", resp.Header.Get("X-Request-Id"))
			}
			_ = resp.Body.Close()
		}
	}
	fmt.Println(`{"type":"text","text":"Hello."}`)
	fmt.Println(`{"type":"end"}`)
}

// A child that prints what it gathered, wherever it may, ends in records without it, or in a failure that does not name it.
func TestCaptureLeaks(t *testing.T) {
	for _, tt := range []struct {
		where   string
		stopped bool
	}{
		{"tool", true}, {"model", true}, {"type", false}, {"key", true}, {"key above", true}, {"text", false}, {"noise", false}, {"stderr", false}, {"answer", false},
	} {
		t.Run(tt.where, func(t *testing.T) {
			t.Parallel()
			c, planted := watched(t)
			target := answering(t, "leak at "+tt.where)
			target.Probe.Script.Steps[0].Repeat = true
			got, err := c.Capture(context.Background(), target)
			var failure *redact.Failure
			if stopped := errors.As(err, &failure); stopped != tt.stopped || !stopped && err != nil {
				t.Fatalf("got error %v, want stopped: %v", err, tt.stopped)
			}
			if tt.stopped {
				nothingPublic(t, c.Capturer)
				if records, _ := filepath.Glob(filepath.Join(c.Out, "private", "*")); len(records) != 1 {
					t.Errorf("%d failure records, want one", len(records))
				}
			} else {
				c.said = append(c.said, got.Findings...)
			}
			c.clean(t, planted, err)
		})
	}
}

// A canary that the mode declares as echoed must be in the raw output of the probes that it names, and in nothing public.
func TestCaptureEchoes(t *testing.T) {
	for where, wrong := range map[string]bool{"answer": false, "noise": true} {
		c, planted := watched(t)
		target := answering(t, "leak at "+where)
		target.Probe.Script.Steps[0].Repeat = true
		target.Agent.Modes[0].Echoes = []contract.Echo{{Canary: "model-server", Probes: []contract.ProbeID{"chat-text-success"}}, {Canary: "git", Probes: []contract.ProbeID{"other"}}}
		_, err := c.Capture(context.Background(), target)
		var echo *EchoError
		if errors.As(err, &echo) != wrong || !wrong && err != nil {
			t.Errorf("%s: got error %v, want a missing echo: %v", where, err, wrong)
		}
		c.clean(t, planted, err)
	}
}

// A tool that is missing is named by the names of those that were offered: these must be fit to be shown.
func TestCaptureLeakInToolError(t *testing.T) {
	c, planted := watched(t)
	target := answering(t, "leak at tool")
	target.Agent.Modes[0].Tools = map[string][]contract.Tool{"list-files": {{Name: "ls"}}}
	target.Probe.Script = &contract.Script{Steps: []contract.ScriptStep{{Tool: &contract.ToolStep{Intent: "list-files"}}}}
	_, err := c.Capture(context.Background(), target)
	var failure *redact.Failure
	if !errors.As(err, &failure) {
		t.Fatalf("got %v, want a redaction failure", err)
	}
	c.clean(t, planted, err)
}

// oddNames are values of nobody's kind, which no rule knows, said where names are.
var oddNames = []string{"9f8a7c6b5d4e3f2a1b0c9d8e7f6a5b4c", "1b4e28ba-2fa1-41d2-883f-a0b9c3d4e567", "XK9F2-8H3KD-PW7Q4-ZM6T1"}

// What a CLI tells the model server where a name belongs is public only where it reads like one.
func TestCaptureOddNames(t *testing.T) {
	c := newCapturer(t, true)
	target := answering(t, "odd names")
	target.Probe.Script.Steps[0].Repeat = true
	got, err := c.Capture(context.Background(), target)
	if err != nil {
		t.Fatal(err)
	}
	if v := got.Observation.Shape.Vocabulary; !slices.Equal(v.Tools, []string{"look"}) || !slices.Equal(v.Models, []string{"fake-model"}) {
		t.Errorf("vocabulary: %+v", v)
	}
	if len(got.Findings) == 0 || !strings.Contains(got.Findings[0], "odd-name") {
		t.Errorf("findings %q", got.Findings)
	}
	_ = filepath.WalkDir(c.Out, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, _ := os.ReadFile(p)
		for _, name := range oddNames {
			if bytes.Contains(data, []byte(name)) {
				t.Errorf("%s holds %s", d.Name(), name)
			}
		}
		return nil
	})
}

// A version that holds a secret is not shown.
func TestCaptureLeakInVersion(t *testing.T) {
	c, planted := watched(t)
	target := fakeTarget(t, "talk")
	target.Agent.VersionProbe.Argv, target.Agent.VersionProbe.Pattern = []string{"fake-version", "leak"}, `^fake-cli (\S+)$`
	_, err := c.Capture(context.Background(), target)
	var wrong *VersionError
	if !errors.As(err, &wrong) {
		t.Fatalf("got %v, want another version", err)
	}
	c.clean(t, planted, err)
}

// watchedCapturer remembers what it said.
type watchedCapturer struct {
	*Capturer
	said []string
}

func watched(t *testing.T) (*watchedCapturer, *spy) {
	planted := &spy{}
	c := &watchedCapturer{Capturer: newCapturer(t, true)}
	c.Random = planted
	c.Progress = func(format string, args ...any) { c.said = append(c.said, fmt.Sprintf(format, args...)) }
	return c, planted
}

// clean requires that no planted value was said or written, nor a piece of one.
func (c *watchedCapturer) clean(t *testing.T, planted *spy, err error) {
	t.Helper()
	check := func(where string, data []byte) {
		for _, token := range planted.tokens {
			if bytes.Contains(bytes.ToLower(data), []byte(token[:16])) {
				t.Errorf("%s holds a planted value", where)
			}
		}
	}
	check("the error", fmt.Appendf(nil, "%v", err))
	check("progress", []byte(strings.Join(c.said, "\n")))
	walkErr := filepath.WalkDir(c.Out, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		check(d.Name(), data)
		check("the name "+d.Name(), []byte(d.Name()))
		return err
	})
	if walkErr != nil {
		t.Error(walkErr)
	}
}
