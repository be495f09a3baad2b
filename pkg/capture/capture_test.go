//go:build unix

package capture

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

const fakeRecord = `{
  "schema_version": 1, "id": "fake", "name": "Fake", "tier": 3, "homepage": "https://fake.example",
  "upstreams": {"npm": {"package": "fake"}}, "channels": [{"name": "latest", "dist_tag": "latest"}],
  "install": [{"bin": {"linux-x64": "fake"}}],
  "version_probe": {"argv": ["fake-version"], "pattern": "^fake-cli (\\d+\\.\\d+\\.\\d+)$", "template": "fake-cli {version}", "scheme": "semver"},
  "credential_model": "env-key",
  "model_api": [{"dialect": "openai-responses", "model": "fake-model"}],
  "environment": {"secrets": ["FAKE_KEY"]},
  "modes": [{
    "id": "exec", "family": "json-event-stream/v1", "transport": "jsonl", "stdin_mode": "none",
    "argv": [{"argv": ["fake-exec", "{base_url}", "{prompt}"]}],
    "dialects": [{
      "name": "fake", "event_type": [{"path": "$.type"}], "numbers": ["$.usage.*"], "session": "start",
      "terminal": {"events": ["end"], "per_turn": 1},
      "events": [
        {"event_type": "start", "event": "session_started"},
        {"event_type": "text", "event": "assistant_text", "fields": {"text": "$.text"}},
        {"event_type": "end", "event": "done"}
      ]
    }]
  }]
}`

func fakeTarget(t testing.TB, prompt string) Target {
	t.Helper()
	agent, problems := contract.Decode[contract.Agent](contract.KindAgent, "agents/fake.json", []byte(fakeRecord))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	bin, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Target{
		Agent: agent, Version: "1.2.3", Bin: bin, Repeat: 1,
		Probe: contract.Probe{
			ID: "chat-text-success", Prompt: prompt,
			Expected: &contract.MinEvents{MustSee: []contract.EventName{"init_or_status", "assistant_text", "done"}, Forbidden: []contract.FindingName{}, TimeLimits: &contract.TimeLimits{Total: 20, FirstByte: 20, Inactivity: 2}},
			Script:   &contract.Script{Steps: []contract.ScriptStep{{Text: []string{"Hello."}}}},
		},
	}
}

func newCapturer(t testing.TB, isolate bool) *Capturer {
	t.Helper()
	return &Capturer{
		Catalog:  &registry.Catalog{},
		Platform: "linux-x64", Runner: "test", ToolVersion: "0.1.0", Now: time.Now, Random: rand.Reader, Temp: t.TempDir(), Out: t.TempDir(),
		Getenv: func(string) string { return "" }, Isolate: isolate,
	}
}

func TestCaptureWritesOneValidTree(t *testing.T) {
	c := newCapturer(t, true)
	got, err := c.Capture(context.Background(), fakeTarget(t, "talk"))
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(c.Out, "registry")
	tree, err := registry.OpenTree(root)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close() //nolint:errcheck // read only
	for _, p := range tree.Files("") {
		kind, ok := contract.KindOfPath(p)
		if !ok {
			continue // goldens have no schema
		}
		data, err := tree.Read(contract.RelPath(p))
		if err != nil {
			t.Fatal(err)
		}
		if problems := contract.Validate(kind, p, data); len(problems) > 0 {
			t.Error(problems)
		}
	}
	if n := len(tree.Files("observations/")); n != 2 {
		t.Errorf("%d files under observations/, want observation and evidence", n)
	}
	if got.Evidence.ModelRequests != 1 || got.Observation.Capture.Backend != contract.BackendScripted {
		t.Errorf("evidence %+v", got.Evidence)
	}
	nothingLeft(t, c)
}

// Runs that print the same structure share one signature, however often a frame repeats; a new field gives another.
func TestCaptureSignatures(t *testing.T) {
	c := newCapturer(t, false)
	signature := func(prompt string) contract.Hash {
		t.Helper()
		got, err := c.Capture(context.Background(), fakeTarget(t, prompt))
		if err != nil {
			t.Fatal(err)
		}
		return got.Observation.Shape.Signature
	}
	once := signature("talk")
	if again := signature("talk"); again != once {
		t.Errorf("two runs differ: %s, %s", once, again)
	}
	if repeated := signature("talk twice"); repeated != once {
		t.Errorf("a repeated frame moved the signature: %s, %s", once, repeated)
	}
	if extra := signature("extra field"); extra == once {
		t.Error("an added field did not move the signature")
	}
}

func TestCaptureMisbehaviour(t *testing.T) {
	tests := []struct {
		prompt string
		want   func(error) bool
		what   string
	}{
		{"silent", isA[*NoRequestError], "no request"},
		{"hold", isA[*NoRequestError], "no request after a timeout"},
		{"ignore term", isA[*NoRequestError], "no request after a timeout"},
		{"crash", isA[*NoRequestError], "no request after a signal"},
		{"flood", isA[*OutputError], "too much output"},
		{"many frames", isA[*SizeError], "too large a fixture"},
		{"leak canary", func(err error) bool {
			var failure *redact.Failure
			return isA[*NoRequestError](err) || errors.As(err, &failure)
		}, "stopped"},
		{"leak as key", isA[*NoRequestError], "stopped"},
	}
	for _, tt := range tests {
		t.Run(tt.prompt, func(t *testing.T) {
			t.Parallel()
			c := newCapturer(t, true)
			_, err := c.Capture(context.Background(), fakeTarget(t, tt.prompt))
			if !tt.want(err) {
				t.Fatalf("got error %v, want %s", err, tt.what)
			}
			nothingPublic(t, c)
		})
	}
}

// With requests optional the same ends are answers: typed records, unless the probe must see more.
func TestCaptureTypedEnds(t *testing.T) {
	tests := []struct {
		prompt string
		want   contract.ExitClass
	}{
		{"hold", contract.ExitTimeout},
		{"ignore term", contract.ExitTimeout},
		{"crash", contract.ExitSignal},
		{"silent", contract.ExitSuccess},
		{"daemon", contract.ExitSuccess},
		{"binary", contract.ExitSuccess},
		{"long line", contract.ExitSuccess},
	}
	for _, tt := range tests {
		t.Run(tt.prompt, func(t *testing.T) {
			t.Parallel()
			c := newCapturer(t, true)
			target := fakeTarget(t, tt.prompt)
			target.Probe.Script.Requests = "optional"
			target.Probe.Expected.MustSee, target.Probe.Expected.Exit = []contract.EventName{"init_or_status"}, []contract.ExitClass{tt.want}
			got, err := c.Capture(context.Background(), target)
			if err != nil {
				t.Fatal(err)
			}
			if got.Shape.Shape.Exit != tt.want {
				t.Errorf("exit %s, want %s", got.Shape.Shape.Exit, tt.want)
			}
		})
	}
}

// The script is played whatever is asked, so a prompt that never reaches the model is said to be missing.
func TestCapturePromptIsHeard(t *testing.T) {
	target := fakeTarget(t, "talk")
	target.Probe.Prompt = "talk\n"
	got, err := newCapturer(t, true).Capture(context.Background(), target)
	if err != nil || len(got.Findings) > 0 {
		t.Errorf("the model has the prompt: %v, %v", got, err)
	}
	target.Agent.Modes[0].Argv[0].Argv[2] = "talk"
	target.Probe.Prompt = "Say \"hello\" <twice>."
	got, err = newCapturer(t, true).Capture(context.Background(), target)
	if err != nil || len(got.Findings) != 1 || !strings.HasPrefix(got.Findings[0], "no model request holds the prompt") {
		t.Errorf("the model has another prompt: %v, %v", got, err)
	}
}

// Who fills a hole that the agent file declares is told of it: the tree is refused until it goes.
func TestCaptureFillsAHole(t *testing.T) {
	target := fakeTarget(t, "talk")
	target.Agent.Holes = []contract.Hole{{Probe: target.Probe.ID, Releases: "<1.2.3", Reason: "It was silent."}, {Probe: target.Probe.ID, Mode: "other", Reason: "Another mode."}}
	got, err := newCapturer(t, true).Capture(context.Background(), target)
	if err != nil || len(got.Findings) > 0 {
		t.Errorf("no hole is filled: %v, %v", got, err)
	}
	target.Agent.Holes = append(target.Agent.Holes, contract.Hole{Probe: target.Probe.ID, Releases: ">=1.2.3", Mode: "exec", Reason: "It prints nothing."})
	got, err = newCapturer(t, true).Capture(context.Background(), target)
	if err != nil || len(got.Findings) != 1 || !strings.HasSuffix(got.Findings[0], "It prints nothing; remove it, or narrow its releases") {
		t.Errorf("a hole is filled: %v, %v", got, err)
	}
}

// A CLI without a model API shows what it does without a model, and nothing else.
func TestCaptureWithoutModelAPI(t *testing.T) {
	target := fakeTarget(t, "silent")
	target.Agent.ModelAPI = nil
	if _, err := newCapturer(t, false).Capture(context.Background(), target); err == nil || !strings.Contains(err.Error(), "no model API") {
		t.Errorf("error %v, want that the script needs a model API", err)
	}
	target.Probe.Script.Requests = "optional"
	target.Probe.Expected.MustSee = []contract.EventName{"init_or_status"}
	if _, err := newCapturer(t, false).Capture(context.Background(), target); err != nil {
		t.Errorf("a probe without requests: %v", err)
	}
}

// A side request of the mode takes no step: a run with nothing else has made no request of the conversation.
func TestCaptureSideRequest(t *testing.T) {
	target := fakeTarget(t, "talk")
	target.Agent.Modes[0].Side = []contract.SideRequest{{Purpose: "whatever is asked", Model: "fake-model", Answer: "Aside."}}
	if _, err := newCapturer(t, false).Capture(context.Background(), target); !isA[*NoRequestError](err) {
		t.Errorf("error %v, want that no request was made", err)
	}
}

func TestCaptureMissingEvents(t *testing.T) {
	c := newCapturer(t, true)
	target := fakeTarget(t, "silent")
	target.Probe.Script.Requests = "optional"
	_, err := c.Capture(context.Background(), target)
	var missing *ExpectationError
	if !errors.As(err, &missing) || len(missing.Missing) != 2 {
		t.Fatalf("got %v, want two missing events", err)
	}
	nothingPublic(t, c)
}

// A construct that redaction does not know stops the capture; the failure record names rule and place, never a value.
func TestCaptureRedactionFails(t *testing.T) {
	c := newCapturer(t, true)
	planted := &spy{}
	c.Random = planted
	_, err := c.Capture(context.Background(), answering(t, "leak as key"))
	var failure *redact.Failure
	if !errors.As(err, &failure) {
		t.Fatalf("got %v, want a redaction failure", err)
	}
	nothingPublic(t, c)
	entries, rerr := os.ReadDir(filepath.Join(c.Out, "private"))
	if rerr != nil || len(entries) != 1 {
		t.Fatalf("failure records: %v, %v", entries, rerr)
	}
	data, _ := os.ReadFile(filepath.Join(c.Out, "private", entries[0].Name()))
	var record struct {
		Verdict string         `json:"verdict"`
		Failure redact.Failure `json:"failure"`
	}
	if err := json.Unmarshal(data, &record); err != nil || record.Verdict != "redaction_failed" || record.Failure.Rule != "structure/undeclared-map" {
		t.Errorf("record %s: %v", data, err)
	}
	for _, token := range planted.tokens {
		if bytes.Contains(data, []byte(token)) || strings.Contains(err.Error(), token) {
			t.Error("the failure names a planted value")
		}
	}
}

// What a child finds in its environment and home never reaches a public file.
func TestCaptureCanary(t *testing.T) {
	c := newCapturer(t, true)
	planted := &spy{}
	c.Random = planted
	if _, err := c.Capture(context.Background(), answering(t, "leak canary")); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(c.Out, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		for _, token := range planted.tokens {
			if bytes.Contains(data, []byte(token)) {
				t.Errorf("%s holds a planted value", d.Name())
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// answering is a target whose probe takes any end as an answer.
func answering(t *testing.T, prompt string) Target {
	target := fakeTarget(t, prompt)
	target.Probe.Script.Requests = "optional"
	target.Probe.Expected.MustSee = nil
	return target
}

// spy gives random bytes and remembers their hexadecimal forms.
type spy struct{ tokens []string }

func (s *spy) Read(p []byte) (int, error) {
	n, err := rand.Read(p)
	s.tokens = append(s.tokens, fmt.Sprintf("%x", p[:n]))
	return n, err
}

func TestCaptureVersion(t *testing.T) {
	c := newCapturer(t, true)
	target := fakeTarget(t, "talk")
	target.Version = "1.2.4"
	_, err := c.Capture(context.Background(), target)
	var wrong *VersionError
	if !errors.As(err, &wrong) || wrong.Got != "1.2.3" {
		t.Fatalf("got %v, want version 1.2.3 refused", err)
	}
	target.Bin = filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(target.Bin, []byte("\x7fELF garbage"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err = c.Capture(context.Background(), target); err == nil {
		t.Fatal("a file that is no program was accepted")
	}
	nothingPublic(t, c)
}

// What cannot be started is said without a path: that may name a person.
func TestCaptureNoProgram(t *testing.T) {
	c := newCapturer(t, true)
	target := fakeTarget(t, "talk")
	target.Bin = filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(target.Bin, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := c.Capture(t.Context(), target)
	if err == nil || !strings.Contains(err.Error(), "starting empty: it is not a program") || strings.Contains(err.Error(), filepath.Dir(target.Bin)) || strings.Contains(err.Error(), c.Temp) {
		t.Errorf("got %v", err)
	}
}

func TestCaptureUnstable(t *testing.T) {
	u := &UnstableError{}
	a, b := contract.Shape{Signature: "sha256:a"}, contract.Shape{Signature: "sha256:b"}
	for _, s := range []contract.Shape{a, b, a} {
		u.add(s)
	}
	if len(u.Shapes) != 2 || u.Counts[0] != 2 {
		t.Fatalf("%+v", u)
	}
}

// A cancelled capture ends at once and leaves nothing.
func TestCaptureCancelled(t *testing.T) {
	c := newCapturer(t, true)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(500*time.Millisecond, cancel)
	start := time.Now()
	_, err := c.Capture(ctx, fakeTarget(t, "hold"))
	if err == nil || time.Since(start) > 5*time.Second {
		t.Fatalf("after %s: %v", time.Since(start), err)
	}
	nothingPublic(t, c)
}

// Captures of one capturer may run side by side. Of one probe in one second each has a name of its own, and what they share is
// written once.
func TestCaptureSideBySide(t *testing.T) {
	c := newCapturer(t, true)
	at := time.Now()
	c.Now = func() time.Time { return at }
	c.Progress = t.Logf
	const n = 4
	paths, errs := make(chan contract.RelPath, n), make(chan error, n)
	for range n {
		go func() {
			got, err := c.Capture(context.Background(), fakeTarget(t, "talk"))
			if err == nil {
				paths <- got.Path
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	close(paths)
	seen := map[contract.RelPath]bool{}
	for p := range paths {
		seen[p] = true
	}
	shapes, err := filepath.Glob(filepath.Join(c.Out, "registry", "shapes", "*", "*"))
	if len(seen) != n || len(shapes) != 1 || err != nil {
		t.Errorf("observations %v, shapes %v, %v", seen, shapes, err)
	}
	nothingLeft(t, c)
}

func isA[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

func nothingPublic(t *testing.T, c *Capturer) {
	t.Helper()
	_ = filepath.WalkDir(filepath.Join(c.Out, "registry"), func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("%s was written", d.Name())
		}
		return nil
	})
	nothingLeft(t, c)
}

func nothingLeft(t *testing.T, c *Capturer) {
	t.Helper()
	if left, _ := os.ReadDir(c.Temp); len(left) > 0 {
		t.Errorf("%d entries left in the temporary folder", len(left))
	}
}
