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
	out, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "" // unreachable: the decoder has checked the string
	}
	return string(out)
}

// Document is one parsed frame. A Document is reused from frame to frame; its nodes alias the text it was given.
type Document struct {
	Nodes []Node
	src   bytes.Buffer
	dec   *jsontext.Decoder
	open  []int
}

// Parse reads exactly one JSON value. Duplicate keys are accepted, as hosts' parsers do; invalid UTF-8 is not.
func (d *Document) Parse(text []byte) error {
	d.Nodes, d.open = d.Nodes[:0], d.open[:0]
	d.src = *bytes.NewBuffer(text)
	opts := jsontext.AllowDuplicateNames(true)
	if d.dec == nil {
		d.dec = jsontext.NewDecoder(&d.src, opts)
	} else {
		d.dec.Reset(&d.src, opts)
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
	if j := d.child(i, key); j > 0 && d.Nodes[j].Kind == '"' {
		if s := d.Nodes[j].Text(); IsToken(s) {
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
func (d *Document) find(expr pathExpr) *Node {
	i := 0
	for _, key := range expr {
		if i = d.child(i, key); i == 0 {
			return nil
		}
	}
	return &d.Nodes[i]
}
