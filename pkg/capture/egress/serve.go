package egress

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// portHTTP is the one port of plain HTTP; on every other a connection must be TLS.
const portHTTP = 80

// Serve is an HTTP proxy: CONNECT, and plain requests with a whole address.
func (p *Proxy) Serve(l net.Listener) {
	p.accept(l, func(c net.Conn) {
		_ = c.SetReadDeadline(time.Now().Add(headerTime))
		in := bufio.NewReader(io.LimitReader(c, maxHeader))
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		rest := io.MultiReader(buffered(in), c)
		if req.Method != http.MethodConnect {
			host, port := split(req.URL.Host, portHTTP)
			if req.URL.Scheme != "http" || req.Host != req.URL.Host {
				p.refuse(host, port)
				refusal(c, http.StatusForbidden)
				return
			}
			p.plain(c, req, rest, host, port)
			return
		}
		host, port := split(req.Host, 443)
		r := p.find(host, port)
		if r == nil {
			refusal(c, http.StatusForbidden)
			return
		}
		if port == portHTTP {
			_, _ = io.WriteString(c, established)
			p.servePlain(c, rest, host)
			return
		}
		p.secure(c, rest, r, host, func(ok bool) {
			if ok {
				_, _ = io.WriteString(c, established)
			} else {
				refusal(c, http.StatusBadGateway)
			}
		})
	})
}

// ServePort serves a port of the addresses that Resolve gave.
func (p *Proxy) ServePort(l net.Listener, port uint16) {
	p.accept(l, func(c net.Conn) {
		local, ok := c.LocalAddr().(*net.TCPAddr)
		if !ok {
			return
		}
		p.mu.Lock()
		host, ok := p.names[local.AddrPort().Addr().Unmap()]
		p.mu.Unlock()
		if !ok {
			return // another address of loopback
		}
		r := p.find(host, port)
		switch {
		case r == nil: // the name is allowed, on another port
		case port == portHTTP:
			p.servePlain(c, c, host)
		default:
			p.secure(c, c, r, host, func(bool) {})
		}
	})
}

// maxHeader bounds the head of a request, and a TLS handshake.
const maxHeader = 256 << 10

const established = "HTTP/1.1 200 Connection established\r\n\r\n"

func refusal(w io.Writer, status int) {
	_, _ = io.WriteString(w, "HTTP/1.1 "+strconv.Itoa(status)+" "+http.StatusText(status)+"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

// buffered is what a reader has read ahead.
func buffered(in *bufio.Reader) io.Reader {
	b, _ := in.Peek(in.Buffered())
	return bytes.NewReader(bytes.Clone(b))
}

// split parts host and port; a port that is none becomes 0, which no entry has.
func split(hostport string, port uint16) (string, uint16) {
	host, text, err := net.SplitHostPort(hostport)
	if err != nil {
		return canonical(hostport), port
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		n = 0
	}
	return canonical(host), uint16(n)
}

// servePlain serves one plain request to an address or in a tunnel that stands for host.
func (p *Proxy) servePlain(c net.Conn, from io.Reader, host string) {
	_ = c.SetReadDeadline(time.Now().Add(headerTime))
	in := bufio.NewReader(io.LimitReader(from, maxHeader))
	req, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	asked, port := split(req.Host, portHTTP)
	if asked != host || port != portHTTP || req.Method == http.MethodConnect || req.URL.Host != "" {
		p.refuse(asked, port)
		refusal(c, http.StatusForbidden)
		return
	}
	p.plain(c, req, io.MultiReader(buffered(in), c), host, portHTTP)
}

// plain passes one request on. Its connection carries no second one, which could be for another host.
func (p *Proxy) plain(c net.Conn, req *http.Request, rest io.Reader, host string, port uint16) {
	r := p.find(host, port)
	if r == nil {
		refusal(c, http.StatusForbidden)
		return
	}
	// The body was cut at the bound of the head; it is read again from what follows.
	if req.ContentLength < 0 || req.ContentLength > 0 && len(req.TransferEncoding) > 0 {
		refusal(c, http.StatusLengthRequired)
		return
	}
	out, err := p.dial(r, host)
	if err != nil {
		refusal(c, http.StatusBadGateway)
		return
	}
	if !p.track(out) {
		_ = out.Close()
		return
	}
	defer p.drop(out)
	_ = c.SetReadDeadline(time.Time{})
	for _, name := range []string{"Proxy-Connection", "Proxy-Authorization", "Upgrade"} {
		req.Header.Del(name)
	}
	req.Close, req.Body = true, io.NopCloser(io.LimitReader(rest, req.ContentLength))
	w := &counter{Writer: out}
	defer func() { p.count(r, w.n.Load(), 0) }()
	if req.Write(w) == nil {
		n, _ := io.Copy(c, out)
		p.count(r, 0, n)
	}
}

// secure passes a TLS connection on, unopened, once the server name in its first message is host.
func (p *Proxy) secure(c net.Conn, from io.Reader, r *rule, host string, connected func(bool)) {
	out, err := p.dial(r, host)
	connected(err == nil)
	if err != nil {
		return
	}
	if !p.track(out) {
		_ = out.Close()
		return
	}
	defer p.drop(out)
	_ = c.SetReadDeadline(time.Now().Add(headerTime))
	name, hello, ok := clientHello(c, from)
	if !ok {
		p.fault(r, "a connection that is no TLS, or does not say openly which server it means")
		return
	}
	if name = canonical(name); name != host {
		p.refuse(name, r.Port)
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	p.pass(c, io.MultiReader(bytes.NewReader(hello), from), out, r)
}

// pass copies both ways until both have ended.
func (p *Proxy) pass(c net.Conn, from io.Reader, out net.Conn, r *rule) {
	var both sync.WaitGroup
	both.Go(func() {
		n, _ := io.Copy(out, from)
		p.count(r, n, 0)
		closeWrite(out)
	})
	n, _ := io.Copy(c, out)
	p.count(r, 0, n)
	closeWrite(c)
	if p.ctx.Err() == nil {
		// A client that has the whole answer may keep its side open for ever.
		_ = c.SetReadDeadline(time.Now().Add(headerTime))
	}
	both.Wait()
}

func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	} else {
		_ = c.Close()
	}
}

func (p *Proxy) count(r *rule, sent, received int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.record.sent += sent
	r.record.received += received
}

type counter struct {
	io.Writer
	n atomic.Int64
}

func (w *counter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.n.Add(int64(n))
	return n, err
}

var errSeen = errors.New("the first message is read")

// encryptedHello is the extension by which a client may mean another server than the one that it names.
const encryptedHello = 0xfe0d

// clientHello reads the first message of a TLS client, and gives the server's name in it and the bytes read so far.
func clientHello(c net.Conn, from io.Reader) (name string, read []byte, ok bool) {
	l := &listening{Conn: c, from: io.LimitReader(from, maxHeader)}
	_ = tls.Server(l, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		name = h.ServerName
		_, err := netip.ParseAddr(name)
		ok = name != "" && err != nil && !strings.Contains(name, ":") && !slices.Contains(h.Extensions, encryptedHello)
		return nil, errSeen
	}}).Handshake()
	return name, l.read.Bytes(), ok
}

// listening is a connection of which the client's part is kept, and to which nothing is said.
type listening struct {
	net.Conn
	from io.Reader
	read bytes.Buffer
}

func (l *listening) Read(b []byte) (int, error) {
	n, err := l.from.Read(b)
	l.read.Write(b[:n])
	return n, err
}

func (l *listening) Write(b []byte) (int, error) { return len(b), nil }
