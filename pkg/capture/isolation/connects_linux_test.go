package isolation

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A child that wants to leave by a bare address goes nowhere, and is seen.
func TestAddresses(t *testing.T) {
	b := openBox(t, Options{Enabled: true})
	got, _ := output(t, startHelper(t, b, "name-addresses", "8.8.8.8:53", "169.254.169.254:80", "[2001:db8::1]:443"))
	if got != "done\n" {
		t.Fatalf("the child said %q", got)
	}
	want := []netip.AddrPort{}
	for _, name := range []string{"8.8.8.8:53", "169.254.169.254:80", "[2001:db8::1]:443"} {
		to := netip.MustParseAddrPort(name)
		for i := range uint16(3) {
			want = append(want, netip.AddrPortFrom(to.Addr(), to.Port()+i))
		}
	}
	slices.SortFunc(want, netip.AddrPort.Compare)
	a := b.Addresses()
	if !a.Watched {
		t.Fatal("this kernel lists no connections")
	}
	if diff := cmp.Diff(want, a.Listed, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" || a.Unlisted != 0 {
		t.Errorf("%d unlisted (-want +got):\n%s", a.Unlisted, diff)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if after := b.Addresses(); len(after.Listed) != len(want) || after.Unlisted != 0 {
		t.Errorf("after the end: %+v", after)
	}
}

// Without the watch the kernel's own count remains.
func TestCountedAddresses(t *testing.T) {
	b := openBox(t, Options{Enabled: true})
	output(t, startHelper(t, b, "name-addresses", "8.8.8.8:53"))
	n := b.runner.(*namespaces)
	if got := noRoute(n.init.Process.Pid); got != 3 {
		t.Errorf("the kernel counted %d", got)
	}
	if got := (&attempts{}).result(false, 3); got.Unlisted != 3 || got.Watched {
		t.Errorf("%+v", got)
	}
}

// What stays on loopback is no attempt.
func TestLoopbackIsNoAttempt(t *testing.T) {
	b := openBox(t, Options{Enabled: true})
	output(t, startHelper(t, b, "name-addresses", "127.0.0.1:9", "[::1]:9", "0.0.0.0:9"))
	if a := b.Addresses(); len(a.Listed) != 0 || a.Unlisted != 0 {
		t.Errorf("%+v", a)
	}
}

func FuzzSockaddr(f *testing.F) {
	f.Add([]byte{2, 0, 0, 53, 8, 8, 8, 8})
	f.Add(make([]byte, 28))
	f.Fuzz(func(t *testing.T, b []byte) {
		if to, ok := sockaddr(b); ok && !to.IsValid() {
			t.Errorf("%v", to)
		}
	})
}
