package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
)

// DifferenceKind says how an event differs from the golden.
type DifferenceKind string

// The kinds.
const (
	// EventLost is an event of the golden that the parser no longer gives.
	EventLost DifferenceKind = "lost"
	// EventExtra is an event that the golden does not have.
	EventExtra DifferenceKind = "extra"
	// FieldChanged is a field that is gone, new or of another value.
	FieldChanged DifferenceKind = "changed"
)

// Difference is one way in which a parser's events are not the golden's. It never carries a value.
type Difference struct {
	Kind DifferenceKind `json:"kind"`
	// Index is the event's place, counted from 0: in the golden, or in the parser's events when the event is extra.
	Index int                `json:"index"`
	Event contract.EventName `json:"event"`
	// Fields are the fields that changed, sorted.
	Fields []string `json:"fields,omitempty"`
}

func (d Difference) String() string {
	switch d.Kind {
	case EventLost:
		return fmt.Sprintf("event %d of the golden, %s, is lost", d.Index, d.Event)
	case EventExtra:
		return fmt.Sprintf("event %d of the parser, %s, is not in the golden", d.Index, d.Event)
	}
	return fmt.Sprintf("event %d, %s: changed fields %q", d.Index, d.Event, d.Fields)
}

// maxTable bounds the work of aligning two lists; longer middles are compared place by place.
const maxTable = 4_000_000

// Compare lists what differs between a golden's events and a parser's, in the order of the golden. Equal lists give
// none. Fields are compared as JSON values.
func Compare(golden, events []protocol.Event) []Difference {
	start := 0
	for start < len(golden) && start < len(events) && len(changed(golden[start], events[start])) == 0 && golden[start].Event == events[start].Event {
		start++
	}
	end := 0
	for end < len(golden)-start && end < len(events)-start {
		g, e := golden[len(golden)-1-end], events[len(events)-1-end]
		if g.Event != e.Event || len(changed(g, e)) > 0 {
			break
		}
		end++
	}
	var out []Difference
	i, j := start, start
	lost := func() {
		out = append(out, Difference{Kind: EventLost, Index: i, Event: publicName(golden[i].Event)})
		i++
	}
	extra := func() {
		out = append(out, Difference{Kind: EventExtra, Index: j, Event: publicName(events[j].Event)})
		j++
	}
	for _, pair := range align(golden[start:len(golden)-end], events[start:len(events)-end]) {
		for i < start+pair[0] {
			lost()
		}
		for j < start+pair[1] {
			extra()
		}
		if fields := changed(golden[i], events[j]); len(fields) > 0 {
			out = append(out, Difference{Kind: FieldChanged, Index: i, Event: publicName(golden[i].Event), Fields: fields})
		}
		i, j = i+1, j+1
	}
	for i < len(golden)-end {
		lost()
	}
	for j < len(events)-end {
		extra()
	}
	return out
}

// align pairs events of equal name in order: a longest common subsequence.
func align(a, b []protocol.Event) [][2]int {
	var pairs [][2]int
	if len(a)*len(b) > maxTable {
		for i := range min(len(a), len(b)) {
			if a[i].Event == b[i].Event {
				pairs = append(pairs, [2]int{i, i})
			}
		}
		return pairs
	}
	best := make([][]int32, len(a)+1)
	for i := range best {
		best[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if best[i][j] = max(best[i+1][j], best[i][j+1]); a[i].Event == b[j].Event {
				best[i][j] = max(best[i][j], best[i+1][j+1]+1)
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].Event == b[j].Event && best[i][j] == best[i+1][j+1]+1:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case best[i+1][j] >= best[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// changed lists the fields that two events of one name do not share, sorted.
func changed(a, b protocol.Event) []string {
	var fields []string
	for name, value := range a.Fields {
		if other, ok := b.Fields[name]; !ok || !sameJSON(value, other) {
			fields = append(fields, publicField(name))
		}
	}
	for name := range maps.Keys(b.Fields) {
		if _, ok := a.Fields[name]; !ok {
			fields = append(fields, publicField(name))
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	ca, errA := contract.Canonical(a)
	cb, errB := contract.Canonical(b)
	return errA == nil && errB == nil && bytes.Equal(ca, cb)
}

// word is what a name may look like to be shown: a host's parser may print anything.
var word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,59}$`)

func publicField(name string) string {
	if word.MatchString(name) {
		return name
	}
	return "<name>"
}

func publicName(name contract.EventName) contract.EventName {
	return contract.EventName(publicField(string(name)))
}
