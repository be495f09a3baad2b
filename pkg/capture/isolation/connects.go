package isolation

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"sync"
)

// Addresses are the attempts of a child to reach an address without asking for its name.
type Addresses struct {
	// Listed are the addresses and ports, sorted, each once. They come from the child, so they are not fit to be shown as
	// they are.
	Listed []netip.AddrPort
	// Unlisted is how many more packets and connections than the listed ones had no way out, by the kernel's own count.
	Unlisted int
	// Watched says that the system calls of the child were looked at; else only the kernel's count is known.
	Watched bool
}

// attempts remember where a child wanted to go.
type attempts struct {
	mu    sync.Mutex
	seen  map[netip.AddrPort]bool
	count int
	blind bool // the memory of the child could not be read
}

// note remembers an address, if it leads out of the box.
func (a *attempts) note(to netip.AddrPort) {
	addr := to.Addr().Unmap()
	if addr.IsLoopback() || addr.IsUnspecified() {
		return // the latter is another name of loopback
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count++
	if a.seen == nil {
		a.seen = map[netip.AddrPort]bool{}
	}
	if len(a.seen) < maxLookups {
		a.seen[netip.AddrPortFrom(addr.WithZone(""), to.Port())] = true
	}
}

// result is what was seen, beside the kernel's count of what had no way out.
func (a *attempts) result(watched bool, refused int) Addresses {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := Addresses{Watched: watched && !a.blind, Unlisted: max(refused-a.count, 0)}
	for to := range a.seen {
		r.Listed = append(r.Listed, to)
	}
	slices.SortFunc(r.Listed, netip.AddrPort.Compare)
	return r
}

// Families of addresses, as Linux numbers them.
const (
	familyIPv4 = 2
	familyIPv6 = 10
)

// sockaddr reads an address of IPv4 or IPv6 as a program passes it to the kernel.
func sockaddr(b []byte) (netip.AddrPort, bool) {
	if len(b) < 8 {
		return netip.AddrPort{}, false
	}
	port := binary.BigEndian.Uint16(b[2:])
	switch binary.NativeEndian.Uint16(b) {
	case familyIPv4:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), port), true
	case familyIPv6:
		if len(b) >= 24 {
			return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])), port), true
		}
	}
	return netip.AddrPort{}, false
}
