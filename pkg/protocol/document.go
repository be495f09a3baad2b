package protocol

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds the nesting of a frame; deeper text is no frame of any protocol here.
const maxDepth = 256

var errDepth = errors.New("nested too deeply")

// Node is one JSON value of a frame, in document order.
type Node struct {
	// Kind is the first byte of the value's kind: n f t " 0 { [.
	Kind jsontext.Kind
	// Key is the raw member name with its quotes, nil outside objects; Value is the raw value.
	Key, Value []byte
	// Next is the index of the first node behind this value.
	Next int
	Path *Path
}

// Text decodes a string node.
func (n *Node) Text() string { return unquote(n.Value) }

func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	// The only error left is half of a surrogate pair, which becomes U+FFFD as in hosts' decoders.
	out, _ := jsontext.AppendUnquote(nil, raw)
	return string(out)
}

// AppendText appends the decoded string of a string node.
func (n *Node) AppendText(dst []byte) []byte {
	if bytes.IndexByte(n.Value, '\\') < 0 {
		return append(dst, n.Value[1:len(n.Value)-1]...)
	}
	dst, _ = jsontext.AppendUnquote(dst, n.Value)
	return dst
}

// Document is one parsed frame. A Document is reused from frame to frame; its nodes alias the text it was given.
type Document struct {
	Nodes []Node
	src   bytes.Buffer
	dec   *jsontext.Decoder
	open  []int
	// tokens interns the enum-like strings of all frames; there are few.
	tokens map[string]string
	joined []byte
}

// maxTokens bounds Document.tokens.
const maxTokens = 4096

// Token gives the string of a node when it looks like an enum value. One that was seen before costs no allocation.
func (d *Document) Token(n *Node) (string, bool) {
	if n.Kind != '"' {
		return "", false
	}
	inner := n.Value[1 : len(n.Value)-1]
	if bytes.IndexByte(inner, '\\') >= 0 {
		s := n.Text()
		return s, IsToken(s)
	}
	if s, ok := d.tokens[string(inner)]; ok {
		return s, true
	}
	if !IsToken(inner) {
		return "", false
	}
	return d.intern(string(inner)), true
}

// join gives a two-part name, without allocating where it was given before.
func (d *Document) join(name, more string) string {
	d.joined = append(append(append(d.joined[:0], name...), '/'), more...)
	if s, ok := d.tokens[string(d.joined)]; ok {
		return s
	}
	return d.intern(string(d.joined))
}

func (d *Document) intern(s string) string {
	if d.tokens == nil || len(d.tokens) >= maxTokens {
		d.tokens = map[string]string{}
	}
	d.tokens[s] = s
	return s
}

// Parse reads exactly one JSON value. Duplicate keys are accepted, as hosts' parsers do; invalid UTF-8 is not.
func (d *Document) Parse(text []byte) error { return d.parse(text, jsontext.AllowDuplicateNames(true)) }

// parseRepaired also accepts escapes of half a surrogate pair; text is UTF-8.
func (d *Document) parseRepaired(text []byte) error {
	return d.parse(text, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

func (d *Document) parse(text []byte, opts ...jsontext.Options) error {
	d.Nodes, d.open = d.Nodes[:0], d.open[:0]
	d.src = *bytes.NewBuffer(text)
	if d.dec == nil {
		d.dec = jsontext.NewDecoder(&d.src, opts...)
	} else {
		d.dec.Reset(&d.src, opts...)
	}
	for {
		var key []byte
		kind := d.dec.PeekKind()
		if n := len(d.open); n > 0 && d.Nodes[d.open[n-1]].Kind == '{' && kind == '"' {
			name, err := d.dec.ReadValue()
			if err != nil {
				return err
			}
			key = d.alias(text, name)
			kind = d.dec.PeekKind()
		}
		switch kind {
		case '{', '[':
			if _, err := d.dec.ReadToken(); err != nil {
				return err
			}
			if len(d.open) == maxDepth {
				return errDepth
			}
			d.open = append(d.open, len(d.Nodes))
			end := int(d.dec.InputOffset())
			d.Nodes = append(d.Nodes, Node{Kind: kind, Key: key, Value: text[end-1 : end]})
			continue
		case '}', ']':
			if _, err := d.dec.ReadToken(); err != nil {
				return err
			}
			n := &d.Nodes[d.open[len(d.open)-1]]
			d.open = d.open[:len(d.open)-1]
			n.Next = len(d.Nodes)
		default:
			value, err := d.dec.ReadValue()
			if err != nil {
				return err
			}
			d.Nodes = append(d.Nodes, Node{Kind: kind, Key: key, Value: d.alias(text, value), Next: len(d.Nodes) + 1})
		}
		if len(d.open) == 0 {
			break
		}
	}
	if _, err := d.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

// alias returns the part of text that the decoder just read, so that nodes outlive the decoder's own buffer.
func (d *Document) alias(text []byte, value jsontext.Value) []byte {
	end := int(d.dec.InputOffset())
	return text[end-len(value) : end : end]
}

// Resolve gives every node its path.
func (d *Document) Resolve(p *Paths) error {
	_, err := d.resolve(p, 0, p.Root)
	return err
}

// ResolveBelow gives the nodes paths as if the document stood in place of the string at path.
func (d *Document) ResolveBelow(p *Paths, path *Path) error {
	_, err := d.resolve(p, 0, path)
	return err
}

func (d *Document) resolve(p *Paths, i int, path *Path) (int, error) {
	n := &d.Nodes[i]
	n.Path = path
	end := n.Next
	if n.Kind != '{' && n.Kind != '[' {
		return end, nil
	}
	for i++; i < end; {
		child := &d.Nodes[i]
		var at *Path
		var err error
		if child.Key != nil {
			at, err = p.member(path, child.Key)
		} else {
			variant := ""
			if path.unionKey != "" {
				variant = d.variant(i, path.unionKey)
			}
			at, err = p.element(path, variant)
		}
		if err != nil {
			return 0, err
		}
		if i, err = d.resolve(p, i, at); err != nil {
			return 0, err
		}
	}
	return end, nil
}

// member looks a raw key up without allocating where it has been seen before.
func (p *Paths) member(parent *Path, raw []byte) (*Path, error) {
	inner := raw[1 : len(raw)-1]
	if parent.Attr&AttrMap == 0 && bytes.IndexByte(inner, '\\') < 0 {
		if child := parent.keys[string(inner)]; child != nil {
			return child, nil
		}
	}
	return p.key(parent, unquote(raw))
}

func (d *Document) variant(i int, key string) string {
	if j := d.child(i, key); j > 0 {
		if s, ok := d.Token(&d.Nodes[j]); ok {
			return s
		}
	}
	return "?"
}

// child finds a member of the object at node i: its index, or 0.
func (d *Document) child(i int, key string) int {
	if d.Nodes[i].Kind != '{' {
		return 0
	}
	for j := i + 1; j < d.Nodes[i].Next; j = d.Nodes[j].Next {
		raw := d.Nodes[j].Key
		if string(raw[1:len(raw)-1]) == key || (bytes.IndexByte(raw, '\\') >= 0 && unquote(raw) == key) {
			return j
		}
	}
	return 0
}

// find follows object keys from the root; nil where one is missing.
func (d *Document) find(expr pathExpr) *Node { return d.findFrom(0, expr) }

func (d *Document) findFrom(i int, expr pathExpr) *Node {
	for _, key := range expr {
		if i = d.child(i, key); i == 0 {
			return nil
		}
	}
	return &d.Nodes[i]
}
