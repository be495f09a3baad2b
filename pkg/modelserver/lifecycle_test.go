package modelserver

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func TestCloseEndsStall(t *testing.T) {
	s, base := start(t, testConfig(contract.ScriptStep{Stall: &contract.StallStep{Text: []string{"one "}, Seconds: 3600}}))
	resp, err := http.Post(base+"/v1/responses", "application/json", strings.NewReader(modelRequest()))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), `"delta":"one "`) {
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Close hangs on a stall")
	}
	for lines.Scan() {
	}
	if lines.Err() == nil {
		t.Error("the stalled answer ended as if it were complete")
	}
}

// A client that goes away ends its stall, so Close has nothing to wait for even without cutting.
func TestClientEndsStall(t *testing.T) {
	s, base := start(t, testConfig(contract.ScriptStep{Stall: &contract.StallStep{Seconds: 3600}}))
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", base+"/v1/responses", strings.NewReader(modelRequest()))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	resp.Body.Close()
	done := make(chan struct{})
	go func() { s.running.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the stall outlives its client")
	}
}

func TestServeRefusesOtherAddresses(t *testing.T) {
	s, err := New(testConfig(text))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := s.Serve(l); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("Serve on all interfaces: %v", err)
	}
}

func TestServeAfterClose(t *testing.T) {
	s, err := New(testConfig(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(l); err != nil {
		t.Error(err)
	}
	if _, err := l.Accept(); err == nil {
		t.Error("the listener stays open")
	}
}

// A client gets the time that any real model would take to answer a tool's result.
func TestThink(t *testing.T) {
	cfg := testConfig(tool, text, text)
	cfg.Think = 50 * time.Millisecond
	s, base := start(t, cfg)
	ask(t, base, modelRequest(`{"type":"function","name":"run"}`))
	begin := time.Now()
	ask(t, base, modelRequest(`{"type":"function","name":"run"}`))
	if took := time.Since(begin); took < cfg.Think {
		t.Errorf("the answer to a tool's result came after %v", took)
	}
	if r := s.Report(); r.Requests != 2 || r.Steps != 2 {
		t.Errorf("requests %d, steps %d", r.Requests, r.Steps)
	}
}
