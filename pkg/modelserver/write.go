package modelserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// event is one server-sent event.
type event struct {
	name string // empty where the API names its events only inside data
	data []byte // without line breaks; JSON, but for the word that ends a stream in some APIs
}

// send writes an answer in the form that the request asked for. What is left of a partial answer is the caller's.
// Errors of writing mean that the CLI has gone, which is its right.
func (s *Server) send(w http.ResponseWriter, req request, a answer) {
	if !req.stream {
		body := s.dialect.whole(a)
		if !a.partial {
			s.reply(w, http.StatusOK, a.ids, body)
			return
		}
		// A body has no meaningful start; half of it, with the length of all of it, is a connection that broke.
		s.header(w, a.ids, "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body[:len(body)/2]) //nolint:errcheck // the client may go away at any time
		flush(w)
		return
	}
	s.header(w, a.ids, "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	flush(w) // so that an answer that is cut before its first event has begun all the same
	for _, e := range s.dialect.stream(a) {
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		fmt.Fprintf(w, "data: %s\n\n", e.data)
		flush(w)
	}
}

// fail writes an error in the dialect's form.
func (s *Server) fail(w http.ResponseWriter, id ids, e contract.ErrorStep) {
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	s.reply(w, e.Status, id, s.dialect.failure(id, e))
}

// reply writes a JSON body.
func (s *Server) reply(w http.ResponseWriter, status int, id ids, body []byte) {
	s.header(w, id, "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body) //nolint:errcheck // the client may go away at any time
}

func (s *Server) header(w http.ResponseWriter, id ids, contentType string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set(s.dialect.requestID(), id.make("req"))
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

// cut closes the connection in the middle of an answer: without the chunk that would end it.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http's own way to break off an answer
	}
	conn.Close() //nolint:errcheck // the cut is the purpose
}

// marshal renders JSON without HTML escapes, so that text looks on the wire as in the script. Keys of maps are
// sorted.
func marshal(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("modelserver: rendering an answer: " + err.Error()) // unreachable unless program bug: New tries all that is not ours
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
