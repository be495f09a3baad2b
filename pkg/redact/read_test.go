package redact_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// public makes lines of a transcript file.
func public(entries ...transcript.Entry) string {
	var b []byte
	for _, e := range entries {
		b = append(e.AppendJSON(b), '\n')
	}
	return string(b)
}

func TestReadRefuses(t *testing.T) {
	good := public(
		transcript.Entry{Dir: contract.FromProcess, Event: contract.EventSpawn},
		transcript.Entry{Dir: contract.ServerToCLI, Stream: contract.Stdin, Ref: "prompt"},
		out(`{"type":"t","text":"<text>","id":"<id:1>","n":0,"p":"<cwd>/notes.txt","at":"1970-01-01T00:00:00Z"}`+"\n"),
		out(`{"type":"t","by_model":{"<key:2>":{}},"input":{"file_path":"<text>"},"message":"not logged in: run acme login"}`+"\n"),
		stderr("not logged in: run acme login\n"), exit(),
	)
	if _, err := redact.Read(strings.NewReader(good), policy(t), t.TempDir()); err != nil {
		t.Fatalf("a clean file is refused: %v", err)
	}
	for _, tt := range []struct{ name, old, new, rule string }{
		{"a text put back", `\"<text>\"`, `\"what was said\"`, "structure/allow-list"},
		{"a secret put back", `<text>`, secret, "structure/allow-list"},
		{"an id put back", `<id:1>`, `a-real-id`, "structure/allow-list"},
		{"ids numbered otherwise", `<id:1>`, `<id:2>`, "structure/allow-list"},
		{"a key numbered otherwise", `<key:2>`, `<key:3>`, "structure/allow-list"},
		{"a number put back", `\"n\":0`, `\"n\":42`, "structure/allow-list"},
		{"a date put back", `1970-01-01`, `2026-01-01`, "structure/allow-list"},
		{"a file that the probe did not bring", `notes.txt`, `other.txt`, "structure/allow-list"},
		{"a folder put back", `<cwd>/notes.txt`, cwd + `/notes.txt`, "structure/allow-list"},
		{"a field added", `\"n\":0`, `\"n\":0,\"m\":\"x\"`, "structure/allow-list"},
		{"a field named like data", `\"n\":0`, `\"n x\":0`, "structure/undeclared-map"},
		{"blanks", `\"n\":0`, `\"n\": 0`, "structure/allow-list"},
		{"escapes", `\"<text>\"`, `\"\\u003ctext>\"`, "structure/allow-list"},
		{"text on standard error", `run acme login\n`, `run acme login or else\n`, "structure/allow-list"},
		{"a canary at an enum", `{\"type\":\"t\",\"text`, `{\"type\":\"` + secret + `\",\"text`, "scan/canary/0"},
		{"typed input", `"data_ref":"prompt"`, `"data":"hello"`, "structure/stdin"},
		{"a reference that says something", `"data_ref":"prompt"`, `"data_ref":"my words"`, "structure/stdin"},
		{"a reference on standard output", `"data":"not logged`, `"data_ref":"not logged`, "structure/chunk"},
		{"two lines in one entry", `{\"type\":\"t\",\"by`, `\n{\"type\":\"t\",\"by`, "structure/chunk"},
		{"a line in two entries", `"}\n"}` + "\n" + `{"dir":"cli->server","stream":"stdout","at_ms":0,"data":"{\"type\":\"t\",\"by`, ``, "structure/entry"},
		{"an open line", `00Z\"}\n"`, `00Z\"}"`, "structure/chunk"},
		{"a frame", `"data":"not logged in: run acme login\n"`, `"frame":{"id":1}`, "structure/frame"},
		{"a second data", `"dir":"cli->server"`, `"data":"x","dir":"cli->server"`, "structure/entry"},
		{"a field of an entry", `"dir":"cli->server"`, `"note":"x","dir":"cli->server"`, "structure/entry"},
		{"no JSON", `{"dir":"cli->server"`, `"dir":"cli->server"`, "structure/entry"},
		{"time that goes back", `"event":"spawn","at_ms":0`, `"event":"spawn","at_ms":5`, "structure/entry"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := strings.Replace(good, tt.old, tt.new, 1)
			if file == good {
				t.Fatal("the case changes nothing")
			}
			dir := t.TempDir()
			s, err := redact.Read(strings.NewReader(file), policy(t), dir)
			var failure *redact.Failure
			if s != nil || !errors.As(err, &failure) {
				t.Fatalf("got %v, %v", s, err)
			}
			if failure.Rule != tt.rule || failure.Entry == 0 {
				t.Errorf("got %v, want %s", err, tt.rule)
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "what was said") {
				t.Errorf("the error quotes the file: %v", err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("a refusal leaves %v, %v", left, err)
			}
		})
	}
}

// TestReadDecidesDeltasOfItsOwnLines: an entry without the end of its line must not let a delta pass by the decision
// about a later one.
func TestReadDecidesDeltasOfItsOwnLines(t *testing.T) {
	cut := func(s string) transcript.Entry { return out(strings.TrimSuffix(s, "\n")) }
	for name, entries := range map[string][]transcript.Entry{
		"open lines":              {cut(delta("told in confidence")), out(delta("Hello there, world"))},
		"open lines at a timeout": {cut(delta("told in confidence")), {Dir: contract.FromProcess, Event: contract.EventTimeout}, out(delta("Hello there, world"))},
		"open lines at a spawn":   {cut(delta("told in confidence")), {Dir: contract.FromProcess, Event: contract.EventSpawn}, out(delta("Hello there, world"))},
	} {
		t.Run(name, func(t *testing.T) {
			if s, err := redact.Read(strings.NewReader(public(entries...)), policy(t), t.TempDir()); err == nil {
				t.Errorf("passed: %v", s)
			}
		})
	}
}

func TestNothingPrints(t *testing.T) {
	p := policy(t)
	s := sanitize(t, p, out(`{"type":"t","text":"Say hello."}`+"\n"), exit())
	for _, v := range []any{s, p, &p} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			if got := fmt.Sprintf(verb, v); strings.Contains(got, "hello") || strings.Contains(got, cwd) || strings.Contains(got, secret) {
				t.Errorf("%s prints %.200s", verb, got)
			}
		}
	}
}
