package notify

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

var run = contract.HTTPSURL("https://github.com/open-design/agent-cli-contracts/actions/runs/1")

var alert = Alert{
	Agent: "codex", Version: "0.133.0", Platform: "linux-x64", Mode: "exec-json", Probe: "chat-text-success",
	Rule: "scan/canary", Entry: 7, Remedy: "find out where it came from", Bundle: "sha256-00.raw.jsonl.age", Run: &run,
}

func TestSend(t *testing.T) {
	var got struct {
		Text string `json:"text"`
	}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &got); err != nil || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("body %q, error %v", body, err)
		}
	}))
	defer server.Close()
	if err := Send(t.Context(), server.Client(), server.URL+"/hook/secret", alert); err != nil {
		t.Fatal(err)
	}
	want := `redaction_failed: codex 0.133.0, probe chat-text-success
platform linux-x64, mode exec-json
rule scan/canary at entry 7: find out where it came from
raw transcript, encrypted to the maintainers: sha256-00.raw.jsonl.age
run: https://github.com/open-design/agent-cli-contracts/actions/runs/1`
	if diff := cmp.Diff(want, got.Text); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTextIsPlain(t *testing.T) {
	a := alert
	a.Bundle, a.Run = "", nil
	a.Remedy = "<!channel> @here *bold* `code`\n<https://evil.example|click>\x1b[31m" + strings.Repeat("x", 1000)
	got := a.text()
	if strings.ContainsAny(got, "<>@*`|\x1b") || strings.Count(got, "\n") != 3 || len(got) > 1000 || !strings.HasSuffix(got, "was discarded") {
		t.Errorf("%q", got)
	}
}

// The address is a secret: whatever goes wrong, no error holds it, nor does another server get the card.
func TestErrorsHoldNoAddress(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the card went elsewhere") }))
	defer elsewhere.Close()
	answer := func(code int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(code)
		}))
		t.Cleanup(s.Close)
		return s.URL + "/T0K3N"
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for _, webhook := range []string{
		answer(500), answer(307), answer(404), closed.URL + "/T0K3N", "http://hooks.example/T0K3N", "https:///T0K3N", "://T0K3N", "T0K3N", "",
	} {
		err := Send(t.Context(), http.DefaultClient, webhook, alert)
		if err == nil || strings.Contains(err.Error(), "T0K3N") || strings.Contains(err.Error(), "127.0.0.1:") {
			t.Errorf("%q: %v", webhook, err)
		}
	}
}
