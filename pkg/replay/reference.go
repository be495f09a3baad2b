// Package replay reads fixtures the way a host would: through a parser, to events, compared with goldens.
package replay

import (
	"encoding/json"
	"strconv"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// Golden is the file of a parser's expected events for one shape.
type Golden struct {
	Parser string           `json:"parser"`
	Shape  contract.Hash    `json:"shape"`
	Events []protocol.Event `json:"events"`
}

// MarshalReference gives the golden of the reference parser for a shape, as its file holds it.
func MarshalReference(shape contract.Hash, events []protocol.Event) ([]byte, error) {
	return contract.Marshal(Golden{Parser: registry.ReferenceParser, Shape: shape, Events: events})
}

// Reference reads the neutral reference events of a transcript. text is what a line of a plain mode means. Where the
// dialect has no frame that ends a turn, the end of the process does.
func Reference(s *redact.Sanitized, text contract.EventName) ([]protocol.Event, error) {
	events := []protocol.Event{}
	r, err := newReading(s, text, func(e protocol.Event) { events = append(events, e) })
	if err != nil {
		return nil, err
	}
	return events, s.Each(r.entry)
}

// reading hands over the reference events of entries of which each holds a whole line.
type reading struct {
	reader *protocol.Reader
	text   contract.EventName
	emit   func(protocol.Event)
}

func newReading(s *redact.Sanitized, text contract.EventName, emit func(protocol.Event)) (*reading, error) {
	reader, err := protocol.NewReader(s.Family(), s.Dialect())
	return &reading{reader, text, emit}, err
}

func (r *reading) entry(e transcript.Entry) error {
	switch {
	case e.Frame != nil:
		f, err := r.reader.ReadFrame(e.Dir, e.Frame)
		if err == nil && e.Dir == contract.CLIToServer { // the host's own frames only name the answers
			r.frame(f)
		}
		return err
	case e.Dir == contract.CLIToServer && e.Stream == contract.Stdout:
		return r.line(e.Data)
	case e.Event == contract.EventExit && endsByExit(r.reader.Dialect):
		r.emit(exitEvent(e))
	}
	return nil
}

func (r *reading) line(line []byte) error {
	f, err := r.reader.Read(line)
	if err != nil {
		return err
	}
	if f.Doc == nil && f.EventType == protocol.TextFrame { // a CLI may call a frame of its own so
		r.emit(protocol.Event{Event: r.text})
		return nil
	}
	r.frame(f)
	return nil
}

func (r *reading) frame(f protocol.Frame) {
	for _, e := range r.reader.Events(f) {
		r.emit(e)
	}
}

func endsByExit(d *protocol.Dialect) bool { return d == nil || len(d.Source.Terminal.Events) == 0 }

func exitEvent(e transcript.Entry) protocol.Event {
	if e.ExitCode != nil && *e.ExitCode == 0 {
		return protocol.Event{Event: "done"}
	}
	event := protocol.Event{Event: "error", Fields: map[string]json.RawMessage{}}
	if e.ExitCode != nil {
		event.Fields["exit_code"] = json.RawMessage(strconv.Itoa(*e.ExitCode))
	}
	return event
}
