// Package egress is the way out of a live capture: a proxy that lets a child reach the hosts on a list, and nothing else. It
// keeps a record of hosts, counts and sizes, and never of contents; TLS is passed through and not opened.
//
// A child comes by one of two ways. Programs that heed proxy variables use Serve. For those that do not, Resolve gives each
// allowed name an address on loopback, and ServePort serves the ports there. Both lead to the same checks: the name and
// port are on the list, the server name in the TLS handshake (or the Host of plain HTTP) is that name, and the name's addresses,
// looked up outside of the box, are public.
package egress

import (
	"net/netip"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// A rule is one entry of the list.
type rule struct {
	contract.EgressRule
	text   string
	record use
}

func parseRule(text string) (*rule, error) {
	r, err := contract.ParseEgressRule(text)
	return &rule{EgressRule: r, text: text}, err
}

// notPublic are the ranges of special addresses beyond those that package netip knows.
var notPublic = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	// Of IPv6 whatever carries an address of IPv4 within, and what is local or for documents.
	"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
)

func prefixes(list ...string) (out []netip.Prefix) {
	for _, text := range list {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

// public reports whether an address is one of the internet at large: no machine of the local network, no metadata service.
func public(addr netip.Addr) bool {
	addr = addr.Unmap()
	if !addr.IsValid() || addr.Zone() != "" || !addr.IsGlobalUnicast() || addr.IsPrivate() {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(addr) {
			return false
		}
	}
	return true
}
