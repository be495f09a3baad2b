package protocol

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Event is a neutral reference event: what a frame means to a host, with the fields that the dialect names.
type Event struct {
	Event  contract.EventName         `json:"event"`
	Fields map[string]json.RawMessage `json:"fields,omitempty"`
}

// Events reads the reference events of a frame. A frame without a rule gives a raw event; blank lines give none.
func (r *Reader) Events(f Frame) []Event {
	if f.EventType == "" {
		return nil
	}
	if r.Dialect == nil {
		return []Event{{Event: "assistant_text"}}
	}
	rules := r.Dialect.events[f.EventType]
	if f.Doc == nil || len(rules) == 0 {
		return []Event{{Event: "raw", Fields: map[string]json.RawMessage{"event_type": quote(f.EventType)}}}
	}
	return r.Dialect.read(f.Doc, rules)
}

// read applies the rules of a frame. Events of elements come in the order of the elements, whatever the order of their
// rules, and stand where the first of those rules stands.
func (d *Dialect) read(doc *Document, rules []compiledEvent) []Event {
	type found struct {
		element int
		event   Event
	}
	var events []Event
	var inside []found
	at := 0
	for _, rule := range rules {
		if rule.each == "" {
			if e, ok := rule.read(doc, 0); ok {
				events = append(events, e)
			}
			continue
		}
		if len(inside) == 0 {
			at = len(events)
		}
		for _, i := range doc.elements(rule.each) {
			if e, ok := rule.read(doc, i); ok {
				inside = append(inside, found{i, e})
			}
		}
	}
	slices.SortStableFunc(inside, func(a, b found) int { return cmp.Compare(a.element, b.element) })
	ordered := make([]Event, len(inside))
	for i := range inside {
		ordered[i] = inside[i].event
	}
	return slices.Insert(events, at, ordered...)
}

// read gives the event of a rule for a frame or one of its elements, if its condition holds.
func (c *compiledEvent) read(doc *Document, element int) (Event, bool) {
	e := Event{Event: c.event}
	if c.when != nil {
		n := c.when.of(doc, element)
		if n == nil || n.Kind == 'n' || c.equals != nil && !n.is(c.equals) {
			return e, false
		}
	}
	for name, path := range c.fields {
		if n := path.of(doc, element); n != nil {
			if e.Fields == nil {
				e.Fields = map[string]json.RawMessage{}
			}
			e.Fields[name] = doc.raw(n)
		}
	}
	return e, true
}

// raw copies the text of a node: the value itself, or for a container everything up to its end.
func (d *Document) raw(n *Node) json.RawMessage {
	if n.Kind != '{' && n.Kind != '[' {
		return slices.Clone(json.RawMessage(n.Value))
	}
	var out []byte
	for i := range d.Nodes {
		if &d.Nodes[i] == n {
			out, _ = d.Append(out, i, nil)
			break
		}
	}
	return out
}

// Append writes the node at i as compact JSON and returns the index behind it. A non-nil scalar is called for every
// scalar and writes it in its own way.
func (d *Document) Append(dst []byte, i int, scalar func(dst []byte, n *Node) []byte) ([]byte, int) {
	n := &d.Nodes[i]
	switch n.Kind {
	case '{', '[':
		dst = append(dst, byte(n.Kind))
		for j := i + 1; j < n.Next; {
			if j > i+1 {
				dst = append(dst, ',')
			}
			if key := d.Nodes[j].Key; key != nil {
				dst = append(append(dst, key...), ':')
			}
			dst, j = d.Append(dst, j, scalar)
		}
		closing := byte('}')
		if n.Kind == '[' {
			closing = ']'
		}
		return append(dst, closing), n.Next
	}
	if scalar != nil {
		return scalar(dst, n), n.Next
	}
	return append(dst, n.Value...), n.Next
}

func quote(s string) json.RawMessage {
	out, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`) // unreachable: strings marshal
	}
	return out
}

// Pair is one side of a declared pair that a frame belongs to.
type Pair struct {
	Rule int
	Open bool
	// ID is the raw JSON of the id that both sides carry.
	ID string
}

// Pairs lists the declared pairs that the frame opens or closes.
func (r *Reader) Pairs(f Frame) []Pair {
	if r.Dialect == nil || f.Doc == nil {
		return nil
	}
	var pairs []Pair
	for i, p := range r.Dialect.pairs {
		if f.EventType == p.open {
			p.id.each(f.Doc, func(n *Node) { pairs = append(pairs, Pair{Rule: i, Open: true, ID: string(n.Value)}) })
		}
		if f.EventType == p.close {
			p.closeID.each(f.Doc, func(n *Node) { pairs = append(pairs, Pair{Rule: i, ID: string(n.Value)}) })
		}
	}
	return pairs
}

// PairNames gives the two event types of a pair rule.
func (d *Dialect) PairNames(rule int) (open, closing string) {
	return d.pairs[rule].open, d.pairs[rule].close
}

// Paired reports whether frames of the event type open or close a pair.
func (d *Dialect) Paired(eventType string) bool {
	if d == nil {
		return false
	}
	for i := range d.pairs {
		if d.pairs[i].open == eventType || d.pairs[i].close == eventType {
			return true
		}
	}
	return false
}
