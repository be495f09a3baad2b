package shape

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Severity says what a change does to a parser that was written for the old shape.
type Severity string

// The severities, from weakest to strongest.
const (
	// Subsumed changes are what two runs of one release may show: an optional path, one more enum value.
	Subsumed Severity = "subsumed"
	// Additive changes break only closed parsers, which refuse what they do not know.
	Additive Severity = "additive"
	// Breaking changes take away or turn round what a parser could rely on.
	Breaking Severity = "breaking"
)

// Values lists the enum, weakest first.
func (Severity) Values() []string {
	return []string{string(Subsumed), string(Additive), string(Breaking)}
}

// Rank orders severities from 1; an unknown one is 0.
func (s Severity) Rank() int { return slices.Index(s.Values(), string(s)) + 1 }

// Change is one structural difference of two shapes. Event types, paths and enum values come from a CLI: renderers
// quote them.
type Change struct {
	Kind     ChangeKind `json:"kind"`
	Severity Severity   `json:"severity"`
	// Direction and EventType name the frame; they are empty for what concerns the whole shape.
	Direction contract.FrameDirection `json:"direction,omitempty"`
	EventType string                  `json:"event_type,omitempty"`
	// Path is the place inside the frame; empty for what concerns the whole frame.
	Path string `json:"path,omitempty"`
	// Old and New are what stood there before and after: types joined by "|", an enum value, the event type that came
	// before. Empty where there is nothing.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
}

// Diff lists the differences between two shapes, one Change each, in the order of the frames. It is empty exactly
// when the signatures are equal. What a new or lost frame holds, and the enum of a new or lost path, are no changes of
// their own.
func Diff(before, after contract.Shape) []Change {
	p := align(before, after)
	type ranked struct {
		frame, kind int
		Change
	}
	var found []ranked
	for i := range kinds {
		k := &kinds[i]
		k.find(p, func(c Change) {
			c.Kind = k.ID
			c.Severity = cmp.Or(c.Severity, k.Severity)
			found = append(found, ranked{p.rank[frameKey{c.Direction, c.EventType}], i, c})
		})
	}
	slices.SortStableFunc(found, func(a, b ranked) int {
		return cmp.Or(a.frame-b.frame, strings.Compare(a.Path, b.Path), a.kind-b.kind, strings.Compare(a.Old, b.Old), strings.Compare(a.New, b.New))
	})
	changes := make([]Change, len(found))
	for i, f := range found {
		changes[i] = f.Change
	}
	return changes
}

// Strongest gives the strongest severity of some changes; empty where there is none.
func Strongest(changes []Change) Severity {
	var worst Severity
	for _, c := range changes {
		if c.Severity.Rank() > worst.Rank() {
			worst = c.Severity
		}
	}
	return worst
}

// String is the change on one line that a terminal can show.
func (c Change) String() string { return c.Format(Plain) }

// Format is the change on one line. Every part that comes from a CLI goes through quote.
func (c Change) Format(quote func(string) string) string {
	what := "unknown change"
	if i := slices.IndexFunc(kinds, func(k Kind) bool { return k.ID == c.Kind }); i >= 0 {
		what = kinds[i].say(c, quote)
	}
	if c.Path != "" {
		what = "path " + quote(c.Path) + ": " + what
	}
	if c.EventType == "" {
		return what
	}
	frame := quote(c.EventType)
	if c.Direction == contract.ServerToCLI {
		frame += " (sent to the CLI)"
	}
	return frame + ": " + what
}

// maxPlain bounds what Plain lets through, in bytes.
const maxPlain = 300

// Plain makes a string that came from a CLI fit for one line of text: characters that do not print are escaped, and
// what is too long is cut.
func Plain(s string) string {
	cut := ""
	if len(s) > maxPlain {
		n := maxPlain
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s, cut = s[:n], "…"
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		s = strconv.QuoteToASCII(s)
	}
	return s + cut
}

// pair holds two shapes side by side.
type pair struct {
	old, new contract.Shape
	frames   []framePair
	rank     map[frameKey]int
}

type frameKey struct {
	direction contract.FrameDirection
	eventType string
}

// framePair holds a frame kind of both shapes; one side is nil where only the other has it.
type framePair struct {
	frameKey
	old, new *frame
	places   []placePair // of frames that both shapes have, sorted by path
}

type frame struct {
	contract.FrameShape
	places map[string]*place
}

// placePair holds a path of both frames; one side is nil where only the other has it.
type placePair struct {
	path     string
	old, new *place
}

// place is what a frame has at one path.
type place struct {
	types []string
	// required is relative to the parent; always says that all its parents are required as well.
	required, always bool
	enum             []string
}

// align pairs frames and paths: the frames of the old shape in their order, then the new ones.
func align(before, after contract.Shape) *pair {
	p := &pair{old: before, new: after, rank: map[frameKey]int{}}
	at := func(f contract.FrameShape) *framePair {
		key := frameKey{f.Direction, f.EventType}
		i, ok := p.rank[key]
		if !ok {
			p.frames = append(p.frames, framePair{frameKey: key})
			i = len(p.frames)
			p.rank[key] = i // 0 is the whole shape
		}
		return &p.frames[i-1]
	}
	for _, f := range before.FrameShapes {
		at(f).old = newFrame(f)
	}
	for _, f := range after.FrameShapes {
		at(f).new = newFrame(f)
	}
	for i := range p.frames {
		p.frames[i].pairPlaces()
	}
	return p
}

func newFrame(f contract.FrameShape) *frame {
	out := &frame{FrameShape: f, places: map[string]*place{}}
	for _, ps := range f.Paths {
		pl := out.places[ps.Path]
		if pl == nil {
			pl = &place{required: true}
			out.places[ps.Path] = pl
		}
		pl.types = append(pl.types, string(ps.Type))
		pl.required = pl.required && ps.Required
	}
	for path, pl := range out.places {
		slices.Sort(pl.types)
		pl.enum = f.Enums[path]
		pl.always = out.always(path)
	}
	return out
}

// always reports whether the path and all its parents are required.
func (f *frame) always(path string) bool {
	for ; path != ""; path = parentPath(path) {
		if pl := f.places[path]; pl != nil && !pl.required {
			return false
		}
	}
	return true
}

// parentPath takes the last step off a path in canonical spelling; the root has no parent.
func parentPath(path string) string {
	cut := strings.LastIndexByte(path, '.')
	switch {
	case strings.HasSuffix(path, "']"):
		cut = strings.LastIndex(path, "['")
	case strings.HasSuffix(path, "]"):
		cut = strings.LastIndexByte(path, '[')
	}
	if cut < 0 {
		return ""
	}
	return path[:cut]
}

func (p *framePair) pairPlaces() {
	if p.old == nil || p.new == nil {
		return
	}
	paths := map[string]bool{}
	for path := range p.old.places {
		paths[path] = true
	}
	for path := range p.new.places {
		paths[path] = true
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		p.places = append(p.places, placePair{path, p.old.places[path], p.new.places[path]})
	}
}
