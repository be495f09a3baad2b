package stage

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/capture"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
)

func TestAlert(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, string(body))
	}))
	defer server.Close()
	failed := capture.FailureRecord{Agent: "codex", Version: "1.2.3", Probe: "chat-text-success", Failure: &redact.Failure{Rule: "scan/canary", Entry: 3, Remedy: "look"}}
	const refused = "http://hooks.example/T0K3N"
	for _, webhook := range []string{"", server.URL, refused} {
		s := &Stage{Env: Env{
			Getenv: func(name string) string { return map[string]string{AlertWebhook: webhook}[name] },
			Progress: func(_ string, args ...any) {
				if err, ok := args[0].(error); webhook != refused || ok && strings.Contains(err.Error(), "T0K3N") {
					t.Errorf("%q: %v", webhook, args)
				}
			},
		}}
		s.alert(failed)
	}
	if len(got) != 1 || !strings.Contains(got[0], "codex 1.2.3, probe chat-text-success") || !strings.Contains(got[0], "scan/canary at entry 3") {
		t.Errorf("alerts %q", got)
	}
}

// A job that runs no CLI, and so may have the address, sends what other jobs found.
func TestAlertOfRecords(t *testing.T) {
	got := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got++ }))
	defer server.Close()
	s := &Stage{Env: Env{Getenv: func(name string) string { return map[string]string{AlertWebhook: server.URL}[name] }}}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.Alert(t.Context(), dir); n != 0 || err != nil {
		t.Errorf("of an empty folder: %d, %v", n, err)
	}
	record, err := json.Marshal(capture.FailureRecord{Agent: "fake", Version: "1.2.3", Probe: "chat-text-success", Failure: &redact.Failure{Rule: "scan/canary", Remedy: "look"}})
	if err != nil {
		t.Fatal(err)
	}
	write("failures-1/a.redaction-failed.json", string(record))
	write("failures-2/b.redaction-failed.json", string(record))
	write("failures-2/other.json", "{}")
	if n, err := s.Alert(t.Context(), dir); n != 2 || got != 2 || err != nil {
		t.Errorf("%d records, %d alerts, %v", n, got, err)
	}
	write("failures-3/c.redaction-failed.json", `{"agent": "`+strings.Repeat("T0K3N", 100_000)+`"}`)
	if _, err := s.Alert(t.Context(), dir); err == nil || strings.Contains(err.Error(), "T0K3N") {
		t.Errorf("of a record that is none: %v", err)
	}
	if _, err := (&Stage{Env: Env{Getenv: func(string) string { return "" }}}).Alert(t.Context(), dir); err == nil {
		t.Error("without an address nothing was said")
	}
}
