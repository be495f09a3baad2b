package shape

import (
	"cmp"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
)

// kind merges all frames of one event type.
type kind struct {
	dir       contract.FrameDirection
	eventType string
	ambient   map[string]bool // paths that may be there or not
	seen      []spot          // per path index
	enums     map[string]map[string]bool
}

// spot is what one kind of frame has shown at one path.
type spot struct {
	path  *protocol.Path // nil where the kind has never had it
	types uint8          // set of JSON types, as bits
	// objects and arrays count the containers seen here; present counts the containers of the parent path that hold this
	// one, each once: last is the number of the parent that was counted last.
	objects, arrays, present, last int
}

func (k *kind) at(p *protocol.Path) *spot {
	if p.Index >= len(k.seen) {
		k.seen = append(k.seen, make([]spot, p.Index+1-len(k.seen))...)
	}
	return &k.seen[p.Index]
}

// text records a frame that is a line of text: its only path is the root, a string.
func (k *kind) text(root *protocol.Path) {
	c := k.at(root)
	c.path = root
	c.types |= 1 << typeString
}

// The JSON types as bits of a set, in the order of their names.
const (
	typeArray = iota
	typeBoolean
	typeNull
	typeNumber
	typeObject
	typeString
)

var jsonTypes = [...]contract.JSONType{typeArray: "array", typeBoolean: "boolean", typeNull: "null", typeNumber: "number", typeObject: "object", typeString: "string"}

func typeOf(n *protocol.Node) int {
	switch n.Kind {
	case 'n':
		return typeNull
	case 't', 'f':
		return typeBoolean
	case '"':
		return typeString
	case '0':
		return typeNumber
	case '{':
		return typeObject
	}
	return typeArray
}

// merge takes in one frame. It reports the ambient paths that it passed over to ambient.
func (k *kind) merge(doc *protocol.Document, ambient func(path string)) {
	for i := 0; i < len(doc.Nodes); {
		n := &doc.Nodes[i]
		p := n.Path
		if k.ambient != nil && k.ambient[p.Name] {
			ambient(p.Name)
			i = n.Next
			continue
		}
		c := k.at(p)
		c.path = p
		c.types |= 1 << typeOf(n)
		if p.Parent != nil {
			// Places of one path never nest, so the parent that was counted last is the one around this node.
			if parent := &k.seen[p.Parent.Index]; parent.objects+parent.arrays != c.last {
				c.last = parent.objects + parent.arrays
				c.present++
			}
		}
		switch {
		case p.Attr&protocol.AttrOpaque != 0:
			i = n.Next
			continue
		case n.Kind == '{':
			c.objects++
		case n.Kind == '[':
			c.arrays++
		case p.Attr&protocol.AttrStable != 0:
			k.enum(doc, n)
		}
		i++
	}
}

func (k *kind) enum(doc *protocol.Document, n *protocol.Node) {
	s, ok := doc.Token(n)
	if !ok {
		return
	}
	values := k.enums[n.Path.Name]
	if values == nil {
		values = map[string]bool{}
		k.enums[n.Path.Name] = values
	}
	values[s] = true
}

func (k *kind) frameShape() contract.FrameShape {
	stream := contract.FrameStream(contract.Stdout)
	if k.dir == contract.ServerToCLI {
		stream = contract.FrameStream(contract.Stdin)
	}
	f := contract.FrameShape{Direction: k.dir, Stream: stream, EventType: k.eventType, Paths: []contract.PathShape{}, Enums: map[string][]string{}}
	for i := range k.seen {
		c := &k.seen[i]
		for t, name := range jsonTypes {
			if c.types&(1<<t) != 0 {
				f.Paths = append(f.Paths, contract.PathShape{Path: c.path.Name, Type: name, Required: k.required(c)})
			}
		}
	}
	slices.SortFunc(f.Paths, func(a, b contract.PathShape) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(string(a.Type), string(b.Type)))
	})
	for path, values := range k.enums {
		f.Enums[path] = sorted(values)
	}
	return f
}

// required: every parent seen has it; for elements, no array seen was without one.
func (k *kind) required(c *spot) bool {
	p := c.path
	if p.Parent == nil {
		return true
	}
	parent := &k.seen[p.Parent.Index]
	if p.Element {
		return c.present == parent.arrays
	}
	return c.present == parent.objects
}
