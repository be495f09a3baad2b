package protocol

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Event types that no dialect rule gives.
const (
	// Untyped is a JSON frame that no rule names. It is a finding, not a failure.
	Untyped = "untyped"
	// TextFrame is a line of a plain family.
	TextFrame = "text"
	// Noise is a line of a JSON stream that is not JSON; shapes add its position class.
	Noise = "noise"
)

// Dialect is a compiled contract.Dialect: how the frames of one mode are named and read.
type Dialect struct {
	Source contract.Dialect
	// Hash identifies the dialect in evidence records.
	Hash contract.Hash

	rules    []typeRule
	exact    map[string]Attr
	below    []belowRule
	unions   map[string]string
	enums    map[string]map[string]bool
	ambient  map[string]map[string]bool // event type → paths; the empty path is the event itself
	events   map[string][]compiledEvent
	pairs    []compiledPair
	terminal map[string]bool
	after    map[string]bool
	reopen   map[string]bool
}

type typeRule struct {
	path, then, has pathExpr
	name            string
}

type belowRule struct {
	prefix string
	attr   Attr
}

type compiledEvent struct {
	event  contract.EventName
	each   string // name of the elements' path; empty for rules of the whole frame
	fields map[string]fieldPath
	when   *fieldPath
	equals any
}

type compiledPair struct {
	open, close string
	id, closeID idPath
}

// Compile checks and indexes a dialect. Errors name the entry at fault.
func Compile(src contract.Dialect) (*Dialect, error) {
	data, err := json.Marshal(src)
	if err != nil {
		return nil, fmt.Errorf("dialect %s: %w", src.Name, err)
	}
	canonical, err := contract.Canonical(data)
	if err != nil {
		return nil, fmt.Errorf("dialect %s: %w", src.Name, err)
	}
	d := &Dialect{
		Source: src, Hash: contract.HashBytes(canonical),
		exact: map[string]Attr{}, unions: map[string]string{}, enums: map[string]map[string]bool{}, ambient: map[string]map[string]bool{},
		events: map[string][]compiledEvent{}, terminal: set(src.Terminal.Events), after: set(src.Terminal.After), reopen: set(src.Terminal.Reopen),
	}
	for _, list := range []struct {
		paths []string
		attr  Attr
	}{
		{src.Opaque, AttrOpaque}, {src.Maps, AttrMap}, {src.IDs, AttrID}, {src.Numbers, AttrNumber},
		{src.Diagnostics, AttrDiagnostic}, {src.Base64, AttrBase64}, {src.Deltas, AttrDelta},
		{src.JSONDeltas, AttrJSONDelta | AttrOpaque},
	} {
		for _, path := range list.paths {
			if prefix, ok := strings.CutSuffix(path, ".*"); ok {
				d.below = append(d.below, belowRule{prefix, list.attr})
			} else {
				d.exact[path] |= list.attr
			}
		}
	}
	for path, values := range src.Enums {
		d.enums[path] = set(values)
	}
	for _, u := range src.Unions {
		d.unions[u.Path] = u.Key
	}
	for _, a := range src.Ambient {
		if d.ambient[a.EventType] == nil {
			d.ambient[a.EventType] = map[string]bool{}
		}
		d.ambient[a.EventType][a.Path] = true
	}
	return d, d.compileRules()
}

func (d *Dialect) compileRules() error {
	parse := func(where, path string) (pathExpr, error) {
		if path == "" {
			return nil, nil
		}
		return d.parse(where, path)
	}
	for i, r := range d.Source.EventType {
		var rule typeRule
		var err error
		where := fmt.Sprintf("event_type[%d]", i)
		if rule.path, err = parse(where, r.Path); err != nil {
			return err
		}
		if rule.then, err = parse(where, r.Then); err != nil {
			return err
		}
		if rule.has, err = parse(where, r.Has); err != nil {
			return err
		}
		if (rule.path == nil) != (r.Name != "") || rule.path == nil && rule.has == nil {
			return fmt.Errorf("dialect %s: %s: give either path (with an optional then and has) or has together with name", d.Source.Name, where)
		}
		rule.name = r.Name
		d.rules = append(d.rules, rule)
	}
	for i, e := range d.Source.Events {
		where := fmt.Sprintf("events[%d]", i)
		c := compiledEvent{event: e.Event, each: e.Each, fields: map[string]fieldPath{}, equals: e.Equals}
		for name, path := range e.Fields {
			field, err := d.field(where, e.Each, path)
			if err != nil {
				return err
			}
			c.fields[name] = field
		}
		if e.When != "" {
			when, err := d.field(where, e.Each, e.When)
			if err != nil {
				return err
			}
			c.when = &when
		}
		d.events[e.EventType] = append(d.events[e.EventType], c)
	}
	for i, p := range d.Source.Pairs {
		c := compiledPair{open: p.Open, close: p.Close}
		var err error
		if c.id, err = d.idPath(fmt.Sprintf("pairs[%d].id", i), p.ID); err != nil {
			return err
		}
		c.closeID = c.id
		if p.CloseID != "" {
			if c.closeID, err = d.idPath(fmt.Sprintf("pairs[%d].close_id", i), p.CloseID); err != nil {
				return err
			}
		}
		d.pairs = append(d.pairs, c)
	}
	return nil
}

func (d *Dialect) parse(where, path string) (pathExpr, error) {
	expr, err := parsePath(path)
	if err != nil {
		return nil, fmt.Errorf("dialect %s: %s: %w", d.Source.Name, where, err)
	}
	return expr, nil
}

// describe fills in what the dialect declares about a path.
func (d *Dialect) describe(p *Path) {
	if attr, ok := d.exact[p.Name]; ok {
		p.Attr |= attr | AttrNamed
	}
	for _, b := range d.below {
		if rest, ok := strings.CutPrefix(p.Name, b.prefix); ok && rest != "" && (rest[0] == '.' || rest[0] == '[') {
			p.Attr |= b.attr
		}
	}
	p.unionKey = d.unions[p.Name]
	if values := d.enums[p.Name]; values != nil {
		p.Attr |= AttrEnum | AttrNamed
		p.Allowed = values
	}
}

// EventType names a frame by the first rule that applies.
func (d *Dialect) EventType(doc *Document) string {
	if doc.Nodes[0].Kind != '{' {
		return Untyped
	}
	for i := range d.rules {
		r := &d.rules[i]
		if r.has != nil && doc.find(r.has) == nil {
			continue
		}
		if r.path == nil {
			return r.name
		}
		name, ok := tokenAt(doc, r.path)
		if !ok {
			continue
		}
		if r.then != nil {
			if more, ok := tokenAt(doc, r.then); ok {
				return doc.join(name, more)
			}
		}
		return name
	}
	return Untyped
}

func tokenAt(doc *Document, expr pathExpr) (string, bool) {
	n := doc.find(expr)
	if n == nil {
		return "", false
	}
	return doc.Token(n)
}

// Ambient reports whether an event type may come at any time or not at all.
func (d *Dialect) Ambient(eventType string) bool { return d != nil && d.ambient[eventType][""] }

// AmbientPaths gives the paths of an event type that may be there or not.
func (d *Dialect) AmbientPaths(eventType string) map[string]bool {
	if d == nil {
		return nil
	}
	paths := d.ambient[eventType]
	for i := 1; i < len(eventType); i++ {
		if group := d.ambient[eventType[:i]+"/*"]; eventType[i] == '/' && group != nil {
			paths = maps.Clone(paths)
			if paths == nil {
				paths = map[string]bool{}
			}
			maps.Copy(paths, group)
		}
	}
	return paths
}

// Terminal reports whether the event type ends a turn.
func (d *Dialect) Terminal(eventType string) bool { return d != nil && d.terminal[eventType] }

// Starts reports whether the event type is one that begins a session.
func (d *Dialect) Starts(eventType string) bool {
	return d != nil && slices.ContainsFunc(d.events[eventType], func(e compiledEvent) bool { return e.event == "session_started" })
}

// EndsByAnswer reports whether a turn is asked for by a request, whose answer ends it.
func (d *Dialect) EndsByAnswer() bool {
	return d != nil && slices.ContainsFunc(d.Source.Terminal.Events, func(e string) bool { return strings.HasPrefix(e, "response/") })
}

// After reports whether the event type may follow the end of a turn.
func (d *Dialect) After(eventType string) bool { return d != nil && d.after[eventType] }

// Reopens reports whether the event type takes back the end of a turn.
func (d *Dialect) Reopens(eventType string) bool { return d != nil && d.reopen[eventType] }

func set(values []string) map[string]bool {
	m := make(map[string]bool, len(values))
	for _, v := range values {
		m[v] = true
	}
	return m
}
