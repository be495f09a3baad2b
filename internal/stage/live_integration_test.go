//go:build integration

package stage_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-design/agent-cli-contracts/internal/stage"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/modelserver"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// accountKey stands for the credential of an account.
const accountKey = "live-credential-of-no-account-0123456789"

// vendorOf is a TLS server in the place of a vendor's host: it wants the credential, and answers as the scripted model does.
func vendorOf(t *testing.T, host string, c modelserver.Config) (at string, ca []byte) {
	t.Helper()
	fail := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	model, err := modelserver.New(c)
	fail(err)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	fail(err)
	go model.Serve(l)                       //nolint:errcheck // it ends with Close
	t.Cleanup(func() { _ = model.Close() }) //nolint:errcheck // of a test
	base, err := url.Parse(model.BaseURL(l.Addr()))
	fail(err)
	proxy := &httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(base)
		r.Out.Host = base.Host
	}, FlushInterval: -1}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fail(err)
	// Not every TLS library takes a server's certificate that is its own authority.
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "stand-in"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	top, err := x509.CreateCertificate(rand.Reader, authority, authority, &key.PublicKey, key)
	fail(err)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: authority.NotBefore, NotAfter: authority.NotAfter, DNSNames: []string{host},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, authority, &key.PublicKey, key)
	fail(err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		credential := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key") + r.URL.Query().Get("key")
		if !strings.Contains(credential, accountKey) {
			http.Error(w, "{}", http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: top})
}

// Real CLIs run live against a stand-in for their vendor: by the name and port of the vendor's own host, over TLS, with the credential that the
// caller passed, and to no other host.
func TestRealLive(t *testing.T) {
	for _, tt := range []struct{ selector, trust string }{
		{"gemini@0.61.0:chat-text-success", "NODE_EXTRA_CA_CERTS"}, // in JavaScript
		{"codex@0.133.0:chat-text-success", "SSL_CERT_FILE"},       // native
	} {
		t.Run(tt.selector, func(t *testing.T) {
			s := openReal(t)
			sel, err := registry.ParseSelector(tt.selector)
			if err != nil {
				t.Fatal(err)
			}
			agent := s.Checkout.Catalog.Agents[contract.AgentID(sel.Agent)]
			probe, err := s.Checkout.Catalog.Probe(sel.Probe)
			if err != nil {
				t.Fatal(err)
			}
			mode, err := registry.ResolveMode(agent, "", sel.Version)
			if err != nil {
				t.Fatal(err)
			}
			api, _ := registry.ModelAPI(agent, sel.Version)
			live := slices.Clone(agent.Live)
			host, _, _ := net.SplitHostPort(live[0].Egress[0])
			at, ca := vendorOf(t, host, modelserver.Config{
				Script: *probe.Script, Tools: mode.Tools, Side: mode.Side, Dialect: api.Dialect, Model: api.Model, Prefix: strings.Repeat("0", 32),
			})
			// The stand-in's certificate is all that differs from a capture with an account.
			set := map[string]string{tt.trust: "{home}/ca.pem"}
			maps.Copy(set, live[0].Set)
			live[0].Set = set
			if live[0].HomeFiles == nil {
				live[0].HomeFiles = agent.HomeFiles
			}
			live[0].HomeFiles = append(slices.Clone(live[0].HomeFiles), contract.HomeFile{Path: "ca.pem", Lines: strings.Split(strings.TrimSpace(string(ca)), "\n")})
			agent.Live = live
			s.Checkout.Catalog.Agents[agent.ID] = agent
			secret := live[0].Secrets[0]
			s.Getenv = func(name string) string {
				if name == secret {
					return accountKey
				}
				return os.Getenv(name)
			}
			s.Lookup = func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("1.2.3.4")}, nil
			}
			s.Dial = func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "tcp", at)
			}
			report, err := s.Capture(t.Context(), stage.CaptureRequest{Selector: tt.selector, Repeat: 1, Backend: "live"})
			if err != nil {
				t.Fatal(err)
			}
			got := report.Probes[0]
			if path := registry.ShapePath(mode.Family, got.Signature); !s.Checkout.Tree.Has(path) || len(got.Findings) > 0 {
				t.Errorf("a live run has another shape than a scripted one: %s; findings %q", got.Signature, got.Findings)
			}
			e := evidence(t, s)
			if i := e.Isolation; i.Network != "allow-list" || len(i.Egress) != 1 || i.Egress[0].To != live[0].Egress[0] || e.ModelRequests != 0 {
				t.Errorf("isolation %+v", i)
			}
		})
	}
}
