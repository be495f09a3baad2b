package isolation

import (
	"encoding/binary"
	"io"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// A resolver is the only name server that a box has. It knows the names that the caller serves, and remembers which others
// were asked for.
//
// Its answer to those is "server failure", not "no such name": that is what programs report where there is no network, so
// that a run prints the same as in a box without any name server.
type resolver struct {
	packets net.PacketConn
	streams net.Listener
	known   func(string) (netip.Addr, bool) // may be nil
	wait    sync.WaitGroup

	mu    sync.Mutex
	names map[string]bool
	conns map[net.Conn]bool
}

// maxLookups bounds what is remembered; a child may ask for ever.
const maxLookups = 100

func newResolver(packets net.PacketConn, streams net.Listener, known func(string) (netip.Addr, bool)) *resolver {
	r := &resolver{packets: packets, streams: streams, known: known, names: map[string]bool{}, conns: map[net.Conn]bool{}}
	r.wait.Go(r.servePackets)
	r.wait.Go(r.serveStreams)
	return r
}

func (r *resolver) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.names))
}

func (r *resolver) close() {
	_ = r.packets.Close()
	_ = r.streams.Close()
	r.mu.Lock()
	for c := range r.conns {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.wait.Wait()
}

func (r *resolver) servePackets() {
	buf := make([]byte, 4096)
	for {
		n, from, err := r.packets.ReadFrom(buf)
		if err != nil {
			return
		}
		if answer := r.answer(buf[:n]); answer != nil {
			_, _ = r.packets.WriteTo(answer, from) // the child may be gone
		}
	}
}

// maxStreams bounds the open connections.
const maxStreams = 64

func (r *resolver) serveStreams() {
	for {
		c, err := r.streams.Accept()
		if err != nil {
			return
		}
		r.mu.Lock()
		full := len(r.conns) >= maxStreams
		if !full {
			r.conns[c] = true
		}
		r.mu.Unlock()
		if full {
			_ = c.Close()
			continue
		}
		r.wait.Go(func() {
			r.serveStream(c)
			r.mu.Lock()
			delete(r.conns, c)
			r.mu.Unlock()
			_ = c.Close()
		})
	}
}

func (r *resolver) serveStream(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	for {
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(c, query); err != nil {
			return
		}
		answer := r.answer(query)
		if answer == nil {
			return
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}

const dnsHeader = 12

// Types of questions and of answers.
const (
	typeA     = 1
	classIN   = 1
	pointer   = 0xc000 | dnsHeader // to the name in the question
	timeALive = 0                  // nothing may be kept beyond the run
)

// answer returns the answer to a query, or nil for what is no query, and remembers a name that has none.
func (r *resolver) answer(query []byte) []byte {
	name, end, ok := question(query)
	if !ok {
		return nil
	}
	var addr netip.Addr
	served := false
	if r.known != nil {
		addr, served = r.known(name)
	}
	if !served {
		r.mu.Lock()
		if len(r.names) < maxLookups {
			r.names[name] = true
		}
		r.mu.Unlock()
	}
	answer := slices.Clone(query[:end])
	answer[2] = 0x80 | query[2]&0x79 // a response, with the query's opcode and its wish for recursion
	answer[3] = 0x80 | 2             // recursion is available; server failure
	binary.BigEndian.PutUint16(answer[4:], 1)
	clear(answer[6:dnsHeader])
	if !served {
		return answer
	}
	answer[3] = 0x80 // no error; for other types than addresses of IPv4 there is just nothing
	if !addr.Is4() || binary.BigEndian.Uint16(query[end-4:]) != typeA || binary.BigEndian.Uint16(query[end-2:]) != classIN {
		return answer
	}
	answer[7] = 1 // one answer
	for _, field := range []uint16{pointer, typeA, classIN, 0, timeALive, 4} {
		answer = binary.BigEndian.AppendUint16(answer, field)
	}
	return append(answer, addr.AsSlice()...)
}

// question reads the first name of a query, in lower case, and where the question ends.
func question(query []byte) (name string, end int, ok bool) {
	if len(query) < dnsHeader || query[2]&0x80 != 0 || binary.BigEndian.Uint16(query[4:]) == 0 {
		return "", 0, false
	}
	var labels []string
	at := dnsHeader
	for at < len(query) && at < dnsHeader+255 {
		n := int(query[at])
		at++
		if n == 0 {
			if at+4 > len(query) {
				return "", 0, false
			}
			return strings.ToLower(strings.Join(labels, ".")), at + 4, true
		}
		if n > 63 || at+n > len(query) {
			return "", 0, false // also a pointer, which has no place in a question
		}
		labels = append(labels, string(query[at:at+n]))
		at += n
	}
	return "", 0, false
}
