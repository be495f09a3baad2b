package workflow

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runner is what the tests know of the other side: files by variable, the log, and how it reads both.
type runner struct {
	env map[string]string
	log bytes.Buffer
}

func newRunner(t *testing.T) *runner {
	r := &runner{env: map[string]string{}}
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_STATE", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"} {
		r.env[name] = filepath.Join(t.TempDir(), name)
	}
	return r
}

func (r *runner) action(opts ...Option) *Action {
	return New(append([]Option{WithWriter(&r.log), WithGetenv(func(name string) string { return r.env[name] })}, opts...)...)
}

func (r *runner) file(t *testing.T, variable string) string {
	t.Helper()
	data, err := os.ReadFile(r.env[variable])
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

// pairs reads a file of values as the runner does: "name=value", or "name<<delimiter" up to a line that equals it.
func pairs(t *testing.T, text string) map[string]string {
	t.Helper()
	out := map[string]string{}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		if lines[i] == "" {
			continue
		}
		equals, heredoc := strings.Index(lines[i], "="), strings.Index(lines[i], "<<")
		if heredoc < 0 || (equals >= 0 && equals < heredoc) {
			out[lines[i][:max(equals, 0)]] = lines[i][equals+1:]
			continue
		}
		name, delimiter := lines[i][:heredoc], lines[i][heredoc+2:]
		var value []string
		for i++; ; i++ {
			if i == len(lines) {
				t.Fatalf("no line ends the value of %s", name)
			}
			if lines[i] == delimiter {
				break
			}
			value = append(value, lines[i])
		}
		out[name] = strings.Join(value, "\n")
	}
	return out
}

// commands finds the lines of a log that the runner would act on.
func commands(log string) []string {
	var out []string
	for _, line := range strings.FieldsFunc(log, func(r rune) bool { return r == '\n' || r == '\r' }) {
		trimmed := strings.TrimSpace(line)
		if (strings.HasPrefix(trimmed, "::") && strings.Contains(trimmed[2:], "::")) || strings.Contains(line, "##[") {
			out = append(out, line)
		}
	}
	return out
}
