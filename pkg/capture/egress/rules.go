// Package egress is the way out of a live capture: a proxy that lets a child reach the hosts on a list, and nothing else. It
// keeps a record of hosts, counts and sizes, and never of contents; TLS is passed through and not opened.
//
// A child comes by one of two ways. Programs that heed proxy variables use Serve. For those that do not, Resolve gives each
// allowed name an address on loopback, and ServePort serves the ports there. Both lead to the same checks: the name and
// port are on the list, the server name in the TLS handshake (or the Host of plain HTTP) is that name, and the name's addresses,
// looked up outside of the box, are public.
package egress

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// A rule is one entry of the list.
type rule struct {
	text   string
	host   string // of *.host the part behind the star and dot
	any    bool   // every name below host
	port   uint16
	record use
}

// pattern is an entry: a host or *.host, and a port. Hosts are names with a dot, never addresses.
var pattern = regexp.MustCompile(`^(\*\.)?((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24}):([0-9]{1,5})$`)

func parseRule(text string) (*rule, error) {
	m := pattern.FindStringSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("%q is no entry of an egress list: write host.example:443 or *.host.example:443", text)
	}
	port, err := strconv.ParseUint(m[3], 10, 16)
	if err != nil || port == 0 || port == 53 {
		return nil, fmt.Errorf("%q: this port cannot be allowed", text)
	}
	return &rule{text: text, host: m[2], any: m[1] != "", port: uint16(port)}, nil
}

func (r *rule) matches(host string) bool {
	if r.any {
		return strings.HasSuffix(host, "."+r.host) && host[0] != '*' && pattern.MatchString(host+":1")
	}
	return host == r.host
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
