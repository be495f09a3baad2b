package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// UnfaithfulError says where a host reads something else from the sanitized transcript than from the raw one. It names
// places, never values.
type UnfaithfulError struct {
	// Event is the position among the reference events, from 0.
	Event int
	// Name is the event that the sanitized transcript gives there; empty behind its end.
	Name contract.EventName
	// What differs: a field, or what is wrong with the event itself.
	What string
}

func (e *UnfaithfulError) Error() string {
	return fmt.Sprintf("reference event %d (%s) is another one in the raw output: %s: redaction took away what a parser needs; declare the place in the dialect (ids, enums, numbers, json_deltas)", e.Event, e.Name, e.What)
}

// Faithful compares what a host reads from a sanitized transcript, its reference events, with what it would have read
// from the raw one: the same events with the same fields of the same kinds, the same names of tools, the same
// numbers of tokens and flags, and ids that are equal where they were. The error is an *UnfaithfulError then.
func Faithful(raw *transcript.Raw, s *redact.Sanitized, text contract.EventName, events []protocol.Event) error {
	c := comparison{want: events, there: map[string]string{}, back: map[string]string{}}
	r, err := newReading(s, text, c.event)
	if err != nil {
		return err
	}
	lines := protocol.Lines{Whole: s.Transport() == contract.TransportJSON}
	err = raw.Each(func(e transcript.Entry) error {
		switch {
		case e.Frame == nil && e.Dir == contract.CLIToServer && e.Stream == contract.Stdout:
			return lines.Feed(e.Data, r.line)
		case e.EndsLines():
			if err := lines.Flush(r.line); err != nil {
				return err
			}
		}
		return r.entry(e)
	})
	if err == nil {
		err = lines.Flush(r.line)
	}
	if err != nil {
		return err
	}
	if c.at < len(c.want) {
		c.differ("there is none")
	}
	if c.err != nil {
		return c.err
	}
	return nil
}

type comparison struct {
	want        []protocol.Event
	at          int
	there, back map[string]string // ids: raw to sanitized, and back
	err         *UnfaithfulError
}

func (c *comparison) differ(what string) {
	if c.err != nil {
		return
	}
	c.err = &UnfaithfulError{Event: c.at, What: what}
	if c.at < len(c.want) {
		c.err.Name = c.want[c.at].Event
	}
}

// event compares the next event of the raw transcript.
func (c *comparison) event(raw protocol.Event) {
	switch {
	case c.err != nil:
		return
	case c.at >= len(c.want):
		c.differ("there is one more")
		return
	}
	clean := c.want[c.at]
	switch {
	case raw.Event != clean.Event:
		c.differ("there it is " + string(raw.Event))
	case !slices.Equal(slices.Sorted(maps.Keys(raw.Fields)), slices.Sorted(maps.Keys(clean.Fields))):
		c.differ("its fields differ")
	}
	for _, name := range slices.Sorted(maps.Keys(clean.Fields)) {
		c.field(clean.Event, name, raw.Fields[name], clean.Fields[name])
	}
	c.at++
}

func (c *comparison) field(event contract.EventName, name string, raw, clean json.RawMessage) {
	if c.err != nil {
		return
	}
	a, b := kindOf(raw), kindOf(clean)
	if a != b {
		c.differ("field " + name + " is of another kind")
		return
	}
	same := bytes.Equal(raw, clean)
	switch {
	case name == "id" && a == '"':
		if first, ok := c.there[string(raw)]; ok && first != string(clean) {
			c.differ("field id does not pair as it did")
		}
		if first, ok := c.back[string(clean)]; ok && first != string(raw) {
			c.differ("field id pairs where it did not")
		}
		c.there[string(raw)], c.back[string(clean)] = string(clean), string(raw)
	case event == "tool_use" && name == "name", event == "usage" && a == '0', a == 't':
		if !same {
			c.differ("field " + name + " has another value")
		}
	}
}

// kindOf is the kind of a JSON value by its first byte; true and false are one kind, and so are numbers.
func kindOf(v json.RawMessage) byte {
	switch {
	case len(v) == 0:
		return 0
	case v[0] == 'f':
		return 't'
	case v[0] == '-' || v[0] >= '0' && v[0] <= '9':
		return '0'
	}
	return v[0]
}
