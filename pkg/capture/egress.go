package capture

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/capture/isolation"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
)

// publicHost is a host name that tells nothing but a vendor: short words, and no run of digits or hexadecimal that could
// carry data.
var publicHost = regexp.MustCompile(`^(?:[a-z](?:-?[a-z0-9]){0,23}\.){1,4}[a-z]{2,12}$`)

// dataLabel is what is more likely data than a word.
var dataLabel = regexp.MustCompile(`[0-9]{4}|[0-9a-f]{9}|(?:[0-9][a-z]+){3}`)

// maxHosts is how many names of a run are published as they are: a CLI knows a handful, and many could spell something.
const maxHosts = 16

// spells reports whether a label of a host name makes no words, or those before the last two together.
func spells(host string) bool {
	labels := strings.Split(host, ".")
	own := strings.Join(labels[:max(len(labels)-2, 0)], ".")
	score, chars := protocol.Reads(own)
	return chars >= 7 && score < 0 || slices.ContainsFunc(labels, func(l string) bool { return !protocol.IsToken(l) })
}

// hostPlaceholder stands for a name that may not be published.
const hostPlaceholder = "<host>"

// packageRegistry is the address of a package registry. Which one a CLI asks is the configuration of the machine, so a
// record says packageRegistryPlaceholder on all of them.
var packageRegistry = regexp.MustCompile(`^registry\.(?:npmjs|yarnpkg)\.[a-z]{2,3}$`)

const packageRegistryPlaceholder = "<npm-registry>"

// publicNames are the looked-up names as a record may hold them: sorted, each once.
func (c *Capturer) publicNames(names []string, f *folder) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	scanner, err := c.scanner(f)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range names {
		switch {
		case len(names) > maxHosts:
			name = hostPlaceholder
		case packageRegistry.MatchString(name):
			name = packageRegistryPlaceholder
		case !publicHost.MatchString(name) || dataLabel.MatchString(name) || spells(name) || len(scanner.Scan([]byte(name))) > 0:
			name = hostPlaceholder
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// addressPlaceholder stands for addresses that may not be published, or that nobody listed.
const addressPlaceholder = "<address>"

// maxAddresses is how many addresses of a run are published as they are. More could be data in pieces.
const maxAddresses = 8

// metadata are the addresses at which clouds tell a machine its credentials. Records may not hold them, and say
// metadataPlaceholder.
var metadata = []string{"169.254.169.254", "100.100.100.200", "fd00:ec2::254"}

const metadataPlaceholder = "<metadata>"

// resolvers are addresses that everybody knows: public name servers.
var resolvers = []string{
	"1.0.0.1", "1.1.1.1", "8.8.4.4", "8.8.8.8", "9.9.9.9", "149.112.112.112", "208.67.220.220", "208.67.222.222",
	"2001:4860:4860::8844", "2001:4860:4860::8888", "2606:4700:4700::1001", "2606:4700:4700::1111", "2620:fe::fe",
}

// publicAddresses are the attempts at bare addresses as a record may hold them: sorted, each once. A child that had a real
// credential could spell it in addresses: of a live run only those that everybody knows are shown.
func (c *Capturer) publicAddresses(a isolation.Addresses, live bool, f *folder) ([]string, error) {
	if len(a.Listed) == 0 && a.Unlisted == 0 {
		return nil, nil
	}
	scanner, err := c.scanner(f)
	if err != nil {
		return nil, err
	}
	var out []string
	if a.Unlisted > 0 {
		out = append(out, addressPlaceholder)
	}
	for _, to := range a.Listed {
		if slices.Contains(metadata, to.Addr().String()) {
			out = append(out, metadataPlaceholder)
			continue
		}
		known := slices.Contains(resolvers, to.Addr().String()) && slices.Contains([]uint16{53, 80, 443, 853}, to.Port())
		few := len(a.Listed) <= maxAddresses && !live
		if !known && (!few || len(scanner.Scan([]byte(to.String()))) > 0) {
			to = netip.AddrPort{}
		}
		if to.IsValid() {
			out = append(out, to.String())
		} else {
			out = append(out, addressPlaceholder)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// recordEgress says in a record where the child of a box wanted to go.
func (c *Capturer) recordEgress(d *driven, box *isolation.Box, out *wayOut, f *folder) (err error) {
	i := &d.isolation
	names, a, findings := out.record(i, box.Lookups(), box.Addresses())
	if i.EgressAttempts, err = c.publicNames(names, f); err != nil {
		return err
	}
	d.findings = findings
	if i.Connects = "counted"; a.Watched {
		i.Connects = "listed"
	}
	if i.Network == "host" {
		i.Connects = ""
	}
	i.EgressAddresses, err = c.publicAddresses(a, len(f.live) > 0, f)
	return err
}

// leaving is what a run is told about attempts to leave the box.
func leaving(i contract.Isolation) (findings []string) {
	if names := i.EgressAttempts; len(names) > 0 {
		findings = append(findings, "tried to leave loopback: looked up "+strings.Join(names, ", "))
	}
	if list := i.EgressAddresses; len(list) > 0 {
		findings = append(findings, "tried to leave loopback: reached for "+strings.Join(list, ", "))
	}
	return findings
}

// privateFolders are folders of the user who captures that a CLI must not see, beside those that every box hides.
func (c *Capturer) privateFolders() []string {
	dirs := []string{c.Temp}
	for _, name := range []string{"HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"} {
		if dir := c.Getenv(name); dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
