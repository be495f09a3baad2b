// Package notify sends cards to the webhook of a chat. A card holds names, versions, rules and links of this project, never
// a value that a CLI printed; the address of the webhook is a secret and appears in no error.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Alert is the private card about a run that redaction stopped.
type Alert struct {
	Agent    contract.AgentID
	Version  contract.CLIVersion
	Platform contract.Platform
	Mode     contract.ModeID
	Probe    contract.ProbeID
	// Rule and Entry say what stopped the redaction and where; Remedy what a maintainer can do.
	Rule   string
	Entry  int
	Remedy string
	// Bundle is the name of the encrypted raw transcript, empty when it was discarded. Run is the workflow run.
	Bundle string
	Run    *contract.HTTPSURL
}

// text is the card as lines of plain text.
func (a Alert) text() string {
	lines := []string{
		fmt.Sprintf("redaction_failed: %s %s, probe %s", a.Agent, a.Version, a.Probe),
		fmt.Sprintf("platform %s, mode %s", a.Platform, a.Mode),
		fmt.Sprintf("rule %s at entry %d: %s", a.Rule, a.Entry, a.Remedy),
	}
	if a.Bundle == "" {
		lines = append(lines, "the raw transcript was discarded")
	} else {
		lines = append(lines, "raw transcript, encrypted to the maintainers: "+a.Bundle)
	}
	if a.Run != nil {
		lines = append(lines, "run: "+string(*a.Run))
	}
	for i := range lines {
		lines[i] = plain(lines[i])
	}
	return strings.Join(lines, "\n")
}

// maxLine bounds a line of a card.
const maxLine = 500

// plain takes from a line what a chat would read as markup, a mention or a control character.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '<' || r == '>' || r == '&' || r == '`' || r == '*' || r == '@' || r == '|':
			return ' '
		case unicode.IsControl(r):
			return ' '
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > maxLine {
		s = string(runes[:maxLine]) + "…"
	}
	return s
}

// Send posts the card as {"text": …}, which Slack, Mattermost and others take. Redirects are not followed: they would carry
// the card elsewhere.
func Send(ctx context.Context, client *http.Client, webhook string, a Alert) error {
	target, err := url.Parse(webhook)
	if err != nil || target.Host == "" || target.Scheme != "https" && target.Hostname() != "127.0.0.1" {
		return errors.New("sending an alert: the webhook is no https address: correct the secret that holds it")
	}
	body, err := json.Marshal(map[string]string{"text": a.text()})
	if err != nil {
		return fmt.Errorf("sending an alert: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, webhook, bytes.NewReader(body))
	if err != nil {
		return errors.New("sending an alert: the webhook is no address: correct the secret that holds it")
	}
	req.Header.Set("Content-Type", "application/json")
	direct := *client
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := direct.Do(req)
	if err != nil {
		var wrapped *url.Error // its text quotes the address
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return fmt.Errorf("sending an alert: %s", strings.ReplaceAll(err.Error(), target.Host, "the webhook"))
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	_ = resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("sending an alert: the webhook answers %d", resp.StatusCode)
	}
	return nil
}
