package modelserver

import (
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// handle answers every request that reaches the port.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	if !s.begin() {
		panic(http.ErrAbortHandler) // cuts the connection; a plain return would answer 200
	}
	defer s.running.Done()
	// A nil value keeps net/http from adding the current time, the only thing that would differ between runs.
	w.Header()["Date"] = nil

	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || r.Host != local.String() {
		s.refuse(w, FindingHost, exchange{method: r.Method, path: r.URL.Path})
		return
	}
	path, ok := s.below(r.URL.EscapedPath())
	if !ok {
		s.refuse(w, FindingPath, exchange{method: r.Method, path: r.URL.Path})
		return
	}
	h := head{method: r.Method, path: path, query: r.URL.Query(), header: r.Header}
	side := exchange{method: r.Method, path: path}
	if r.Method == http.MethodHead {
		// It asks for nothing: some CLIs open the connection ahead of their first request so, or see whether anybody is there.
		s.ledger.pass(side)
		s.header(w, s.ids(0), "application/json")
		return
	}
	switch s.dialect.match(h) {
	case endpointModel:
		s.model(w, r, h)
	case endpointCount:
		s.ledger.pass(side)
		s.reply(w, http.StatusOK, s.ids(0), s.dialect.(tokenCounter).count(s.cfg.Script.Usage.InputTokens))
	case endpointListing:
		s.ledger.pass(side)
		s.reply(w, http.StatusOK, s.ids(0), s.dialect.listing(s.cfg.Model, s.cfg.Created))
	case endpointUpgrade:
		s.ledger.pass(side)
		s.fail(w, s.ids(0), contract.ErrorStep{Status: http.StatusUpgradeRequired, Type: "invalid_request_error", Message: "Only plain HTTP requests are answered."})
	default:
		s.refuse(w, FindingPath, side)
	}
}

// below returns what follows the run's prefix in a path. The comparison takes the same time for every wrong prefix.
func (s *Server) below(path string) (string, bool) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(first), []byte(s.cfg.Prefix)) == 0 {
		return "", false
	}
	return "/" + rest, true
}

// refuse answers like a server that has nothing here, so that a stray caller learns nothing of the run.
func (s *Server) refuse(w http.ResponseWriter, kind FindingKind, x exchange) {
	s.ledger.refuse(kind, x)
	w.WriteHeader(http.StatusNotFound)
}

// model answers a model request with the next step of the script, or a side request with its own answer.
func (s *Server) model(w http.ResponseWriter, r *http.Request, h head) {
	body, err := s.readBody(w, r)
	x := exchange{method: h.method, path: h.path, body: body}
	var req request
	if err == nil {
		req, err = s.dialect.parse(h, body)
		req.image = s.cfg.Script.Expects == "image" && hasImage(body)
	}
	switch {
	case err == nil:
	case errors.Is(err, errClosing):
		cut(w)
		return
	case errors.Is(err, errTooLarge):
		s.ledger.refuse(FindingTooLarge, x)
		s.fail(w, s.ids(0), contract.ErrorStep{Status: http.StatusRequestEntityTooLarge, Type: "invalid_request_error", Message: "The request is too large."})
		return
	case errors.Is(err, errEncoding):
		s.ledger.refuse(FindingEncoding, x)
		s.fail(w, s.ids(0), contract.ErrorStep{Status: http.StatusUnsupportedMediaType, Type: "invalid_request_error", Message: "The content encoding is not supported."})
		return
	default:
		s.ledger.refuse(FindingMalformed, x)
		s.fail(w, s.ids(0), contract.ErrorStep{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: "The request could not be read."})
		return
	}

	side := sideRequest(s.cfg.Side, req)
	turn, step, finding := s.ledger.take(req, x, side != nil)
	switch {
	case finding == FindingTooMany:
		// An answer would be told in the transcript as if a provider had said it. Silence ends in a timeout, which is true.
		s.hold(r)
		cut(w)
	case side != nil:
		a := s.answer(req, ids{canary: s.cfg.Canary, turn: "side" + strconv.Itoa(turn)})
		a.text = []string{side.Answer}
		s.send(w, req, a)
	case step != nil:
		if i := turn - 2; i >= 0 && i < len(s.cfg.Script.Steps) && s.cfg.Script.Steps[i].Tool != nil {
			s.wait(r, s.cfg.Think)
		}
		s.play(w, r, req, s.ids(turn), *step)
	default:
		s.fail(w, s.ids(turn), contract.ErrorStep{Status: http.StatusBadRequest, Type: "script_ended", Message: "The script has no further answer."})
	}
}

// answer starts an answer to a request.
func (s *Server) answer(req request, id ids) answer {
	return answer{ids: id, model: s.cfg.Model, created: s.cfg.Created, usage: s.cfg.Script.Usage, streamUsage: req.streamUsage}
}

// settle is how long an answer stands before it breaks: a CLI that reads its start and its end at once handles them in
// either order, by chance.
const settle = 250 * time.Millisecond

// play answers with one step of the script.
func (s *Server) play(w http.ResponseWriter, r *http.Request, req request, id ids, step contract.ScriptStep) {
	a := s.answer(req, id)
	switch {
	case step.Error != nil:
		s.fail(w, id, *step.Error)
	case step.Tool != nil:
		a.call = choose(s.cfg.Tools[step.Tool.Intent], req.offered, s.fill)
		if a.call == nil {
			s.ledger.notOffered(step.Tool.Intent)
			s.fail(w, id, contract.ErrorStep{Status: http.StatusBadRequest, Type: "tool_not_offered", Message: "The request offers no tool that the script can call."})
			return
		}
		s.send(w, req, a)
	case step.Drop != nil:
		a.text, a.partial = step.Drop.Text, true
		s.send(w, req, a)
		s.wait(r, settle)
		switch step.Drop.How {
		case "end":
		case "malformed":
			if req.stream {
				w.Write([]byte("event: broken\ndata: {\"broken\":\n\n")) //nolint:errcheck // the client may go away at any time
			}
		default:
			cut(w)
		}
	case step.Stall != nil:
		a.text, a.partial = step.Stall.Text, true
		s.send(w, req, a)
		s.wait(r, time.Duration(step.Stall.Seconds)*time.Second)
		cut(w)
	default: // text, or none for an empty answer
		a.text = step.Text
		s.send(w, req, a)
	}
}

// hold returns when the client goes away or the server is closed.
func (s *Server) hold(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.closing:
	}
}

// wait returns after d, or when the client goes away or the server is closed.
func (s *Server) wait(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	case <-s.closing:
	}
}

// ids makes the identifiers for a model request; 0 stands for any other request.
func (s *Server) ids(turn int) ids {
	if turn == 0 {
		return ids{canary: s.cfg.Canary}
	}
	return ids{canary: s.cfg.Canary, turn: strconv.Itoa(turn)}
}
