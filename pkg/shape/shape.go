// Package shape normalizes a sanitized transcript to its shape: the structure that a run printed, without content,
// hashed. Two runs that differ only in text, ids, numbers, timing or in how often a frame of one structure repeats
// have one signature; a field that comes or goes gives another.
//
// Of takes only *redact.Sanitized, so nothing that has not passed redaction can become public through here.
package shape

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// NormalizerVersion is the semantic version of the normalizing rules. A rule that moves hashes raises it, and every
// fixture is normalized again.
const NormalizerVersion = "0.1.0"

// maxEventTypes bounds the distinct event types of one transcript: more are data, not a protocol.
const maxEventTypes = 500

// Result is a shape and what belongs to the run but not to the shape's identity.
type Result struct {
	Shape contract.Shape
	// Ambient lists ambient event types, and "event_type path" for ambient paths, that were seen. Sorted.
	Ambient []string
	// Violations lists invariants of the dialect that the run broke. Sorted.
	Violations []string
	// Untyped counts frames that no rule of the dialect names.
	Untyped int
}

// Of normalizes a transcript. The shape's level is runtime_observed; what else backs it is known to the registry.
func Of(s *redact.Sanitized) (*Result, error) {
	reader, err := protocol.NewReader(s.Family(), s.Dialect())
	if err != nil {
		return nil, err
	}
	b := &builder{reader: reader, kinds: map[string]*kind{}, ambient: map[string]bool{}, watch: newInvariants(s.Dialect()), exit: contract.ExitUnknown}
	if err := s.Each(b.entry); err != nil {
		return nil, fmt.Errorf("normalizing: %w", err)
	}
	return b.result(s)
}

type builder struct {
	reader  *protocol.Reader
	kinds   map[string]*kind
	order   []*kind
	ambient map[string]bool
	watch   *invariants
	frames  int
	noise   bool // noise since the last frame
	untyped int
	exit    contract.ExitClass
	process string
}

// kind merges all frames of one event type.
type kind struct {
	eventType string
	paths     map[pathType]bool
	seen      []counts // per path index
	enums     map[string]map[string]bool
}

type pathType struct {
	path *protocol.Path
	kind contract.JSONType
}

// counts says how many parents a path had and in how many of them it was present.
type counts struct {
	path    *protocol.Path
	parents int // objects or arrays seen at this path
	present int
}

func (b *builder) entry(e transcript.Entry) error {
	switch {
	case e.Dir == contract.FromProcess:
		b.processEvent(e)
		return nil
	case e.Dir == contract.CLIToServer && e.Stream == contract.Stdout:
		f, err := b.reader.Read(e.Data)
		if err != nil {
			return err
		}
		return b.frame(f)
	}
	return nil
}

func (b *builder) processEvent(e transcript.Entry) {
	switch e.Event {
	case contract.EventTimeout:
		b.exit, b.process = contract.ExitTimeout, "process.timeout"
	case contract.EventExit:
		if b.exit == contract.ExitTimeout {
			return // the exit after a timeout is our own kill
		}
		b.process = "process.exit"
		switch {
		case e.Signal != "":
			b.exit = contract.ExitSignal
		case e.ExitCode == nil:
			b.exit = contract.ExitUnknown
		case *e.ExitCode == 0:
			b.exit = contract.ExitSuccess
		default:
			b.exit = contract.ExitNonzero
		}
	case contract.EventKill:
		if b.process == "" {
			b.process = "process.kill"
		}
	}
}

func (b *builder) frame(f protocol.Frame) error {
	if f.EventType == "" {
		return nil
	}
	if f.Repaired {
		b.watch.broke("encoding: a frame was not valid UTF-8")
	}
	if f.Doc == nil && f.EventType == protocol.Noise {
		if b.frames == 0 {
			return b.text("noise/before")
		}
		b.noise = true
		return nil
	}
	if f.EventType == protocol.Untyped {
		b.untyped++
	}
	if b.noise {
		b.noise = false
		if err := b.text("noise/between"); err != nil {
			return err
		}
	}
	b.frames++
	if b.reader.Dialect.Ambient(f.EventType, "") {
		b.ambient[f.EventType] = true
		return nil
	}
	b.watch.frame(b.reader, f)
	if f.Doc == nil {
		return b.text(f.EventType)
	}
	k, err := b.kind(f.EventType)
	if err != nil {
		return err
	}
	b.merge(k, f.Doc)
	return nil
}

// text records a frame that is a line of text: its only path is the root, a string.
func (b *builder) text(eventType string) error {
	k, err := b.kind(eventType)
	if err != nil {
		return err
	}
	root := b.reader.Paths.Root
	k.paths[pathType{root, "string"}] = true
	k.at(root).present++
	return nil
}

func (b *builder) kind(eventType string) (*kind, error) {
	k := b.kinds[eventType]
	if k == nil {
		if len(b.kinds) == maxEventTypes {
			return nil, fmt.Errorf("more than %d event types: an event_type rule of the dialect reads data", maxEventTypes)
		}
		k = &kind{eventType: eventType, paths: map[pathType]bool{}, enums: map[string]map[string]bool{}}
		b.kinds[eventType] = k
		b.order = append(b.order, k)
	}
	return k, nil
}

func (k *kind) at(p *protocol.Path) *counts {
	if p.Index >= len(k.seen) {
		k.seen = append(k.seen, make([]counts, p.Index+1-len(k.seen))...)
	}
	c := &k.seen[p.Index]
	c.path = p
	return c
}

var jsonTypes = map[byte]contract.JSONType{'n': "null", 't': "boolean", 'f': "boolean", '"': "string", '0': "number", '{': "object", '[': "array"}

func (b *builder) merge(k *kind, doc *protocol.Document) {
	for i := 0; i < len(doc.Nodes); {
		n := &doc.Nodes[i]
		p := n.Path
		if b.reader.Dialect.Ambient(k.eventType, p.Name) {
			b.ambient[k.eventType+" "+p.Name] = true
			i = n.Next
			continue
		}
		k.paths[pathType{p, jsonTypes[byte(n.Kind)]}] = true
		if !p.Element || firstElement(doc, i) {
			k.at(p).present++
		}
		if n.Kind == '{' || n.Kind == '[' {
			if p.Attr&protocol.AttrOpaque != 0 {
				i = n.Next
				continue
			}
			k.at(p).parents++
		}
		if n.Kind == '"' && protocol.EnumKey(p.Key) && p.Attr&protocol.AttrOpaque == 0 {
			if s := n.Text(); protocol.IsToken(s) {
				if k.enums[p.Name] == nil {
					k.enums[p.Name] = map[string]bool{}
				}
				k.enums[p.Name][s] = true
			}
		}
		i++
	}
}

// firstElement reports whether the node is the first of its array: an array counts once, however many it holds.
func firstElement(doc *protocol.Document, i int) bool {
	return doc.Nodes[i-1].Kind == '[' && doc.Nodes[i-1].Path == doc.Nodes[i].Path.Parent
}

func (b *builder) result(s *redact.Sanitized) (*Result, error) {
	if b.noise {
		if err := b.text("noise/after"); err != nil {
			return nil, err
		}
	}
	shape := contract.Shape{
		SchemaVersion: contract.SchemaVersion, ProtocolFamily: s.Family(), ValidityLevel: contract.RuntimeObserved, Transport: s.Transport(),
		StderrClass: s.StderrClass(), Exit: b.exit, EventTypes: []string{},
	}
	for _, k := range b.order {
		shape.FrameShapes = append(shape.FrameShapes, k.frameShape())
	}
	if len(shape.FrameShapes) == 0 {
		if b.process == "" {
			b.process = "process.exit"
		}
		shape.FrameShapes = []contract.FrameShape{{Direction: contract.FromProcess, Stream: "none", EventType: b.process, Paths: []contract.PathShape{}, Enums: map[string][]string{}}}
	}
	shape.FrameCount = len(shape.FrameShapes)
	for _, f := range shape.FrameShapes {
		shape.EventTypes = append(shape.EventTypes, f.EventType)
	}
	slices.Sort(shape.EventTypes)
	shape.EventTypes = slices.Compact(shape.EventTypes)
	signature, err := shape.ComputeSignature()
	if err != nil {
		return nil, fmt.Errorf("normalizing: %w", err)
	}
	shape.Signature = signature
	return &Result{Shape: shape, Ambient: sorted(b.ambient), Violations: b.watch.finish(), Untyped: b.untyped}, nil
}

func (k *kind) frameShape() contract.FrameShape {
	f := contract.FrameShape{Direction: contract.CLIToServer, Stream: "stdout", EventType: k.eventType, Paths: []contract.PathShape{}, Enums: map[string][]string{}}
	for pt := range k.paths {
		f.Paths = append(f.Paths, contract.PathShape{Path: pt.path.Name, Type: pt.kind, Required: k.required(pt.path)})
	}
	slices.SortFunc(f.Paths, func(a, b contract.PathShape) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(string(a.Type), string(b.Type)))
	})
	for path, values := range k.enums {
		f.Enums[path] = sorted(values)
	}
	return f
}

// required: every parent seen has it; for elements, no array seen was empty.
func (k *kind) required(p *protocol.Path) bool {
	if p.Parent == nil {
		return true
	}
	return k.at(p).present >= k.at(p.Parent).parents
}

func sorted(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for v := range m {
		out = append(out, v)
	}
	slices.Sort(out)
	return out
}
