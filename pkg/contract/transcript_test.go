package contract

import (
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

func TestTranscriptLines(t *testing.T) {
	const chunk = `{"dir":"cli->server","stream":"stdout","at_ms":1,"data":"x"}`
	tests := []struct {
		line, rule, pointer string
	}{
		{chunk, "", ""},
		{`{"dir":"server->cli","stream":"stdin","at_ms":0,"data_ref":"fixture:a.png"}`, "", ""},
		{`{"dir":"process","event":"spawn","at_ms":0}`, "", ""},
		{`{"dir":"process","event":"spawn","at_ms":0,"exit_code":null,"signal":null}`, "", ""},
		{`{"dir":"process","event":"timeout","at_ms":0}`, "", ""},
		{`{"dir":"process","event":"kill","at_ms":0,"signal":"SIGKILL"}`, "", ""},
		{`{"dir":"process","event":"exit","at_ms":0,"exit_code":null,"signal":"SIGSEGV"}`, "", ""},
		{`{"dir":"server->cli","stream":"stdin","at_ms":0,"frame":{}}`, "", ""},
		{``, "json/syntax", ""},
		{`[]`, "transcript/kind", ""},
		{`{}`, "transcript/required", "/dir"},
		{`{"dir":"cli->server","stream":"stdout","data":"x"}`, "transcript/required", "/at_ms"},
		{`{"dir":"cli->server","stream":"stdout","at_ms":1}`, "transcript/data", ""},
		{`{"dir":"cli->server","stream":"stdout","at_ms":1,"data":"x","data_ref":"redacted"}`, "transcript/data", ""},
		{`{"dir":"cli->server","stream":"stdout","at_ms":1,"data":null}`, "transcript/type", "/data"},
		{`{"dir":"cli->server","stream":"stdout","at_ms":1,"data_ref":"other"}`, "transcript/type", "/data_ref"},
		{`{"dir":"cli->server","stream":"stdout","at_ms":1,"data":"x","note":1}`, "transcript/kind", "/note"},
		{`{"dir":"cli->server","stream":"stdout","at_ms":1,"data":"x","exit_code":null}`, "transcript/kind", "/exit_code"},
		{`{"dir":"cli->server","stream":"stdout","at_ms":1,"frame":{},"data":"x"}`, "transcript/kind", "/data"},
		{`{"dir":"process","event":"exit","at_ms":1,"exit_code":0,"stream":"stdout"}`, "transcript/kind", "/stream"},
		{`{"dir":"up","stream":"stdout","at_ms":1,"data":"x"}`, "transcript/enum", "/dir"},
		{`{"dir":"cli->server","stream":"none","at_ms":1,"data":"x"}`, "transcript/enum", "/stream"},
		{`{"dir":"process","event":"stop","at_ms":1}`, "transcript/enum", "/event"},
		{`{"dir":"cli->server","stream":"stdin","at_ms":1,"data":"x"}`, "transcript/stream", "/stream"},
		{`{"dir":"server->cli","stream":"stderr","at_ms":1,"data":"x"}`, "transcript/stream", "/stream"},
		{`{"dir":"server->cli","stream":"stdout","at_ms":1,"frame":{}}`, "transcript/stream", "/stream"},
		{`{"dir":"cli->server","stream":"stdout","at_ms":-1,"data":"x"}`, "transcript/type", "/at_ms"},
		{`{"dir":"cli->server","stream":"stdout","at_ms":0.5,"data":"x"}`, "transcript/type", "/at_ms"},
		{`{"dir":"cli->server","stream":"stdout","at_ms":"1","data":"x"}`, "transcript/type", "/at_ms"},
		{`{"dir":"cli->server","stream":"stdout","at_ms":1,"frame":[]}`, "transcript/type", "/frame"},
		{`{"dir":"cli->server","stream":"stdout","at_ms":1,"frame":"x"}`, "transcript/type", "/frame"},
		{`{"dir":"process","event":"exit","at_ms":1}`, "transcript/exit", ""},
		{`{"dir":"process","event":"exit","at_ms":1,"exit_code":0,"signal":"SIGTERM"}`, "transcript/exit", ""},
		{`{"dir":"process","event":"spawn","at_ms":1,"exit_code":0}`, "transcript/exit", ""},
		{`{"dir":"process","event":"kill","at_ms":1,"exit_code":0,"signal":"SIGKILL"}`, "transcript/exit", ""},
		{`{"dir":"process","event":"exit","at_ms":1,"exit_code":-2}`, "transcript/type", "/exit_code"},
		{`{"dir":"process","event":"exit","at_ms":1,"signal":"9"}`, "transcript/type", "/signal"},
	}
	for _, tt := range tests {
		problems := ValidateTranscript("f.jsonl", "", strings.NewReader(tt.line+"\n"))
		switch {
		case tt.rule == "" && len(problems) > 0:
			t.Errorf("%s: %v", tt.line, problems)
		case tt.rule == "transcript/required" && len(problems) > 0 && problems[0].Rule == tt.rule:
		case tt.rule != "" && (len(problems) != 1 || problems[0].Rule != tt.rule || problems[0].Pointer != tt.pointer || problems[0].Line != 1):
			t.Errorf("%s: want %s at %q in line 1, got %v", tt.line, tt.rule, tt.pointer, problems)
		}
		checkAgainstSchema(t, []byte(tt.line))
	}
}

// checkAgainstSchema compares the reading of one line with transcript.schema.json, which says the same in another
// way. Only the envelope of JSON-RPC is more than the schema can say.
func checkAgainstSchema(t *testing.T, line []byte) {
	t.Helper()
	if strings.ContainsAny(string(line), "\n") {
		return
	}
	problems := ValidateTranscript("f", "", strings.NewReader(string(line)+"\n"))
	for _, p := range problems {
		if p.Rule == "transcript/jsonrpc" || p.Rule == "json/syntax" || p.Rule == "json/depth" {
			return
		}
	}
	schema, err := schemaOf(KindTranscript)
	if err != nil {
		t.Fatal(err)
	}
	value, err := parseStrict(line)
	if err != nil {
		t.Fatalf("%q: the reader and the parser disagree: %v", line, err)
	}
	if bySchema := schema.root.Validate(value) == nil; bySchema != (len(problems) == 0) {
		t.Errorf("%s: the schema says valid=%v, the reader %v", line, bySchema, problems)
	}
}

func TestJSONRPC(t *testing.T) {
	tests := []struct {
		frame, pointer string
		ok             bool
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, "", true},
		{`{"jsonrpc":"2.0","method":"note","params":[1]}`, "", true},
		{`{"jsonrpc":"2.0","method":"note"}`, "", true},
		{`{"jsonrpc":"2.0","id":"a","result":null}`, "", true},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"<text>"}}`, "", true},
		{`{"id":1,"method":"initialize"}`, "/frame/jsonrpc", false},
		{`{"jsonrpc":"1.0","id":1,"result":1}`, "/frame/jsonrpc", false},
		{`{"jsonrpc":2.0,"id":1,"result":1}`, "/frame/jsonrpc", false},
		{`{"jsonrpc":"2.0"}`, "/frame", false},
		{`{"jsonrpc":"2.0","id":1}`, "/frame", false},
		{`{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}}`, "/frame", false},
		{`{"jsonrpc":"2.0","id":1,"method":"m","result":1}`, "/frame", false},
		{`{"jsonrpc":"2.0","id":{},"method":"m"}`, "/frame/id", false},
		{`{"jsonrpc":"2.0","id":1,"method":7}`, "/frame/method", false},
		{`{"jsonrpc":"2.0","id":1,"method":""}`, "/frame/method", false},
		{`{"jsonrpc":"2.0","method":"m","params":"x"}`, "/frame/params", false},
		{`{"jsonrpc":"2.0","id":1,"error":"x"}`, "/frame/error", false},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"m"}}`, "/frame/error/code", false},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, "/frame/error/message", false},
	}
	for _, tt := range tests {
		line := fmt.Sprintf("{\"dir\":\"cli->server\",\"stream\":\"stdout\",\"at_ms\":1,\"frame\":%s}\n", tt.frame)
		problems := ValidateTranscript("f", FamilyACP, strings.NewReader(line))
		if tt.ok && len(problems) > 0 || !tt.ok && (len(problems) != 1 || problems[0].Pointer != tt.pointer || problems[0].Rule != "transcript/jsonrpc") {
			t.Errorf("%s: want transcript/jsonrpc at %q, got %v", tt.frame, tt.pointer, problems)
		}
		// Another RPC family needs no envelope, but one that is there must be right.
		problems = ValidateTranscript("f", FamilyPiRPC, strings.NewReader(line))
		if wantOK := tt.ok || !strings.Contains(tt.frame, "jsonrpc"); wantOK != (len(problems) == 0) {
			t.Errorf("%s in a family without JSON-RPC: %v", tt.frame, problems)
		}
		if problems = ValidateTranscript("f", FamilyJSONEvent, strings.NewReader(line)); len(problems) != 1 || problems[0].Rule != "transcript/frame" {
			t.Errorf("%s in a stream family: %v", tt.frame, problems)
		}
	}
}

func TestTranscriptAsAWhole(t *testing.T) {
	chunk := func(ms int) string {
		return fmt.Sprintf("{\"dir\":\"cli->server\",\"stream\":\"stdout\",\"at_ms\":%d,\"data\":\"x\"}\n", ms)
	}
	exit := "{\"dir\":\"process\",\"event\":\"exit\",\"at_ms\":9,\"exit_code\":0}\n"
	tests := map[string]struct {
		text, rule string
		line       int
	}{
		"in order":           {chunk(1) + chunk(1) + chunk(2) + exit, "", 0},
		"no last line end":   {strings.TrimSuffix(chunk(1), "\n"), "", 0},
		"back in time":       {chunk(2) + chunk(1) + chunk(1), "transcript/time", 2},
		"two exits":          {exit + exit, "transcript/exit", 2},
		"two processes":      {exit + "{\"dir\":\"process\",\"event\":\"spawn\",\"at_ms\":9}\n" + exit, "", 0},
		"empty":              {"", "transcript/empty", 0},
		"a blank line":       {chunk(1) + "\n" + chunk(2), "json/syntax", 2},
		"two values":         {chunk(1) + "{} {}\n", "json/syntax", 2},
		"a carriage return":  {strings.ReplaceAll(chunk(1), "\n", "\r\n"), "", 0},
		"a line of 100 KB":   {strings.Replace(chunk(1), `"x"`, `"`+strings.Repeat("x", 100<<10)+`"`, 1), "", 0},
		"a line beyond size": {chunk(1) + strings.Repeat("x", MaxRecordBytes+100<<10), "json/size", 2},
	}
	for name, tt := range tests {
		problems := ValidateTranscript("f", "", strings.NewReader(tt.text))
		if tt.rule == "" && len(problems) > 0 || tt.rule != "" && (len(problems) == 0 || problems[0].Rule != tt.rule || problems[0].Line != tt.line) {
			t.Errorf("%s: want %s in line %d, got %v", name, tt.rule, tt.line, problems)
		}
	}
	if problems := ValidateTranscript("f", "", iotest.ErrReader(iotest.ErrTimeout)); len(problems) == 0 || problems[0].Rule != "transcript/read" {
		t.Errorf("a reader that fails gives %v", problems)
	}
	if problems := ValidateTranscript("f", "", strings.NewReader(strings.Repeat("x\n", 10_000))); len(problems) != maxTranscriptProblems {
		t.Errorf("%d problems, want %d", len(problems), maxTranscriptProblems)
	}
	if got := ValidateTranscript("dir/f", "", strings.NewReader(exit+exit)).Error(); !strings.HasPrefix(got, "dir/f:2: (whole record): the process has exited already (transcript/exit) — ") {
		t.Error(got)
	}
}

func FuzzTranscript(f *testing.F) {
	for name, data := range testFiles(f, "valid") {
		if strings.HasSuffix(name, ".jsonl") {
			f.Add(data)
			for _, line := range strings.SplitAfter(string(data), "\n") {
				f.Add([]byte(line))
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, family := range Family("").Values() {
			ValidateTranscript("f", Family(family), strings.NewReader(string(data)))
		}
		for _, line := range strings.Split(string(data), "\n") {
			checkAgainstSchema(t, []byte(line))
		}
	})
}
