package egress

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config says what a Proxy lets out, and by what means.
type Config struct {
	// Allow is the list: host:port or *.suffix:port.
	Allow []string
	// Lookup finds the addresses of a name, and Dial connects to one of them. Nil is the system's own way.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial   func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

// Report is what went out and what was turned away.
type Report struct {
	Used []Use
	// Names and Addresses were asked for and are not on the list, sorted, each once. They come from the child, so they are not
	// fit to be shown as they are.
	Names     []string
	Addresses []netip.AddrPort
	// Faults say, in words of the list alone, why something that is on it was refused.
	Faults []string
}

// Use is what went by one entry of the list.
type Use struct {
	Rule           string
	Connections    int
	Sent, Received int64
}

type use struct {
	connections    int
	sent, received int64
}

// A Proxy lets a child out to the hosts on its list. Its methods may be called from several goroutines.
type Proxy struct {
	config Config
	rules  []*rule
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu        sync.Mutex
	closed    bool
	conns     map[net.Conn]bool
	addresses map[string]netip.Addr // of the box, by name
	names     map[netip.Addr]string
	refused   map[string]bool
	bare      map[netip.AddrPort]bool
	faults    map[string]bool
}

// Bounds of what a child may ask for.
const (
	maxConns   = 256
	maxNames   = 200 // host names that get an address, and refusals that are remembered
	dialTime   = 20 * time.Second
	headerTime = 20 * time.Second
)

// New makes a proxy for a list.
func New(c Config) (*Proxy, error) {
	p := &Proxy{
		config: c, conns: map[net.Conn]bool{}, addresses: map[string]netip.Addr{}, names: map[netip.Addr]string{},
		refused: map[string]bool{}, bare: map[netip.AddrPort]bool{}, faults: map[string]bool{},
	}
	for _, text := range c.Allow {
		r, err := parseRule(text)
		if err != nil {
			return nil, err
		}
		p.rules = append(p.rules, r)
	}
	if len(p.rules) == 0 {
		return nil, errors.New("an egress list without an entry lets nothing out: name the vendor's host")
	}
	if p.config.Lookup == nil {
		p.config.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host+".")
		}
	}
	if p.config.Dial == nil {
		p.config.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", to.String())
		}
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

// Ports are the ports of the list, sorted, each once.
func (p *Proxy) Ports() (ports []uint16) {
	for _, r := range p.rules {
		ports = append(ports, r.Port)
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// Resolve gives the address on the box's loopback that stands for an allowed name.
func (p *Proxy) Resolve(name string) (netip.Addr, bool) {
	host := canonical(name)
	if !slices.ContainsFunc(p.rules, func(r *rule) bool { return r.Matches(host) }) {
		return netip.Addr{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if addr, ok := p.addresses[host]; ok {
		return addr, true
	}
	if len(p.addresses) >= maxNames {
		return netip.Addr{}, false
	}
	addr := netip.AddrFrom4([4]byte{127, 77, 0, byte(1 + len(p.addresses))})
	p.addresses[host], p.names[addr] = addr, host
	return addr, true
}

func canonical(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

// find is the entry of the list for a host and port, which is remembered as refused where there is none.
func (p *Proxy) find(host string, port uint16) *rule {
	for _, r := range p.rules {
		if r.Port == port && r.Matches(host) {
			return r
		}
	}
	p.refuse(host, port)
	return nil
}

// refuse remembers what the child wanted and is not on the list.
func (p *Proxy) refuse(host string, port uint16) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		if len(p.bare) < maxNames {
			p.bare[netip.AddrPortFrom(addr.Unmap().WithZone(""), port)] = true
		}
	} else if len(p.refused) < maxNames && host != "" {
		p.refused[host] = true
	}
}

func (p *Proxy) fault(r *rule, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults[r.text+": "+why] = true
}

// dial connects to an allowed host. Whatever its name servers say, it must be a host of the internet: a name of the list
// could be made to lead into the network of the machine.
func (p *Proxy) dial(r *rule, host string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(p.ctx, dialTime)
	defer cancel()
	addrs, err := p.config.Lookup(ctx, host)
	if err != nil || len(addrs) == 0 {
		p.fault(r, "its name has no address")
		return nil, fmt.Errorf("no address: %w", err)
	}
	if slices.ContainsFunc(addrs, func(a netip.Addr) bool { return !public(a) }) {
		p.fault(r, "its name leads to a private address")
		return nil, errors.New("a private address")
	}
	var errs []error
	for _, addr := range addrs {
		attempt, stop := context.WithTimeout(ctx, dialTime/2)
		c, err := p.config.Dial(attempt, netip.AddrPortFrom(addr.Unmap(), r.Port))
		stop()
		if err == nil {
			p.mu.Lock()
			r.record.connections++
			p.mu.Unlock()
			return c, nil
		}
		errs = append(errs, err)
	}
	p.fault(r, "no connection to it")
	return nil, errors.Join(errs...)
}

// track keeps a connection so that Close ends it; false when the proxy is closed or has too many.
func (p *Proxy) track(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.conns) >= maxConns {
		return false
	}
	p.conns[c] = true
	return true
}

// begin tracks a connection that Close waits for.
func (p *Proxy) begin(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.conns) >= maxConns {
		return false
	}
	p.conns[c] = true
	p.wait.Add(1)
	return true
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
	_ = c.Close()
}

// accept serves the connections of a listener until it is closed.
func (p *Proxy) accept(l net.Listener, serve func(net.Conn)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		if !p.begin(c) {
			_ = c.Close()
			continue
		}
		go func() {
			defer p.wait.Done()
			defer p.drop(c)
			serve(c)
		}()
	}
}

// Close ends every connection and returns when none is left. The caller closes the listeners before.
func (p *Proxy) Close() {
	p.cancel()
	p.mu.Lock()
	p.closed = true
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wait.Wait()
}

// Report is what went out so far. After Close it is final.
func (p *Proxy) Report() Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out Report
	for _, r := range p.rules {
		if r.record.connections > 0 {
			out.Used = append(out.Used, Use{r.text, r.record.connections, r.record.sent, r.record.received})
		}
	}
	out.Names, out.Faults = slices.Sorted(maps.Keys(p.refused)), slices.Sorted(maps.Keys(p.faults))
	out.Addresses = slices.SortedFunc(maps.Keys(p.bare), netip.AddrPort.Compare)
	return out
}
