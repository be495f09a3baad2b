package workflow

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var hostile = []string{
	"", "plain", "two\nlines", "ends with a break\n", "a=b", "x<<EOF\ny\nEOF",
	"ghadelimiter_00000000000000000000000000000000\nother=injected",
	"_GitHubActionsFileCommandDelimeter_\nother=injected\n",
	"::set-output name=other::injected", "\n::set-output name=other::injected\n", "  ::stop-commands::x", "##[set-env name=other]injected",
	"text\r::add-mask::a", "100%\r\n::error::x", "%0A::warning::x",
}

func TestValuesCannotInject(t *testing.T) {
	for _, value := range hostile {
		r := newRunner(t)
		a := r.action()
		a.SetOutput("first-name", value)
		a.SetEnv("SECOND", value)
		a.SaveState("third", value)
		if err := a.Err(); err != nil {
			t.Fatalf("%q: %v", value, err)
		}
		want := strings.ReplaceAll(value, "\r\n", "\n")
		for variable, name := range map[string]string{"GITHUB_OUTPUT": "first-name", "GITHUB_ENV": "SECOND", "GITHUB_STATE": "third"} {
			if diff := cmp.Diff(map[string]string{name: want}, pairs(t, r.file(t, variable))); diff != "" {
				t.Errorf("%q in %s (-want +got):\n%s", value, variable, diff)
			}
		}
		if r.log.Len() > 0 {
			t.Errorf("%q: values must not reach the log, got %q", value, r.log.String())
		}
	}
}

func TestAnnotationsAreOneCommand(t *testing.T) {
	for _, value := range hostile {
		r := newRunner(t)
		a := r.action().WithFieldsMap(map[string]string{"file": value, "line": "3", "title": "a:b,c"})
		a.Warningf("%s", value)
		a.Group(value)
		got := strings.Split(strings.TrimSuffix(r.log.String(), "\n"), "\n")
		if len(got) != 2 || strings.Contains(r.log.String(), "\r") || !strings.HasPrefix(got[0], "::warning ") || !strings.HasPrefix(got[1], "::group::") {
			t.Errorf("%q: want two commands, got %q", value, got)
		}
	}
}

func TestInfofIsNoCommand(t *testing.T) {
	for _, value := range hostile {
		r := newRunner(t)
		r.action().Infof("%s", value)
		r.action().Infof(" x %s\n", value)
		if got := commands(r.log.String()); len(got) > 0 {
			t.Errorf("%q: the runner would act on %q", value, got)
		}
	}
}

func TestCommandString(t *testing.T) {
	tests := []struct {
		in   Command
		want string
	}{
		{Command{Name: "endgroup"}, "::endgroup::"},
		{Command{Name: "notice", Message: "50%\r\nx:y,z"}, "::notice::50%25%0D%0Ax:y,z"},
		{Command{Name: "error", Message: "m", Properties: CommandProperties{"line": "1", "file": "a,b:c%\n", "col": ""}}, "::error file=a%2Cb%3Ac%25%0A,line=1::m"},
	}
	for _, test := range tests {
		if got := test.in.String(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

func TestPlainCommands(t *testing.T) {
	r := newRunner(t)
	a := r.action()
	a.AddMask("one\r\n\ntwo")
	a.AddMatcher("m.json")
	a.RemoveMatcher("owner")
	a.EndGroup()
	a.Debugf("d %d", 1)
	a.Noticef("n")
	a.Errorf("e")
	want := "::add-mask::one\n::add-mask::two\n::add-matcher::m.json\n::remove-matcher owner=owner::\n::endgroup::\n::debug::d 1\n::notice::n\n::error::e\n"
	if diff := cmp.Diff(want, r.log.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFatalfEndsWithOne(t *testing.T) {
	r := newRunner(t)
	a := r.action()
	code := 0
	a.exit = func(c int) { code = c }
	a.Fatalf("no")
	if code != 1 || r.log.String() != "::error::no\n" {
		t.Errorf("code %d, log %q", code, r.log.String())
	}
}

func TestGetInput(t *testing.T) {
	r := newRunner(t)
	r.env["INPUT_FOO-BAR"], r.env["INPUT_TWO_WORDS"] = " hyphen stays \n", "x"
	a := r.action()
	if got := a.GetInput("foo-bar"); got != "hyphen stays" {
		t.Errorf("got %q", got)
	}
	if got := a.GetInput("Two words"); got != "x" {
		t.Errorf("got %q", got)
	}
	if got := a.GetInput("absent"); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestFaultsAreKept(t *testing.T) {
	tests := map[string]struct {
		do   func(*Action)
		want string
	}{
		"unset":         {func(a *Action) { a.getenv = func(string) string { return "" }; a.SetOutput("x", "secret-value") }, "GITHUB_OUTPUT is not set"},
		"empty name":    {func(a *Action) { a.SetOutput("", "secret-value") }, "its name"},
		"name injects":  {func(a *Action) { a.SetEnv("x=1\nsecret-value", "y") }, "its name"},
		"path injects":  {func(a *Action) { a.AddPath("/a\n/secret-value") }, "line break"},
		"no randomness": {func(a *Action) { a.random = strings.NewReader("short"); a.SetOutput("x", "secret-value") }, "delimiter"},
		"long summary":  {func(a *Action) { a.AddStepSummary(strings.Repeat("x", maxSummary+1)) }, "shorten it"},
		"writer":        {func(a *Action) { a.w = brokenWriter{}; a.EndGroup() }, "writing to the runner"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t)
			a := r.action()
			test.do(a)
			err := a.Err()
			switch {
			case test.want == "" && err != nil:
				t.Errorf("unexpected: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			case strings.Contains(err.Error(), "secret-value"):
				t.Errorf("the error quotes the value: %v", err)
			}
			if strings.Contains(r.log.String(), "secret-value") || r.file(t, "GITHUB_OUTPUT") != "" {
				t.Error("a refused value was written")
			}
		})
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestDelimiterIsDrawnAgainWhereTheValueHoldsIt(t *testing.T) {
	r := newRunner(t)
	first := "ghadelimiter_" + strings.Repeat("41", 16)
	a := r.action(WithRandom(strings.NewReader(strings.Repeat("A", 16) + strings.Repeat("B", 16))))
	a.SetOutput("x", first+"\ny=injected")
	if err := a.Err(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"x": first + "\ny=injected"}, pairs(t, r.file(t, "GITHUB_OUTPUT"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a = r.action(WithRandom(strings.NewReader(strings.Repeat("A", 16*3))))
	a.SetOutput("x", first)
	if a.Err() == nil {
		t.Error("a source that repeats itself must be refused")
	}
}

func TestPathAndSummary(t *testing.T) {
	r := newRunner(t)
	a := r.action()
	a.AddPath("/opt/a")
	a.AddPath("/opt/b")
	a.AddStepSummary("# One")
	if err := a.AddStepSummaryTemplate("| {{code .}} |", "a|b`c\n<script>"); err != nil {
		t.Fatal(err)
	}
	if err := a.Err(); err != nil {
		t.Fatal(err)
	}
	if got := r.file(t, "GITHUB_PATH"); got != "/opt/a\n/opt/b\n" {
		t.Errorf("path %q", got)
	}
	if got, want := r.file(t, "GITHUB_STEP_SUMMARY"), "# One\n| `` a\\|b`c <script> `` |\n"; got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
	for _, bad := range []string{"{{", "{{.Absent.Field}}"} {
		if err := a.AddStepSummaryTemplate(bad, struct{}{}); err == nil {
			t.Errorf("template %q must fail", bad)
		}
	}
}

func TestGetIDToken(t *testing.T) {
	const token = "header.payload.mark"
	mux := http.NewServeMux()
	mux.HandleFunc("/good", func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "Bearer made-up" || req.URL.Query().Get("audience") != "a b&c" || req.URL.Query().Get("api-version") != "2" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = w.Write([]byte(`{"value":"` + token + `","count":1}`))
	})
	mux.HandleFunc("/denied", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, token, http.StatusForbidden) })
	mux.HandleFunc("/empty", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"token":"` + token + `"}`)) })
	server := httptest.NewServer(mux)
	defer server.Close()

	r := newRunner(t)
	r.env["ACTIONS_ID_TOKEN_REQUEST_TOKEN"] = "made-up"
	ask := func(path string) (string, error) {
		r.env["ACTIONS_ID_TOKEN_REQUEST_URL"] = server.URL + path
		return r.action(WithHTTPClient(server.Client())).GetIDToken(context.Background(), "a b&c")
	}
	got, err := ask("/good?api-version=2")
	if err != nil || got != token {
		t.Fatalf("got %q, %v", got, err)
	}
	if want := "::add-mask::" + token + "\n"; r.log.String() != want {
		t.Errorf("log %q, want the token masked", r.log.String())
	}
	for _, path := range []string{"/denied", "/empty", "/good"} {
		if got, err := ask(path); err == nil || got != "" || strings.Contains(err.Error(), token) {
			t.Errorf("%s: got %q, %v", path, got, err)
		}
	}
	if _, err := New().GetIDToken(context.Background(), ""); err == nil || !strings.Contains(err.Error(), "id-token: write") {
		t.Errorf("got %v", err)
	}
}

func TestContext(t *testing.T) {
	r := newRunner(t)
	event := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(event, []byte(`{"action":"opened"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r.env["GITHUB_ACTIONS"], r.env["GITHUB_REPOSITORY"], r.env["GITHUB_RUN_ID"], r.env["GITHUB_EVENT_PATH"] = "true", "owner/name", "42", event
	c, err := r.action().Context()
	if err != nil {
		t.Fatal(err)
	}
	owner, name := c.Repo()
	if !c.Actions || owner != "owner" || name != "name" || c.RunID != 42 || c.Event["action"] != "opened" || c.APIURL != "https://api.github.com" {
		t.Errorf("got %+v", c)
	}
	r.env["GITHUB_RUN_ID"] = "many"
	if _, err := r.action().Context(); err == nil || !strings.Contains(err.Error(), "GITHUB_RUN_ID") {
		t.Errorf("got %v", err)
	}
}

func TestNewIsSilentWithoutOptions(t *testing.T) {
	a := New(nil)
	a.EndGroup()
	if a.GetInput("path") != "" || a.Err() != nil {
		t.Error("New must read and write nothing of the process by itself")
	}
}

func FuzzSetOutput(f *testing.F) {
	for _, value := range hostile {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if strings.Contains(value, "\r") {
			return // the runner's own reading of line ends is not under test
		}
		r := newRunner(t)
		a := r.action()
		a.SetOutput("x", value)
		if err := a.Err(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"x": value}, pairs(t, r.file(t, "GITHUB_OUTPUT"))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		var log bytes.Buffer
		New(WithWriter(&log)).Infof("%s", value)
		if got := commands(log.String()); len(got) > 0 {
			t.Errorf("the runner would act on %q", got)
		}
	})
}
