// Package shape normalizes a sanitized transcript to its shape: the structure that a run printed, without content,
// hashed. Two runs that differ only in text, ids, numbers, timing or in how often a frame of one structure repeats
// have one signature; a field that comes or goes gives another.
//
// Of takes only *redact.Sanitized, so nothing that has not passed redaction can become public through here.
package shape

import (
	"errors"
	"fmt"
	"slices"

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
	// Capabilities are what an agent of an RPC family advertises. Sorted.
	Capabilities []string
	// Untyped counts frames that no rule of the dialect names.
	Untyped int
}

// ErrOneSided reports an RPC transcript without frames of the host. What a CLI answered says nothing without what it
// was asked.
var ErrOneSided = errors.New("the transcript has no frames of the host: an RPC shape needs both sides; record the run with the frames that were written")

// Of normalizes a transcript. The shape's level is runtime_observed; what else backs it is known to the registry.
func Of(s *redact.Sanitized) (*Result, error) {
	reader, err := protocol.NewReader(s.Family(), s.Dialect())
	if err != nil {
		return nil, err
	}
	b := &builder{reader: reader, kinds: map[kindKey]*kind{}, ambient: map[string]bool{}, capabilities: map[string]bool{}, watch: newInvariants(s.Dialect()), exit: contract.ExitUnknown}
	if err := s.Each(b.entry); err != nil {
		return nil, fmt.Errorf("normalizing: %w", err)
	}
	if s.Family().IsRPC() && !b.spoken {
		return nil, ErrOneSided
	}
	return b.result(s)
}

type builder struct {
	reader  *protocol.Reader
	seen    seenLines
	kinds   map[kindKey]*kind
	order   []*kind
	ambient map[string]bool
	watch   *invariants
	frames  int
	noise   [3]bool // per position
	pending bool    // noise since the last frame
	untyped int
	exit    contract.ExitClass
	stopped bool // the host ended the run
	process string
	spoken  bool // the host has sent a frame

	capabilities map[string]bool
}

type kindKey struct {
	dir       contract.FrameDirection
	eventType string
}

// The positions of noise. Where exactly between two frames it came is chance, so its frames stand at fixed places.
const (
	noiseBefore = iota
	noiseBetween
	noiseAfter
)

var noiseNames = [3]string{"noise/before", "noise/between", "noise/after"}

func (b *builder) entry(e transcript.Entry) error {
	switch {
	case e.Dir == contract.FromProcess:
		b.processEvent(e)
		return nil
	case e.Frame != nil:
		return b.rpc(e)
	case e.Dir == contract.CLIToServer && e.Stream == contract.Stdout:
		return b.line(e.Data)
	}
	return nil
}

func (b *builder) processEvent(e transcript.Entry) {
	switch e.Event {
	case contract.EventTimeout:
		b.exit, b.process, b.stopped = contract.ExitTimeout, "process.timeout", true
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
		// Hosts end a peer that stays after its turn: such a run has kept its promises, or not.
		if !b.reader.Family.IsRPC() || b.watch.terminals == 0 {
			b.stopped = true
		}
		if b.process == "" {
			b.process = "process.kill"
		}
	}
}

// line takes in one line. What a line like it has shown already is not read again.
func (b *builder) line(line []byte) error {
	known, key := b.seen.find(line)
	if known != nil {
		b.sequence(known.eventType, nil)
		return nil
	}
	f, err := b.reader.Read(line)
	if err != nil {
		return err
	}
	switch {
	case f.EventType == "":
		return nil
	case f.EventType == protocol.Noise:
		b.pending = true
		return nil
	case b.reader.Dialect.Ambient(f.EventType):
		// It may come anywhere or not at all, so it must not tell where noise stands either.
		b.ambient[f.EventType] = true
		return nil
	}
	pairs := b.reader.Pairs(f)
	b.sequence(f.EventType, pairs)
	k, err := b.kind(contract.CLIToServer, f.EventType)
	if err != nil {
		return err
	}
	if f.Doc == nil {
		k.text(b.reader.Paths.Root)
		return nil
	}
	k.merge(f.Doc, func(path string) { b.ambient[k.eventType+" "+path] = true })
	if f.EventType != protocol.Untyped && !b.reader.Dialect.Paired(f.EventType) {
		b.seen.add(key, f.EventType)
	}
	return nil
}

// rpc takes in one frame of an RPC family. The host's frames belong to the shape: a CLI that is spoken to in another
// way answers in another way.
func (b *builder) rpc(e transcript.Entry) error {
	f, err := b.reader.ReadFrame(e.Dir, e.Frame)
	if err != nil {
		return err
	}
	if e.Dir == contract.ServerToCLI {
		b.spoken = true
		b.watch.request(f.EventType)
	} else {
		for _, name := range b.reader.Capabilities(f) {
			b.capabilities[name] = true
		}
		if b.reader.Dialect.Ambient(f.EventType) {
			b.ambient[f.EventType] = true
			return nil
		}
		b.sequence(f.EventType, b.reader.Pairs(f))
	}
	k, err := b.kind(e.Dir, f.EventType)
	if err != nil {
		return err
	}
	k.merge(f.Doc, func(path string) { b.ambient[k.eventType+" "+path] = true })
	return nil
}

// sequence notes what depends on the order of frames.
func (b *builder) sequence(eventType string, pairs []protocol.Pair) {
	if b.pending {
		b.pending = false
		if b.frames == 0 {
			b.noise[noiseBefore] = true
		} else {
			b.noise[noiseBetween] = true
		}
	}
	b.frames++
	if eventType == protocol.Untyped {
		b.untyped++
	}
	b.watch.frame(eventType, pairs)
}

func (b *builder) kind(dir contract.FrameDirection, eventType string) (*kind, error) {
	key := kindKey{dir, eventType}
	k := b.kinds[key]
	if k == nil {
		if len(b.kinds) == maxEventTypes {
			return nil, fmt.Errorf("more than %d event types: an event_type rule of the dialect reads data", maxEventTypes)
		}
		k = &kind{dir: dir, eventType: eventType, ambient: b.reader.Dialect.AmbientPaths(eventType), enums: map[string]map[string]bool{}}
		b.kinds[key] = k
		b.order = append(b.order, k)
	}
	return k, nil
}

func (b *builder) result(s *redact.Sanitized) (*Result, error) {
	if err := b.placeNoise(); err != nil {
		return nil, err
	}
	shape := contract.Shape{
		SchemaVersion: contract.SchemaVersion, ProtocolFamily: s.Family(), ValidityLevel: contract.RuntimeObserved, Transport: s.Transport(),
		StderrClass: s.StderrClass(), Exit: b.exit, EventTypes: []string{},
	}
	// How the two sides interleave is chance where one does not wait for the other, so each side stands for itself.
	for _, dir := range []contract.FrameDirection{contract.ServerToCLI, contract.CLIToServer} {
		for _, k := range b.order {
			if k.dir == dir {
				shape.FrameShapes = append(shape.FrameShapes, k.frameShape())
			}
		}
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
	if !b.stopped {
		b.watch.unanswered(b.reader.Unanswered(contract.ServerToCLI))
	}
	return &Result{Shape: shape, Ambient: sorted(b.ambient), Violations: b.watch.finish(b.stopped), Capabilities: sorted(b.capabilities), Untyped: b.untyped}, nil
}

// placeNoise puts the noise frames in: before the first frame, or behind the last.
func (b *builder) placeNoise() error {
	if b.pending {
		b.pending = false
		if b.frames == 0 {
			b.noise[noiseBefore] = true
		} else {
			b.noise[noiseAfter] = true
		}
	}
	for position, seen := range b.noise {
		if !seen {
			continue
		}
		k, err := b.kind(contract.CLIToServer, noiseNames[position])
		if err != nil {
			return err
		}
		k.text(b.reader.Paths.Root)
		if position == noiseBefore {
			n := len(b.order) - 1
			b.order = slices.Insert(b.order[:n], 0, k)
		}
	}
	return nil
}

func sorted(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for v := range m {
		out = append(out, v)
	}
	slices.Sort(out)
	return out
}
