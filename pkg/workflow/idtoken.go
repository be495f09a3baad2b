package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// maxTokenResponse bounds the answer of the token endpoint, in bytes.
const maxTokenResponse = 64 << 10

// GetIDToken asks the runner for an OIDC token for an audience (empty: the endpoint's default), and masks it.
// No error holds a token or what the endpoint answered.
func (a *Action) GetIDToken(ctx context.Context, audience string) (string, error) {
	endpoint, bearer := a.getenv("ACTIONS_ID_TOKEN_REQUEST_URL"), a.getenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN")
	if endpoint == "" || bearer == "" {
		return "", errors.New("the runner offers no OIDC token: give the job the permission id-token: write")
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", errors.New("asking for an OIDC token: ACTIONS_ID_TOKEN_REQUEST_URL is not a URL")
	}
	if audience != "" {
		q := u.Query()
		q.Set("audience", audience)
		u.RawQuery = q.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", fmt.Errorf("asking for an OIDC token: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+bearer)
	req.Header.Set("Accept", "application/json")
	resp, err := a.httpClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("asking for an OIDC token: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("asking for an OIDC token: the endpoint answered %d", resp.StatusCode)
	}
	var answer struct {
		Value string `json:"value"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxTokenResponse)).Decode(&answer); err != nil || answer.Value == "" {
		return "", errors.New("asking for an OIDC token: the answer is not a JSON object with a value")
	}
	a.AddMask(answer.Value)
	return answer.Value, nil
}
