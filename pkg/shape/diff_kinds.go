package shape

import (
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
)

// ChangeKind is the stable id of a kind of structural change.
type ChangeKind string

// The kinds of changes.
const (
	FamilyChanged      ChangeKind = "family_changed"
	TransportChanged   ChangeKind = "transport_changed"
	ExitChanged        ChangeKind = "exit_changed"
	StderrClassChanged ChangeKind = "stderr_class_changed"
	EventTypeRemoved   ChangeKind = "event_type_removed"
	EventTypeAdded     ChangeKind = "event_type_added"
	EventTypeMoved     ChangeKind = "event_type_moved"
	RootKindChanged    ChangeKind = "root_kind_changed"
	PathRemoved        ChangeKind = "path_removed"
	PathAdded          ChangeKind = "path_added"
	TypeChanged        ChangeKind = "type_changed"
	TypeAdded          ChangeKind = "type_added"
	TypeRemoved        ChangeKind = "type_removed"
	RequiredLost       ChangeKind = "required_lost"
	RequiredGained     ChangeKind = "required_gained"
	EnumValueRemoved   ChangeKind = "enum_value_removed"
	EnumValueAdded     ChangeKind = "enum_value_added"
)

// Kind describes one kind of change. A new kind is one more entry of the table.
type Kind struct {
	ID      ChangeKind
	Purpose string // one sentence
	// Severity is the default; find lowers or raises it where the place says so.
	Severity Severity

	find func(*pair, func(Change))
	// say words the change without its frame and path.
	say func(c Change, quote func(string) string) string
}

// Kinds lists the kinds of changes, those of the whole shape first.
func Kinds() []Kind { return slices.Clone(kinds) }

var kinds = []Kind{
	{FamilyChanged, "The protocol family is another.", Breaking, whole(func(s contract.Shape) string { return string(s.ProtocolFamily) }), from("protocol family")},
	{TransportChanged, "The framing of the stream is another.", Breaking, whole(func(s contract.Shape) string { return string(s.Transport) }), from("transport")},
	{ExitChanged, "The process ends in another way.", Breaking, whole(func(s contract.Shape) string { return string(s.Exit) }), from("exit")},
	{StderrClassChanged, "Standard error is about something else, such as a new deprecation.", Additive, whole(stderrClass), from("class of standard error")},
	{EventTypeRemoved, "A frame kind no longer comes.", Breaking, removedFrames, fixed("event type gone")},
	{EventTypeAdded, "A frame kind is new.", Additive, addedFrames, fixed("new event type")},
	{EventTypeMoved, "Frame kinds come for the first time in another order.", Additive, movedFrames, sayMoved},
	{RootKindChanged, "The frame is another kind of JSON value.", Breaking, rootKinds, sayTypes},
	{PathRemoved, "A path is gone; one that was optional may only not have been seen.", Breaking, removedPaths, func(c Change, _ func(string) string) string { return "gone (was " + types(c.Old) + optional(c) + ")" }},
	{PathAdded, "A path is new.", Additive, addedPaths, func(c Change, _ func(string) string) string { return "new (" + types(c.New) + optional(c) + ")" }},
	{TypeChanged, "A path has lost one type and got another.", Breaking, typeChanges(func(lost, got bool) bool { return lost && got }), sayTypes},
	{TypeAdded, "A path has one more type, for which a parser may not be prepared.", Breaking, typeChanges(func(lost, got bool) bool { return !lost && got }), sayTypes},
	{TypeRemoved, "A path has one type less.", Subsumed, typeChanges(func(lost, got bool) bool { return lost && !got }), sayTypes},
	{RequiredLost, "A path that every parent had is now optional.", Breaking, requirements(true), fixed("no longer always there")},
	{RequiredGained, "A path that was optional is now in every parent.", Subsumed, requirements(false), fixed("now always there")},
	{EnumValueRemoved, "A known value of an enum no longer comes.", Breaking, removedValues, func(c Change, quote func(string) string) string { return "value " + quote(c.Old) + " no longer comes" }},
	{EnumValueAdded, "An enum has one more value.", Subsumed, addedValues, func(c Change, quote func(string) string) string { return "new value " + quote(c.New) }},
}

func fixed(text string) func(Change, func(string) string) string {
	return func(Change, func(string) string) string { return text }
}

func from(what string) func(Change, func(string) string) string {
	return func(c Change, _ func(string) string) string { return what + ": " + c.Old + " → " + c.New }
}

func sayMoved(c Change, quote func(string) string) string {
	if c.New == "" {
		return "now comes first"
	}
	return "now comes after " + quote(c.New)
}

// sayTypes words "now also null" where it can.
func sayTypes(c Change, _ func(string) string) string {
	before, after := strings.Split(c.Old, "|"), strings.Split(c.New, "|")
	lost, got := without(before, after), without(after, before)
	switch {
	case len(lost) == 0:
		return "now also " + strings.Join(got, " or ")
	case len(got) == 0:
		return "no longer " + strings.Join(lost, " or ")
	}
	return types(c.Old) + " → " + types(c.New)
}

func types(joined string) string { return strings.ReplaceAll(joined, "|", " or ") }

func optional(c Change) string {
	if c.Severity == Subsumed {
		return ", optional"
	}
	return ""
}

func stderrClass(s contract.Shape) string {
	if s.StderrClass == "" {
		return string(contract.StderrNone)
	}
	return string(s.StderrClass)
}

// whole compares a field of the whole shape.
func whole(field func(contract.Shape) string) func(*pair, func(Change)) {
	return func(p *pair, report func(Change)) {
		if before, after := field(p.old), field(p.new); before != after {
			report(Change{Old: before, New: after})
		}
	}
}

func (p *framePair) change() Change { return Change{Direction: p.direction, EventType: p.eventType} }

func isNoise(eventType string) bool { return strings.HasPrefix(eventType, protocol.Noise+"/") }

func removedFrames(p *pair, report func(Change)) {
	for _, f := range p.frames {
		if f.new != nil {
			continue
		}
		c := f.change()
		// The process is a frame only where nothing else is, and no parser misses noise.
		if f.direction == contract.FromProcess || isNoise(f.eventType) {
			c.Severity = Subsumed
		}
		report(c)
	}
}

func addedFrames(p *pair, report func(Change)) {
	for _, f := range p.frames {
		if f.old != nil {
			continue
		}
		c := f.change()
		if isNoise(f.eventType) {
			c.Severity = Breaking // a line that is no JSON stops a parser of JSON lines
		}
		report(c)
	}
}

// movedFrames reports the fewest frame kinds whose moving explains the new order.
func movedFrames(p *pair, report func(Change)) {
	var order []int // of the frames that both shapes have, in the new order: their place in the old one
	for _, f := range p.new.FrameShapes {
		if i := p.rank[frameKey{f.Direction, f.EventType}] - 1; p.frames[i].old != nil {
			order = append(order, i)
		}
	}
	stay := longestRise(order)
	for n, i := range order {
		if stay[n] {
			continue
		}
		c := p.frames[i].change()
		if i > 0 {
			c.Old = p.frames[i-1].eventType
		}
		if n > 0 {
			c.New = p.frames[order[n-1]].eventType
		}
		report(c)
	}
}

// longestRise marks the members of a longest rising subsequence of distinct numbers.
func longestRise(order []int) []bool {
	var tails []int // index of the smallest end of a rise of each length
	before := make([]int, len(order))
	for n, v := range order {
		at, _ := slices.BinarySearchFunc(tails, v, func(tail, v int) int { return order[tail] - v })
		before[n] = -1
		if at > 0 {
			before[n] = tails[at-1]
		}
		if at == len(tails) {
			tails = append(tails, n)
		} else {
			tails[at] = n
		}
	}
	stay := make([]bool, len(order))
	if len(tails) == 0 {
		return stay
	}
	for n := tails[len(tails)-1]; n >= 0; n = before[n] {
		stay[n] = true
	}
	return stay
}

// eachPlace visits the paths of the frames that both shapes have.
func (p *pair) eachPlace(visit func(c Change, q placePair)) {
	for _, f := range p.frames {
		for _, q := range f.places {
			c := f.change()
			c.Path = q.path
			visit(c, q)
		}
	}
}

// eachShared visits the paths that both frames have.
func (p *pair) eachShared(visit func(c Change, q placePair)) {
	p.eachPlace(func(c Change, q placePair) {
		if q.old != nil && q.new != nil {
			visit(c, q)
		}
	})
}

func rootKinds(p *pair, report func(Change)) {
	p.eachShared(func(c Change, q placePair) {
		if q.path == "$" && !slices.Equal(q.old.types, q.new.types) {
			c.Old, c.New = strings.Join(q.old.types, "|"), strings.Join(q.new.types, "|")
			report(c)
		}
	})
}

// typeChanges reports the paths below the root that lost or got types as asked.
func typeChanges(want func(lost, got bool) bool) func(*pair, func(Change)) {
	return func(p *pair, report func(Change)) {
		p.eachShared(func(c Change, q placePair) {
			lost, got := len(without(q.old.types, q.new.types)) > 0, len(without(q.new.types, q.old.types)) > 0
			if q.path != "$" && want(lost, got) {
				c.Old, c.New = strings.Join(q.old.types, "|"), strings.Join(q.new.types, "|")
				report(c)
			}
		})
	}
}

func removedPaths(p *pair, report func(Change)) {
	p.eachPlace(func(c Change, q placePair) {
		if q.new == nil {
			c.Old = strings.Join(q.old.types, "|")
			if !q.old.always {
				c.Severity = Subsumed
			}
			report(c)
		}
	})
}

func addedPaths(p *pair, report func(Change)) {
	p.eachPlace(func(c Change, q placePair) {
		if q.old == nil {
			c.New = strings.Join(q.new.types, "|")
			if !q.new.always {
				c.Severity = Subsumed
			}
			report(c)
		}
	})
}

// requirements reports the paths that stopped (or began) being required.
func requirements(before bool) func(*pair, func(Change)) {
	return func(p *pair, report func(Change)) {
		p.eachShared(func(c Change, q placePair) {
			if q.old.required == before && q.new.required != before {
				report(c)
			}
		})
	}
}

// resultKeys are enum keys whose value is a result: another run may lack one. The values of all other enum keys tell
// frames apart, so that a parser branches on them.
var resultKeys = []string{"status", "stop_reason", "stopReason", "outcome"}

func removedValues(p *pair, report func(Change)) {
	p.eachShared(func(c Change, q placePair) {
		lost, got := without(q.old.enum, q.new.enum), without(q.new.enum, q.old.enum)
		key := q.path[strings.LastIndexByte(q.path, '.')+1:]
		// Values that are only lost may not have been seen; lost and got is a renaming.
		if slices.Contains(resultKeys, key) && len(got) == 0 && len(q.new.enum) > 0 {
			c.Severity = Subsumed
		}
		for _, value := range lost {
			c.Old = value
			report(c)
		}
	})
}

func addedValues(p *pair, report func(Change)) {
	p.eachShared(func(c Change, q placePair) {
		for _, value := range without(q.new.enum, q.old.enum) {
			c.New = value
			report(c)
		}
	})
}

// without gives what is in list and not in other.
func without(list, other []string) []string {
	have := make(map[string]bool, len(other))
	for _, v := range other {
		have[v] = true
	}
	var out []string
	for _, v := range list {
		if !have[v] {
			out = append(out, v)
		}
	}
	return out
}
