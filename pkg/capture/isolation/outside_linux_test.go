package isolation

import (
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The child reaches a served name by its look-up alone, and the caller sees by the address which one it was.
func TestOutside(t *testing.T) {
	addr := netip.MustParseAddr("127.77.0.9")
	b := openBox(t, Options{Enabled: true, Outside: &Outside{Ports: []uint16{443, 8443}, Resolve: func(name string) (netip.Addr, bool) {
		return addr, name == "api.vendor.example"
	}}})
	for i, l := range b.Ports() {
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, c.LocalAddr().(*net.TCPAddr).String()+strings.Repeat("!", i))
				_ = c.Close()
			}
		}()
	}
	for to, want := range map[string]string{"api.vendor.example:443": "127.77.0.9:443", "API.vendor.example:8443": "127.77.0.9:8443!"} {
		if got, exit := output(t, startHelper(t, b, "dial", to)); got != want {
			t.Errorf("%s: %q, exit %v", to, got, exit)
		}
	}
	if _, exit := output(t, startHelper(t, b, "dial", "other.vendor.example:443")); exit.Code == 0 {
		t.Error("a name that is not served was reached")
	}
	if diff := cmp.Diff([]string{"other.vendor.example"}, b.Lookups()); diff != "" || b.Isolation().Network != "allow-list" {
		t.Errorf("network %s, look-ups (-want +got):\n%s", b.Isolation().Network, diff)
	}
}

func TestOutsideNeedsNamespaces(t *testing.T) {
	if _, err := Open(t.Context(), Options{Outside: &Outside{}}); err == nil {
		t.Error("a box on the host's network served an outside")
	}
}
