package modelserver

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

const testPrefix = "0123456789abcdef0123456789abcdef"

// testConfig plays steps in the Responses dialect.
func testConfig(steps ...contract.ScriptStep) Config {
	return Config{
		Script: contract.Script{
			Usage: contract.Usage{InputTokens: 10, CachedTokens: 4, OutputTokens: 5, ReasoningTokens: 2},
			Steps: steps,
		},
		Tools: map[string][]contract.Tool{"list-files": {
			{Name: "run", Arguments: map[string]any{"cmd": "ls {cwd}", "opts": []any{"{cwd}", 1.0}}},
			{Name: "edit", Arguments: map[string]any{"input": "list <{cwd}>"}},
			{Name: "local_shell", Arguments: map[string]any{"type": "exec", "command": []any{"ls"}}},
			{Name: "group.sub", Arguments: nil},
		}},
		Vars:    map[string]string{"cwd": "/work"},
		Dialect: "openai-responses",
		Model:   "test-model",
		Created: 1700000000,
		Prefix:  testPrefix,
		Canary:  "cnry",
	}
}

// start serves cfg on loopback and returns the server and its base URL. The test's end closes it.
func start(t *testing.T, cfg Config) (*Server, string) {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s, s.BaseURL(l.Addr())
}

// ask posts a model request and returns the status, the headers and as much of the body as came.
func ask(t *testing.T, base, body string) (*http.Response, string, error) {
	t.Helper()
	resp, err := http.Post(base+"/v1/responses", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return resp, string(got), err
}

// modelRequest is a streaming request that offers tools, given as JSON.
func modelRequest(tools ...string) string {
	return `{"model":"test-model","stream":true,"input":[],"tools":[` + strings.Join(tools, ",") + `]}`
}

// eventNames lists the events of a stream, with the delta where there is one.
func eventNames(t *testing.T, stream string) []string {
	t.Helper()
	var names []string
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type   string
			Delta  string
			Number int `json:"sequence_number"`
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("event is not JSON: %v", err)
		}
		if e.Number != len(names) {
			t.Errorf("event %d has sequence number %d", len(names), e.Number)
		}
		name := strings.TrimPrefix(e.Type, "response.")
		if e.Delta != "" {
			name += " " + e.Delta
		}
		names = append(names, name)
	}
	return names
}

func findings(r Report) map[string]int {
	got := map[string]int{}
	for _, f := range r.Findings {
		got[strings.TrimSpace(string(f.Kind)+" "+f.Intent)] = f.Count
	}
	return got
}

var (
	text  = contract.ScriptStep{Text: []string{"one ", "two"}}
	tool  = contract.ScriptStep{Tool: &contract.ToolStep{Intent: "list-files"}}
	empty = contract.ScriptStep{Empty: true}
)

func TestSteps(t *testing.T) {
	tests := []struct {
		name     string
		step     contract.ScriptStep
		tools    []string
		status   int
		events   []string
		cut      bool
		findings map[string]int
	}{
		{
			name: "text", step: text, status: 200,
			events: []string{
				"created", "in_progress", "output_item.added", "content_part.added", "output_text.delta one ", "output_text.delta two",
				"output_text.done", "content_part.done", "output_item.done", "completed",
			},
		},
		{name: "empty", step: empty, status: 200, events: []string{"created", "in_progress", "completed"}},
		{
			name: "function", step: tool, status: 200,
			tools: []string{`{"type":"function","name":"edit"}`, `{"type":"function","name":"run"}`},
			events: []string{
				"created", "in_progress", "output_item.added", `function_call_arguments.delta {"cmd":"ls /work","opts":["/work",1]}`,
				"function_call_arguments.done", "output_item.done", "completed",
			},
		},
		{
			name: "custom", step: tool, status: 200,
			tools: []string{`{"type":"custom","name":"edit"}`},
			events: []string{
				"created", "in_progress", "output_item.added", "custom_tool_call_input.delta list </work>",
				"custom_tool_call_input.done", "output_item.done", "completed",
			},
		},
		{
			name: "custom without input is not callable", step: tool, status: 400,
			tools:    []string{`{"type":"custom","name":"run"}`},
			findings: map[string]int{"tool-not-offered list-files": 1},
		},
		{
			name: "hosted is not callable", step: tool, status: 400,
			tools:    []string{`{"type":"run"}`},
			findings: map[string]int{"tool-not-offered list-files": 1},
		},
		{
			name: "none offered", step: tool, status: 400,
			findings: map[string]int{"tool-not-offered list-files": 1},
		},
		{
			name: "error", step: contract.ScriptStep{Error: &contract.ErrorStep{Status: 401, Type: "invalid_api_key", Message: "No."}}, status: 401,
		},
		{
			name: "drop", step: contract.ScriptStep{Drop: &contract.DropStep{Text: []string{"one "}}}, status: 200, cut: true,
			events: []string{"created", "in_progress", "output_item.added", "content_part.added", "output_text.delta one "},
		},
		{
			name: "drop at an end", step: contract.ScriptStep{Drop: &contract.DropStep{Text: []string{"one "}, How: "end"}}, status: 200,
			events: []string{"created", "in_progress", "output_item.added", "content_part.added", "output_text.delta one "},
		},
		{
			name: "drop before text", step: contract.ScriptStep{Drop: &contract.DropStep{}}, status: 200, cut: true,
			events: []string{"created", "in_progress"},
		},
		{
			name: "stall that ends", step: contract.ScriptStep{Stall: &contract.StallStep{Text: []string{"one "}, Seconds: 1}}, status: 200, cut: true,
			events: []string{"created", "in_progress", "output_item.added", "content_part.added", "output_text.delta one "},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, base := start(t, testConfig(tt.step))
			resp, body, err := ask(t, base, modelRequest(tt.tools...))
			if resp.StatusCode != tt.status {
				t.Errorf("status %d, want %d", resp.StatusCode, tt.status)
			}
			if got := err != nil; got != tt.cut {
				t.Errorf("connection was cut: %v, want %v", got, tt.cut)
			}
			if diff := cmp.Diff(tt.events, eventNames(t, body)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if got, want := resp.Header.Get("X-Request-Id"), "req_cnry_1"; got != want {
				t.Errorf("request id %q, want %q", got, want)
			}
			if tt.findings == nil {
				tt.findings = map[string]int{}
			}
			if diff := cmp.Diff(tt.findings, findings(s.Report())); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorBody(t *testing.T) {
	_, base := start(t, testConfig(contract.ScriptStep{Error: &contract.ErrorStep{Status: 429, Type: "rate_limit_exceeded", Message: "Slow <down>.", RetryAfter: 7}}))
	resp, body, _ := ask(t, base, modelRequest())
	if got := resp.Header.Get("Retry-After"); got != "7" {
		t.Errorf("Retry-After %q, want 7", got)
	}
	want := `{"error":{"message":"Slow <down>.","type":"rate_limit_exceeded","param":null,"code":"rate_limit_exceeded"}}`
	if body != want {
		t.Errorf("body %s, want %s", body, want)
	}
}

func TestStepOrder(t *testing.T) {
	t.Run("beyond the script", func(t *testing.T) {
		s, base := start(t, testConfig(empty))
		ask(t, base, modelRequest())
		resp, _, _ := ask(t, base, modelRequest())
		if resp.StatusCode != 400 {
			t.Errorf("status %d, want 400", resp.StatusCode)
		}
		r := s.Report()
		if diff := cmp.Diff(map[string]int{"beyond-script": 1}, findings(r)); diff != "" || r.Requests != 2 || r.Steps != 1 {
			t.Errorf("requests %d, steps %d, findings %s", r.Requests, r.Steps, diff)
		}
	})
	t.Run("repeat up to the limit", func(t *testing.T) {
		again := text
		again.Repeat = true
		cfg := testConfig(empty, again)
		cfg.MaxRequests = 4
		s, base := start(t, cfg)
		var got []string
		for range 4 {
			resp, body, _ := ask(t, base, modelRequest())
			got = append(got, strconv.Itoa(resp.StatusCode)+" "+strconv.Itoa(len(eventNames(t, body))))
		}
		if diff := cmp.Diff([]string{"200 3", "200 10", "200 10", "200 10"}, got); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		// Beyond the limit there is no answer that a CLI could tell of: only silence, until the server ends.
		done := make(chan error, 1)
		go func() {
			resp, err := http.Post(base+"/v1/responses", "application/json", strings.NewReader(modelRequest()))
			if err == nil {
				_ = resp.Body.Close()
			}
			done <- err
		}()
		for len(s.Report().Findings) == 0 {
			time.Sleep(time.Millisecond)
		}
		select {
		case err := <-done:
			t.Errorf("an answer beyond the limit: %v", err)
		default:
		}
		r := s.Report()
		if diff := cmp.Diff(map[string]int{"too-many-requests": 1}, findings(r)); diff != "" || r.Requests != 4 || r.Steps != 2 {
			t.Errorf("requests %d, steps %d, findings %s", r.Requests, r.Steps, diff)
		}
	})
}

// Concurrent requests take every step once.
func TestConcurrency(t *testing.T) {
	const n = 24
	var steps []contract.ScriptStep
	for i := range n {
		steps = append(steps, contract.ScriptStep{Text: []string{"step" + strconv.Itoa(i)}})
	}
	s, base := start(t, testConfig(steps...))
	var mu sync.Mutex
	seen := map[string]int{}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			_, body, _ := ask(t, base, modelRequest())
			mu.Lock()
			defer mu.Unlock()
			for _, name := range eventNames(t, body) {
				if delta, ok := strings.CutPrefix(name, "output_text.delta "); ok {
					seen[delta]++
				}
			}
		})
	}
	wg.Wait()
	for i := range n {
		if seen["step"+strconv.Itoa(i)] != 1 {
			t.Errorf("step %d was played %d times", i, seen["step"+strconv.Itoa(i)])
		}
	}
	if r := s.Report(); r.Requests != n || r.Steps != n || len(r.Exchanges) != n {
		t.Errorf("requests %d, steps %d, exchanges %d, want %d each", r.Requests, r.Steps, len(r.Exchanges), n)
	}
}

// Two servers give the same bytes down to the headers.
func TestDeterminism(t *testing.T) {
	run := func() []byte {
		_, base := start(t, testConfig(
			tool, text, empty,
			contract.ScriptStep{Error: &contract.ErrorStep{Status: 500, Type: "server_error", Message: "Oops."}},
			contract.ScriptStep{Drop: &contract.DropStep{Text: []string{"a"}}}))
		host := strings.TrimSuffix(strings.TrimPrefix(base, "http://"), "/"+testPrefix)
		var all bytes.Buffer
		for _, path := range []string{"/v1/responses", "/v1/responses", "/v1/responses", "/v1/responses", "/v1/responses", "/v1/models", "/nothing"} {
			method, body := "POST", modelRequest(`{"type":"custom","name":"edit"}`)
			if path == "/v1/models" {
				method = "GET"
			}
			conn, err := net.Dial("tcp", host)
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(conn, method+" /"+testPrefix+path+" HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
			if _, err := io.Copy(&all, conn); err != nil {
				t.Fatal(err)
			}
			conn.Close()
		}
		return all.Bytes()
	}
	if diff := cmp.Diff(string(run()), string(run())); diff != "" {
		t.Errorf("two servers differ:\n%s", diff)
	}
}

// An event that is no JSON, and an end without an error of the connection.
func TestMalformedEvent(t *testing.T) {
	_, base := start(t, testConfig(contract.ScriptStep{Drop: &contract.DropStep{Text: []string{"one "}, How: "malformed"}}))
	if _, body, err := ask(t, base, modelRequest()); err != nil || !strings.HasSuffix(body, "event: broken\ndata: {\"broken\":\n\n") {
		t.Errorf("%q, %v", body, err)
	}
}
