package stage

import (
	"context"
	"net/http"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/capture"
	"github.com/open-design/agent-cli-contracts/pkg/notify"
)

// AlertWebhook names the variable that holds the address of a private chat.
const AlertWebhook = "AGENT_CONTRACTS_ALERT_WEBHOOK"

// alert tells the maintainers of a run that redaction stopped, where a chat is configured. An alert that cannot be sent
// changes nothing: the failure record is there all the same.
func (s *Stage) alert(f capture.FailureRecord) {
	webhook := s.Getenv(AlertWebhook)
	if webhook == "" {
		return
	}
	client := &http.Client{Timeout: 10 * time.Second}
	err := notify.Send(context.Background(), client, webhook, notify.Alert{
		Agent: f.Agent, Version: f.Version, Platform: f.Platform, Mode: f.Mode, Probe: f.Probe,
		Rule: f.Failure.Rule, Entry: f.Failure.Entry, Remedy: f.Failure.Remedy, Bundle: f.Bundle, Run: s.workflowURL(),
	})
	if err != nil {
		s.Progress("%v", err)
	}
}
