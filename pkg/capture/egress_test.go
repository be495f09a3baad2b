//go:build unix

package capture

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
)

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
