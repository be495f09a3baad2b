package egress

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// outside is the world of a test: names and what answers there.
type outside struct {
	proxy           *Proxy
	http, port, tls net.Listener // the proxy, and the ports 80 and 443 of a box
	dialed          chan netip.AddrPort
	server          *httptest.Server
}

func newOutside(t *testing.T, allow ...string) *outside {
	t.Helper()
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, r.Method+" "+r.Host+" "+string(body))
	})
	o := &outside{dialed: make(chan netip.AddrPort, 100), server: httptest.NewUnstartedServer(hello)}
	o.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	o.server.StartTLS()
	plain := httptest.NewServer(hello)
	t.Cleanup(o.server.Close)
	t.Cleanup(plain.Close)
	var err error
	o.proxy, err = New(Config{
		Allow: allow,
		Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			switch {
			case strings.HasPrefix(host, "private."):
				return []netip.Addr{netip.MustParseAddr("1.2.3.4"), netip.MustParseAddr("169.254.169.254")}, nil
			case strings.HasPrefix(host, "missing."):
				return nil, errors.New("no such host")
			}
			return []netip.Addr{netip.MustParseAddr("1.2.3.4")}, nil
		},
		Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			o.dialed <- to
			server := o.server
			if to.Port() == 80 {
				server = plain
			}
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*net.Listener{&o.http, &o.port, &o.tls} {
		if *l, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	go o.proxy.Serve(o.http)
	go o.proxy.ServePort(o.port, 80)
	go o.proxy.ServePort(o.tls, 443)
	t.Cleanup(func() {
		for _, l := range []net.Listener{o.http, o.port, o.tls} {
			_ = l.Close()
		}
		o.proxy.Close()
	})
	return o
}

// get asks through the proxy, or past it at the addresses that stand for names.
func (o *outside) get(t *testing.T, through bool, address, sni, body string) string {
	t.Helper()
	pool := o.server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: sni, InsecureSkipVerify: true}, DisableKeepAlives: true}
	if through {
		tr.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: o.http.Addr().String()})
	} else {
		tr.DialContext = func(ctx context.Context, network, to string) (net.Conn, error) {
			host, port, _ := net.SplitHostPort(to)
			at := o.tls.Addr()
			if port == "80" {
				at = o.port.Addr()
			}
			o.proxy.mu.Lock() // the address of the box is that of the listener here
			o.proxy.names = map[netip.Addr]string{at.(*net.TCPAddr).AddrPort().Addr(): canonical(host)}
			o.proxy.mu.Unlock()
			return (&net.Dialer{}).DialContext(ctx, network, at.String())
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: tr, Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		return "error"
	}
	defer resp.Body.Close() //nolint:errcheck // of a test
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		return resp.Status
	}
	return string(text)
}

func TestProxy(t *testing.T) {
	for _, tt := range []struct {
		name, url, sni, body, want string
		past                       string // what a program gets that does not ask the proxy; want where empty
		report                     Report
	}{
		{"allowed", "https://api.vendor.example/x", "", "ping", "POST api.vendor.example ping", "", Report{Used: []Use{{Rule: "api.vendor.example:443", Connections: 1}}}},
		{"below a suffix", "https://eu.cdn.example/x", "", "", "POST eu.cdn.example ", "", Report{Used: []Use{{Rule: "*.cdn.example:443", Connections: 1}}}},
		{"in capitals", "https://API.vendor.example/x", "", "", "POST API.vendor.example ", "", Report{Used: []Use{{Rule: "api.vendor.example:443", Connections: 1}}}},
		{"plain", "http://plain.vendor.example/x", "", "ping", "POST plain.vendor.example ping", "", Report{Used: []Use{{Rule: "plain.vendor.example:80", Connections: 1}}}},
		{"the suffix itself", "https://cdn.example/x", "", "", "error", "", Report{Names: []string{"cdn.example"}}},
		{"a longer name", "https://api.vendor.example.evil.example/x", "", "", "error", "", Report{Names: []string{"api.vendor.example.evil.example"}}},
		{"another port", "https://api.vendor.example:8443/x", "", "", "error", "-", Report{Names: []string{"api.vendor.example"}}},
		{"not allowed", "https://evil.example/x", "", "", "error", "", Report{Names: []string{"evil.example"}}},
		{"plain, not allowed", "http://evil.example/x", "", "", "403 Forbidden", "error", Report{Names: []string{"evil.example"}}},
		{"a bare address", "https://1.2.3.4/x", "", "", "error", "-", Report{Addresses: []netip.AddrPort{netip.MustParseAddrPort("1.2.3.4:443")}}},
		{"the metadata service", "http://169.254.169.254/x", "", "", "403 Forbidden", "-", Report{Addresses: []netip.AddrPort{netip.MustParseAddrPort("169.254.169.254:80")}}},
		{"an address of IPv6", "https://[::1]/x", "", "", "error", "-", Report{Addresses: []netip.AddrPort{netip.MustParseAddrPort("[::1]:443")}}},
		{"a name that leads inside", "https://private.vendor.example/x", "", "", "error", "", Report{Faults: []string{"private.vendor.example:443: its name leads to a private address"}}},
		{"a name without address", "https://missing.vendor.example/x", "", "", "error", "", Report{Faults: []string{"missing.vendor.example:443: its name has no address"}}},
		{"a front for another", "https://api.vendor.example/x", "evil.example", "", "error", "", Report{Used: []Use{{Rule: "api.vendor.example:443", Connections: 1}}, Names: []string{"evil.example"}}},
	} {
		for _, through := range []bool{true, false} {
			want := tt.want
			if !through && tt.past != "" {
				want = tt.past
			}
			if want == "-" {
				continue // it does not get so far: nothing answers there
			}
			t.Run(tt.name, func(t *testing.T) {
				o := newOutside(t, "api.vendor.example:443", "*.cdn.example:443", "plain.vendor.example:80", "private.vendor.example:443", "missing.vendor.example:443")
				if got := o.get(t, through, tt.url, tt.sni, tt.body); got != want {
					t.Errorf("through the proxy %t: %q, want %q", through, got, want)
				}
				_ = o.http.Close()
				o.proxy.Close()
				got := o.proxy.Report()
				for i, u := range got.Used {
					if u.Sent == 0 != (tt.sni != "") || u.Received == 0 != (tt.sni != "") {
						t.Errorf("%+v", u)
					}
					got.Used[i].Sent, got.Used[i].Received = 0, 0
				}
				if diff := cmp.Diff(tt.report, got, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" {
					t.Errorf("through the proxy %t (-want +got):\n%s", through, diff)
				}
			})
		}
	}
}

// What is no TLS does not pass on a port of TLS, and a request in plain text goes to no other host than the connection.
func TestSmuggling(t *testing.T) {
	o := newOutside(t, "api.vendor.example:443", "plain.vendor.example:80")
	say := func(text string) string {
		t.Helper()
		c, err := net.Dial("tcp", o.http.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close() //nolint:errcheck // of a test
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = io.WriteString(c, text)
		_ = c.(*net.TCPConn).CloseWrite()
		got, _ := io.ReadAll(c)
		return string(got)
	}
	for name, text := range map[string]string{
		"no TLS":                 "CONNECT api.vendor.example:443 HTTP/1.1\r\nHost: api.vendor.example:443\r\n\r\nGET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		"another host within":    "CONNECT plain.vendor.example:80 HTTP/1.1\r\nHost: plain.vendor.example:80\r\n\r\nGET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		"two hosts":              "GET http://plain.vendor.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		"a second request":       "GET http://plain.vendor.example/ HTTP/1.1\r\nHost: plain.vendor.example\r\n\r\nGET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		"a body of unknown size": "POST http://plain.vendor.example/ HTTP/1.1\r\nHost: plain.vendor.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://evil.example/ HTTP/1.1\r\n\r\n",
		"no request":             "\x16\x03\x01",
		"a path alone":           "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
	} {
		if got := say(text); strings.Contains(got, "evil.example") || strings.Count(got, "HTTP/1.1 200 OK") > 1 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A client may encrypt the name of the server that it means behind one that is on the list.
func TestEncryptedServerName(t *testing.T) {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	// A list of one configuration: version, length, number, key agreement, key, ciphers, longest name, the name in front, extensions.
	front, public := "api.vendor.example", key.PublicKey().Bytes()
	config := append([]byte{7, 0, 0x20, 0, byte(len(public))}, public...)
	config = append(config, 0, 4, 0, 1, 0, 1, 0, byte(len(front)))
	config = append(append(config, front...), 0, 0)
	list := append([]byte{0, byte(len(config) + 4), 0xfe, 0x0d, 0, byte(len(config))}, config...)
	for _, hidden := range []bool{false, true} {
		near, far := net.Pipe()
		c := &tls.Config{ServerName: front, MinVersion: tls.VersionTLS13}
		if hidden {
			c.ServerName, c.EncryptedClientHelloConfigList = "evil.example", list
		}
		go func() { _ = tls.Client(near, c).Handshake() }()
		name, _, ok := clientHello(far, far)
		_, _ = near.Close(), far.Close()
		if name != front || ok == hidden {
			t.Errorf("hidden %t: name %q, taken %t", hidden, name, ok)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, list := range [][]string{
		nil, {"vendor.example"}, {"localhost:443"}, {"127.0.0.1:443"}, {"*:443"}, {"*.com:443"}, {"[::1]:443"}, {"a.example:0"}, {"a.example:65536"},
		{"a.example:53"}, {"A.example:443"}, {"a.*.example:443"}, {"https://a.example:443"}, {"-a.example:443"},
	} {
		if _, err := New(Config{Allow: list}); err == nil {
			t.Errorf("%q was taken", list)
		}
	}
}

func TestPublic(t *testing.T) {
	for addr, want := range map[string]bool{
		"1.1.1.1": true, "2606:4700:4700::1111": true,
		"10.0.0.1": false, "172.16.0.1": false, "192.168.1.1": false, "127.0.0.1": false, "169.254.169.254": false, "100.100.100.200": false, "0.0.0.0": false,
		"224.0.0.1": false, "255.255.255.255": false, "::1": false, "::": false, "fc00::1": false, "fd00:ec2::254": false, "fe80::1": false, "ff02::1": false,
		"::ffff:10.0.0.1": false, "64:ff9b::a00:1": false, "2002:a00:1::": false, "::a00:1": false, "192.0.0.192": false,
	} {
		if got := public(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %t", addr, got)
		}
	}
}

func TestResolve(t *testing.T) {
	p, err := New(Config{Allow: []string{"api.vendor.example:443", "*.cdn.example:443"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	first, ok := p.Resolve("API.vendor.example.")
	again, _ := p.Resolve("api.vendor.example")
	other, _ := p.Resolve("a.cdn.example")
	if !ok || !first.IsLoopback() || first != again || first == other {
		t.Errorf("%v %v %v", first, again, other)
	}
	for _, name := range []string{"", "cdn.example", "evil.example", "*.cdn.example", ".cdn.example", "a b.cdn.example"} {
		if addr, ok := p.Resolve(name); ok {
			t.Errorf("%q is %v", name, addr)
		}
	}
	for i := range 2 * maxNames {
		p.Resolve(strings.Repeat("a", 1+i%60) + strings.Repeat("b", 1+i/60) + ".cdn.example")
	}
	if len(p.addresses) > maxNames {
		t.Errorf("%d names", len(p.addresses))
	}
}

func FuzzClientHello(f *testing.F) {
	var hello bytes.Buffer
	near, far := net.Pipe()
	go func() {
		_ = tls.Client(near, &tls.Config{ServerName: "api.vendor.example"}).Handshake()
	}()
	_ = far.SetReadDeadline(time.Now().Add(time.Second))
	b := make([]byte, 4096)
	n, _ := far.Read(b)
	_ = far.Close()
	hello.Write(b[:n])
	f.Add(hello.Bytes())
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		name, read, ok := clientHello(nil, bytes.NewReader(b))
		if ok && name == "" || !bytes.HasPrefix(b, read) {
			t.Errorf("%q %t", name, ok)
		}
	})
}
