// Package replay reads fixtures the way a host would: through a parser, to events, compared with goldens.
package replay

import (
	"encoding/json"
	"strconv"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// Golden is the file of a parser's expected events for one shape.
type Golden struct {
	Parser string           `json:"parser"`
	Shape  contract.Hash    `json:"shape"`
	Events []protocol.Event `json:"events"`
}

// Reference reads the neutral reference events of a transcript. text is what a line of a plain mode means. Where the
// dialect has no frame that ends a turn, the end of the process does.
func Reference(s *redact.Sanitized, text contract.EventName) ([]protocol.Event, error) {
	reader, err := protocol.NewReader(s.Family(), s.Dialect())
	if err != nil {
		return nil, err
	}
	events := []protocol.Event{}
	err = s.Each(func(e transcript.Entry) error {
		switch {
		case e.Frame != nil:
			f, err := reader.ReadFrame(e.Dir, e.Frame)
			if err == nil && e.Dir == contract.CLIToServer { // the host's own frames only name the answers
				events = append(events, reader.Events(f)...)
			}
			return err
		case e.Dir == contract.CLIToServer && e.Stream == contract.Stdout:
			f, err := reader.Read(e.Data)
			if err != nil {
				return err
			}
			if f.EventType == protocol.TextFrame {
				events = append(events, protocol.Event{Event: text})
				return nil
			}
			events = append(events, reader.Events(f)...)
		case e.Event == contract.EventExit && endsByExit(s.Dialect()):
			events = append(events, exitEvent(e))
		}
		return nil
	})
	return events, err
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
