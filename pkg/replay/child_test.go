package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
)

func fixture(t *testing.T, probe string) *replay.Fixture {
	t.Helper()
	l := open(t, nil)
	r := recorded(t, l, probe)
	f, err := l.Fixture(r.Observation.ProtocolFamily, r.Observation.Shape.Signature)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

const chatStdout = "{\"type\":\"init\",\"session\":\"<id:1>\"}\n{\"type\":\"message\",\"text\":\"Hello, sample.\"}\n{\"type\":\"result\",\"usage\":{\"input\":10}}\n"

func TestChild(t *testing.T) {
	const prompt = "Say hello to the sample.\n"
	tests := []struct {
		probe, stdin, prompt, stdout, stderr string
		want                                 replay.Ending
	}{
		{"provider-failure", prompt, prompt, "{\"type\":\"init\",\"session\":\"<id:1>\"}\n{\"type\":\"failure\",\"message\":\"The sample provider is down.\"}\n", "retrying 3 times\n",
			replay.Ending{Code: 3, StdinBytes: int64(len(prompt)), StdinChecked: true}},
		{"chat-text-success", prompt + "\n", strings.TrimSpace(prompt), chatStdout, "", replay.Ending{StdinBytes: int64(len(prompt)) + 1, StdinChecked: true}},
		{"version-probe", "ignored", prompt, "sample-cli 0.0.0\n", "", replay.Ending{}},
		{"version-probe", "ignored", "", "sample-cli 0.0.0\n", "", replay.Ending{}},
	}
	for _, tt := range tests {
		t.Run(tt.probe, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			got, err := replay.Child{Stdin: strings.NewReader(tt.stdin), Stdout: &stdout, Stderr: &stderr, Prompt: tt.prompt}.Play(context.Background(), fixture(t, tt.probe))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{tt.stdout, tt.stderr, tt.want}, []any{stdout.String(), stderr.String(), got}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The recording read its prompt before it printed anything; so does the child.
func TestChildWaitsForStdin(t *testing.T) {
	r, w := io.Pipe()
	var stdout bytes.Buffer
	done := make(chan error, 1)
	f := fixture(t, "chat-text-success")
	go func() {
		_, err := replay.Child{Stdin: r, Stdout: &stdout, Stderr: io.Discard}.Play(context.Background(), f)
		done <- err
	}()
	_, _ = io.WriteString(w, "prompt")
	select {
	case <-done:
		t.Fatal("the child ended before its stdin did")
	case <-time.After(20 * time.Millisecond):
	}
	_ = w.Close()
	if err := <-done; err != nil || !strings.Contains(stdout.String(), "Hello, sample.") {
		t.Errorf("%v, %q", err, stdout.String())
	}
}

func TestChildRefusesAnotherPrompt(t *testing.T) {
	_, err := replay.Child{Stdin: strings.NewReader("something private"), Stdout: io.Discard, Stderr: io.Discard, Prompt: "Say hello"}.Play(context.Background(), fixture(t, "chat-text-success"))
	var wrong *replay.PromptError
	if !errors.As(err, &wrong) || strings.Contains(err.Error(), "private") {
		t.Errorf("got %v", err)
	}
}

func TestChildStopsWithItsContext(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close() //nolint:errcheck // a pipe
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := (replay.Child{Stdin: r, Stdout: io.Discard, Stderr: io.Discard}).Play(ctx, fixture(t, "chat-text-success")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestChildKeepsTime(t *testing.T) {
	start := time.Now()
	if _, err := (replay.Child{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Speed: 2}).Play(context.Background(), fixture(t, "chat-text-success")); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 40*time.Millisecond {
		t.Errorf("90 recorded milliseconds at double speed took %s", took)
	}
}

// parserEnv makes this test binary a host's parser command.
const parserEnv = "REPLAY_TEST_PARSER"

func TestMain(m *testing.M) {
	switch os.Getenv(parserEnv) {
	case "":
		os.Exit(m.Run())
	case "lines":
		data, _ := io.ReadAll(os.Stdin)
		for range bytes.Count(data, []byte("\n")) {
			_, _ = io.WriteString(os.Stdout, `{"event":"raw","fields":{"family":"`+os.Getenv("CONTRACT_FAMILY")+`"}}`+"\n")
		}
	case "end":
		stderr, err := os.ReadFile(os.Getenv("CONTRACT_STDERR"))
		if err != nil {
			os.Exit(6)
		}
		_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"event": "raw", "fields": map[string]string{
			"end": os.Getenv("CONTRACT_END"), "code": os.Getenv("CONTRACT_EXIT_CODE"), "stderr": string(stderr),
		}})
	case "stdout only":
		_, _ = io.WriteString(os.Stdout, `[{"event":"version_reported"}]`)
	case "fail":
		os.Exit(4)
	case "noise":
		_, _ = io.WriteString(os.Stdout, "not events")
	case "flood": // finite, so that a limit that does not hold fails the test and not the machine
		for range replay.MaxParserOutput>>20 + 8 {
			if _, err := os.Stdout.Write(make([]byte, 1<<20)); err != nil {
				os.Exit(5)
			}
		}
	case "hang":
		time.Sleep(time.Minute)
	}
}

func TestExternal(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := fixture(t, "chat-text-success")
	tests := []struct{ mode, want string }{
		{"lines", ""}, {"fail", "exit status 4"}, {"noise", "event 0 of the parser"}, {"hang", "did not end within"},
		{"flood", "printed more than"},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			t.Setenv(parserEnv, tt.mode)
			x := replay.External{Argv: []string{self}, Limit: time.Minute}
			if tt.mode == "hang" {
				x.Limit = 200 * time.Millisecond
			}
			got, err := x.Events(context.Background(), f)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || len(got) != 3 || string(got[0].Fields["family"]) != `"json-event-stream/v1"` {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	if _, err := (replay.External{}).Events(context.Background(), f); err == nil {
		t.Error("an empty command ran")
	}
}

// A host knows how its child ended and what stood on standard error; so does its parser here, whatever the caller's environment says.
func TestExternalKnowsTheEnd(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(parserEnv, "end")
	t.Setenv("CONTRACT_EXIT_CODE", "77")
	temp := t.TempDir()
	tests := []struct{ probe, end, code, stderr string }{
		{"provider-failure", "exit", "3", "retrying 3 times\n"}, {"chat-text-success", "exit", "0", ""},
	}
	for _, tt := range tests {
		got, err := replay.External{Argv: []string{self}, Temp: temp}.Events(context.Background(), fixture(t, tt.probe))
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		for name, want := range map[string]string{"end": tt.end, "code": tt.code, "stderr": tt.stderr} {
			var value string
			if err := json.Unmarshal(got[0].Fields[name], &value); err != nil || value != want {
				t.Errorf("%s: %s is %q, want %q (%v)", tt.probe, name, value, want, err)
			}
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A parser that reads nothing but its input cannot give the event of the process's end, and is told of it.
func TestReplayHintsAtTheEnd(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(parserEnv, "stdout only")
	parser := replay.External{Argv: []string{self}, Goldens: registry.ReferenceParser}.Parser()
	l := open(t, nil)
	for probe, want := range map[string]bool{"version-probe": true, "chat-text-success": false} {
		results, err := l.Replay(context.Background(), registry.Selector{Probe: probe}, parser)
		if err != nil || len(results) != 1 || results[0].Status != replay.Incompatible || strings.Contains(results[0].Hint, "CONTRACT_EXIT_CODE") != want {
			t.Errorf("%s: %+v, %v", probe, results, err)
		}
	}
}
