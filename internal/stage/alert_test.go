package stage

import (
	"io"
	"net/http"
	"net/http/httptest"
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
