package redact_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

func TestStderr(t *testing.T) {
	const (
		auth       = "not logged in: run acme login\n"
		diagnostic = "loaded /srv/x/y.toml of version 1.2.3-beta for some body as ab12\n"
		upstream   = "status 500 Internal Server Error: Say hello., url: https://example.com/x\n"
		debug      = "retry 2 in 1.5s: not logged in: run acme login\n"
	)
	for _, tt := range []struct {
		name, in, want string
		class          contract.StderrClass
	}{
		{"nothing", "", "", contract.StderrNone},
		{"blank lines", "\n  \n\r\n", "\n\n\r\n", contract.StderrNone},
		{"unknown", "something happened to fakeuser\n", "<text>\n", contract.StderrUnknown},
		{"one of the probe's texts", "Say hello.\n", "Say hello.\n", contract.StderrUnknown},
		{"auth", auth, auth, "auth"},
		{"typed holes", diagnostic, "loaded <path> of version 0.0.0 for <text> as <id>\n", "diagnostic"},
		{"a body that is a literal", upstream, "status 500 Internal Server Error: Say hello., url: <url>\n", "upstream"},
		{"a body that is not", "status 500 Internal Server Error: who are you, url: https://example.com/x\n", "status 500 Internal Server Error: <text>, url: <url>\n", "upstream"},
		{"a reason of nobody", "status 500 My Secret Reason: Say hello., url: https://x/y\n", "status 500 <text>: Say hello., url: <url>\n", "upstream"},
		{"a message in a message", debug, "retry 2 in <duration>: not logged in: run acme login\n", "debug"},
		{"an unknown message in a message", "retry 2 in 1.5s: who knows\n", "retry 2 in <duration>: <text>\n", "debug"},
		{"a template and more", "not logged in: run acme login now\n", "<text>\n", contract.StderrUnknown},
		{"the weightiest counts", debug + diagnostic + upstream + auth, "retry 2 in <duration>: not logged in: run acme login\nloaded <path> of version 0.0.0 for <text> as <id>\nstatus 500 Internal Server Error: Say hello., url: <url>\n" + auth, "auth"},
		{"unknown outweighs diagnostics", diagnostic + "what\n", "loaded <path> of version 0.0.0 for <text> as <id>\n<text>\n", contract.StderrUnknown},
		{"without a newline", "not logged in: run acme login", "not logged in: run acme login", "auth"},
		{"JSON is text here", `{"type":"t"}` + "\n", "<text>\n", contract.StderrUnknown},
		{"invalid UTF-8", "a\xff\xfeb\n", "<text>\n", contract.StderrUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := sanitize(t, policy(t), stderr(tt.in), exit())
			if got := stream(t, s, contract.Stderr); got != tt.want {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
			if s.StderrClass() != tt.class {
				t.Errorf("class %s, want %s", s.StderrClass(), tt.class)
			}
		})
	}
}

// TestTemplatesThatWouldNotRecogniseThemselves: a sanitized message must be recognised as itself, or it does not survive.
func TestTemplatesThatWouldNotRecogniseThemselves(t *testing.T) {
	compiled, err := redact.CompileTemplates([]contract.DiagnosticTemplate{
		{ID: "narrow", Text: "in <text> we trust, {who}", Class: "auth", Holes: map[string]string{"who": "enum"}},
		{ID: "wide", Text: "in {x} we trust, {who}", Class: "debug", Holes: map[string]string{"x": "text", "who": "enum"}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"in code we trust, acme":   "in <text> we trust, acme",
		"in <text> we trust, acme": "in <text> we trust, acme",
	} {
		text, class, ok := compiled.Recognise(in)
		if !ok || text != want || class != "auth" {
			t.Errorf("%q gives %q %s %v", in, text, class, ok)
		}
	}
	if _, err := redact.CompileTemplates([]contract.DiagnosticTemplate{{ID: "x", Text: "hole {a}", Holes: map[string]string{"a": "anything"}}}, nil); err == nil {
		t.Error("a hole of no known type compiles")
	}
}

// A value that is cut into words does not leave piece by piece through the hole of a message.
func TestPiecesInMessages(t *testing.T) {
	lines := func(format string, pieces ...string) (out string) {
		for _, piece := range pieces {
			out += strings.ReplaceAll(format, "%s", piece) + "\n"
		}
		return out
	}
	secret := []string{"kQzx", "wVpj", "hfGt", "xqZk", "bVcn", "mRtw", "qPsd", "zXcv"}
	words := []string{"acme", "other", "config", "session", "login", "auth"}
	for _, tt := range []struct {
		name    string
		entry   transcript.Entry
		refused bool
	}{
		{"standard error", stderr(lines("not logged in: run %s login", secret...)), true},
		{"in a message in a message", stderr(lines("retry 2 in 1.5s: not logged in: run %s login", secret...)), true},
		{"noise", out(lines("not logged in: run %s login", secret...)), true},
		{"a leaf", out(lines(`{"type":"t","message":"not logged in: run %s login"}`, secret...)), true},
		{"words", stderr(lines("not logged in: run %s login", words...)), false},
		{"one of them often", stderr(lines("not logged in: run %s login", "kqzx", "kqzx", "kqzx")), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := redact.Redact(record(t, tt.entry, exit()), policy(t), t.TempDir())
			if err == nil {
				defer s.Close()
			}
			var failure *redact.Failure
			if refused := errors.As(err, &failure) && failure.Rule == "structure/pieces"; refused != tt.refused || !refused && err != nil {
				t.Errorf("got %v, want refused: %t", err, tt.refused)
			}
		})
	}
}

// The place of a failure does not tell a value that is cut into keys, one below the other.
func TestPiecesInPaths(t *testing.T) {
	_, err := redact.Redact(record(t, out(`{"type":"t","kQzx":{"wVpj":{"hfGt":{"x y":1}}}}`+"\n"), exit()), policy(t), t.TempDir())
	var failure *redact.Failure
	if !errors.As(err, &failure) || failure.Path != "$" {
		t.Errorf("got %v", err)
	}
}
