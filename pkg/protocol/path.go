package protocol

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Attr says how the value at a path is read. Attributes come from the dialect and from a few key names that mean the
// same everywhere; they are computed once per distinct path.
type Attr uint16

// The attributes.
const (
	// AttrOpaque values are recorded as kind only.
	AttrOpaque Attr = 1 << iota
	// AttrMap objects are keyed by data.
	AttrMap
	// AttrID strings identify something; only their equality matters.
	AttrID
	// AttrNumber numbers are needed by hosts and identify nothing.
	AttrNumber
	// AttrDiagnostic strings are messages that templates may recognise.
	AttrDiagnostic
	// AttrBase64 strings must stay base64.
	AttrBase64
	// AttrDelta strings concatenate over consecutive frames.
	AttrDelta
	// AttrJSONDelta strings concatenate over consecutive frames to one JSON value.
	AttrJSONDelta
	// AttrEnum strings are enum-like and survive when they look like an identifier.
	AttrEnum
	// AttrStable strings are enum-like in every dialect: their values belong to the shape.
	AttrStable
	// AttrNamed paths are spelled out by the dialect, so their last key is a name, however odd.
	AttrNamed
)

// MaxPaths bounds the distinct paths of one transcript. More than that is an undeclared map, not a protocol.
const MaxPaths = 20_000

// ErrTooManyPaths reports a transcript with more than MaxPaths distinct paths.
var ErrTooManyPaths = errors.New("more than 20000 distinct paths: an object keyed by data is not declared in the dialect's maps")

// Path is one interned place in the frames of a dialect, such as $.item.type. Equal places share one *Path, so a
// per-path table needs no string work.
type Path struct {
	Parent *Path
	// Name is the canonical spelling.
	Name string
	// Key is the object key that leads here; empty for the root and for array elements.
	Key string
	// Element is set for the elements of an array.
	Element bool
	Attr    Attr
	// Index is dense from 0 in order of interning, for side tables.
	Index int
	// Allowed holds the declared values of an enum-like string; nil means any identifier at an AttrEnum path.
	Allowed map[string]bool

	unionKey string
	keys     map[string]*Path
	elements map[string]*Path
}

// Paths interns the paths of one dialect. It is not safe for concurrent use.
type Paths struct {
	Root    *Path
	dialect *Dialect
	count   int
	// envelope holds what a family knows of its frames, whatever the dialect.
	envelope map[string]func(*Path)
}

// envelopeAttrs are the parts of an RPC frame that both sides need: without them a transcript does not read back.
var envelopeAttrs = map[string]func(*Path){
	"$.jsonrpc":    func(p *Path) { p.Attr |= AttrEnum | AttrNamed; p.Allowed = map[string]bool{"2.0": true} },
	"$.id":         func(p *Path) { p.Attr |= AttrID | AttrNumber },
	"$.error.code": func(p *Path) { p.Attr |= AttrNumber },
}

// NewPaths returns an empty table; a nil dialect gives paths with the general attributes only.
func NewPaths(d *Dialect) *Paths {
	p := &Paths{dialect: d}
	p.Root = p.add(&Path{Name: "$"})
	return p
}

func (p *Paths) add(path *Path) *Path {
	path.Index = p.count
	p.count++
	if p.dialect != nil {
		p.dialect.describe(path)
	}
	if known := p.envelope[path.Name]; known != nil {
		known(path)
	}
	if path.Key != "" && path.Parent.Attr&AttrMap == 0 {
		path.Attr |= keyAttr(path.Key)
	}
	if path.Parent != nil && path.Parent.Attr&AttrOpaque != 0 {
		path.Attr |= AttrOpaque
	}
	return path
}

// key returns the path of a member. Members of a map share the path {key}.
func (p *Paths) key(parent *Path, key string) (*Path, error) {
	if parent.Attr&AttrMap != 0 {
		key = "{key}"
	}
	if child := parent.keys[key]; child != nil {
		return child, nil
	}
	if p.count >= MaxPaths {
		return nil, ErrTooManyPaths
	}
	if parent.keys == nil {
		parent.keys = map[string]*Path{}
	}
	child := p.add(&Path{Parent: parent, Key: key, Name: parent.Name + keyStep(key)})
	parent.keys[strings.Clone(key)] = child
	return child, nil
}

// element returns the path of an array's elements; variant tells the elements of a union apart.
func (p *Paths) element(parent *Path, variant string) (*Path, error) {
	if child := parent.elements[variant]; child != nil {
		return child, nil
	}
	if p.count >= MaxPaths {
		return nil, ErrTooManyPaths
	}
	if parent.elements == nil {
		parent.elements = map[string]*Path{}
	}
	child := p.add(&Path{Parent: parent, Element: true, Name: parent.Name + "[" + variant + "]"})
	parent.elements[strings.Clone(variant)] = child
	return child, nil
}

var plainKey = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*$`)

func keyStep(key string) string {
	if key == "{key}" || plainKey.MatchString(key) {
		return "." + key
	}
	return "['" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(key) + "']"
}

// enumKeys are the keys whose string values are enum-like in every dialect.
var enumKeys = set(contract.EnumKeys())

func keyAttr(key string) Attr {
	switch {
	case enumKeys[key]:
		return AttrEnum | AttrStable
	case key == "id" || key == "uuid" || strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "_uuid"),
		strings.HasSuffix(key, "Id") || strings.HasSuffix(key, "ID") || strings.HasSuffix(key, "Uuid"):
		return AttrID
	}
	return 0
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// pathExpr is a parsed path of a dialect that leads through object keys only.
type pathExpr []string

var pathStep = regexp.MustCompile(`^(?:\.([A-Za-z_$][A-Za-z0-9_$-]*)|\['((?:[^'\\]|\\.)*)'\])`)

// parsePath reads $.a.b and $['odd key'].c.
func parsePath(s string) (pathExpr, error) {
	rest, ok := strings.CutPrefix(s, "$")
	if !ok {
		return nil, fmt.Errorf("path %q does not start with $", s)
	}
	var expr pathExpr
	for rest != "" {
		m := pathStep.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("path %q: cannot read %q: use .key or ['odd key']", s, rest)
		}
		key := m[1]
		if key == "" {
			key = strings.NewReplacer(`\\`, `\`, `\'`, `'`).Replace(m[2])
		}
		expr = append(expr, key)
		rest = rest[len(m[0]):]
	}
	return expr, nil
}
