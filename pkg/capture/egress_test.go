//go:build unix

package capture

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-design/agent-cli-contracts/pkg/capture/isolation"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
)

// moreNames could spell something, word by word.
var moreNames = func() (out []string) {
	for c := 'a'; c <= 'z'; c++ {
		out = append(out, "host-"+string(c)+".vendor.example")
	}
	return out
}()

func TestPublicNames(t *testing.T) {
	c := newCapturer(t, false)
	c.Known = []scan.Known{{Value: "buildbox", Kind: "host", TokenOnly: true}}
	f, err := c.newFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer f.remove() //nolint:errcheck // of the test's folder
	for _, tt := range []struct {
		name  string
		names []string
		want  []string
	}{
		{"none", nil, nil},
		{"vendors", []string{"us.telemetry.example.com", "api.vendor.example"}, []string{"api.vendor.example", "us.telemetry.example.com"}},
		{"a machine", []string{"sandbox", "laptop.local.", "buildbox"}, []string{"<host>"}},
		{"an address", []string{"4.3.2.1.in-addr.arpa", "1.2.3.4"}, []string{"<host>"}},
		{"the canary", []string{f.canaries[canaryEnvironment] + ".evil.example"}, []string{"<host>"}},
		{"data in a label", []string{"deadbeef01.evil.example", "u4k9x2a7.evil.example", "a.b.c.d.e.f.evil.example", "x12345.evil.example"}, []string{"<host>"}},
		{"letters that make no words", []string{"kqzjxwvbnmlkjhg.evil.example", "mhzq.wkpv.xqrt.evil.example", "xq-zk-vj-wp-fh-gt.evil.example"}, []string{"<host>"}},
		{"vendors' odd ones", []string{"sg-pum.alibabachengdun.com", "resolvers-cn.httpdns.aliyuncs.com", "api2.qoder.sh", "raw.githubusercontent.com", "app.posthog.com", "chatgpt.com", "otel.cline.bot"},
			[]string{"api2.qoder.sh", "app.posthog.com", "chatgpt.com", "otel.cline.bot", "raw.githubusercontent.com", "resolvers-cn.httpdns.aliyuncs.com", "sg-pum.alibabachengdun.com"}},
		{"more than a CLI has", moreNames, []string{"<host>"}},
		{"package registries", []string{"registry.yarnpkg." + "com", "registry.npmjs." + "org", "registry.example.com"}, []string{"<npm-registry>", "registry.example.com"}},
		{"what is no name", []string{"a b.example", "a\x00.example", "::warning::x.example", "A.example", ""}, []string{"<host>"}},
	} {
		got, err := c.publicNames(tt.names, f)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestPublicAddresses(t *testing.T) {
	c := newCapturer(t, false)
	f, err := c.newFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer f.remove() //nolint:errcheck // of the test's folder
	var many []netip.AddrPort
	for i := range 9 {
		many = append(many, netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(i)}), 443))
	}
	for _, tt := range []struct {
		name string
		a    isolation.Addresses
		live bool
		want []string
	}{
		{"none", isolation.Addresses{Watched: true}, false, nil},
		{"a few", isolation.Addresses{Listed: many[:2]}, false, []string{"203.0.113.0:443", "203.0.113.1:443"}},
		{"many", isolation.Addresses{Listed: append([]netip.AddrPort{netip.MustParseAddrPort("8.8.8.8:53")}, many...)}, false, []string{"8.8.8.8:53", "<address>"}},
		{"of a live run", isolation.Addresses{Listed: []netip.AddrPort{many[0], netip.MustParseAddrPort("8.8.8.8:53"), netip.MustParseAddrPort("8.8.8.8:12345")}}, true, []string{"8.8.8.8:53", "<address>"}},
		{"counted", isolation.Addresses{Unlisted: 2}, false, []string{"<address>"}},
	} {
		got, err := c.publicAddresses(tt.a, tt.live, f)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// A run that tries to leave loopback shows up with what it wanted to reach.
func TestCaptureReachesOut(t *testing.T) {
	got, err := newCapturer(t, true).Capture(t.Context(), fakeTarget(t, "reach out"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"tried to leave loopback: looked up telemetry.vendor.example", "tried to leave loopback: reached for 8.8.8.8:53"}
	if diff := cmp.Diff(want, got.Findings); diff != "" && got.Evidence.Isolation.Kind == "namespaces" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
