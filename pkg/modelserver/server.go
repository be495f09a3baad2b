package modelserver

import (
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Server plays one script for one run. Make it with New; it serves one listener.
type Server struct {
	cfg     Config
	dialect dialect
	fill    *strings.Replacer // placeholders of tool arguments
	http    *http.Server
	ledger  ledger
	reading chan struct{} // one slot per request body that is being read

	mu      sync.Mutex
	closed  bool
	closing chan struct{}  // closed by Close: ends stalls
	running sync.WaitGroup // handlers at work
}

// maxReading bounds the memory of a CLI that sends many requests at once: so many bodies are read at a time.
const maxReading = 8

// New returns a Server that is ready to serve. The error lists everything that is wrong with cfg.
func New(cfg Config) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("configuring the model server: %w", err)
	}
	d, ok := dialects[cfg.Dialect]
	if !ok {
		return nil, fmt.Errorf("configuring the model server: no dialect %q; known: %s",
			cfg.Dialect, strings.Join(slices.Sorted(maps.Keys(dialects)), ", "))
	}
	cfg = cfg.withDefaults()
	s := &Server{
		cfg:     cfg,
		dialect: d,
		fill:    contract.Placeholders(cfg.Vars),
		ledger:  newLedger(cfg),
		reading: make(chan struct{}, maxReading),
		closing: make(chan struct{}),
	}
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.handle),
		ReadHeaderTimeout: 30 * time.Second,
		MaxHeaderBytes:    256 << 10,
		// The default logger writes to stderr and may quote what the CLI sent.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	return s, nil
}

// Serve answers requests on l until Close and then returns nil. It refuses, without closing it, a listener that is
// not TCP on a loopback address.
func (s *Server) Serve(l net.Listener) error {
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		return fmt.Errorf("serving the model: the listener is on %s, not on TCP loopback; listen on 127.0.0.1:0", l.Addr())
	}
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the model: %w", err)
	}
	return nil
}

// BaseURL is what the CLI is given as {base_url}, for the address of the listener: http://127.0.0.1:PORT/PREFIX,
// without a trailing slash.
func (s *Server) BaseURL(addr net.Addr) string {
	return "http://" + addr.String() + "/" + s.cfg.Prefix
}

// Close ends stalls, cuts all connections at once, and returns when no request is being answered any more, so a
// Report after it is final. Further calls do nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if first {
		close(s.closing)
	}
	err := s.http.Close()
	s.running.Wait()
	if err != nil {
		return fmt.Errorf("closing the model server: %w", err)
	}
	return nil
}

// begin counts a handler in, unless the server is closed.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.running.Add(1)
	return true
}

// Report says what has happened so far. It is a snapshot and may be taken while the server runs.
func (s *Server) Report() Report { return s.ledger.report() }
