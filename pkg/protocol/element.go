package protocol

import "strings"

// fieldPath leads to one value: from the frame's root, or from the element that an event is about.
type fieldPath struct {
	expr    pathExpr
	element bool
}

// field reads a path of an event rule. Behind the path of the rule's elements it goes on from the element.
func (d *Dialect) field(where, each, path string) (fieldPath, error) {
	rest, element := strings.CutPrefix(path, each)
	if element = element && each != ""; element {
		path = "$" + rest
	}
	expr, err := d.parse(where, path)
	return fieldPath{expr, element}, err
}

// of finds the value in a frame; element is the index of the element's node.
func (p fieldPath) of(doc *Document, element int) *Node {
	if p.element {
		return doc.findFrom(element, p.expr)
	}
	return doc.find(p.expr)
}

// idPath leads to the ids of one frame: to one through keys only, or through elements to any number.
type idPath struct {
	expr pathExpr
	name string // of the path, where it leads through elements
}

func (d *Dialect) idPath(where, path string) (idPath, error) {
	expr, err := d.parse(where, path)
	if err != nil && strings.HasPrefix(path, "$") && strings.Contains(path, "[") {
		return idPath{name: path}, nil // the record's own rules have checked how it is written
	}
	return idPath{expr: expr}, err
}

// each hands over the nodes at the path, in document order.
func (p idPath) each(doc *Document, fn func(*Node)) {
	if p.name == "" {
		if n := doc.find(p.expr); n != nil {
			fn(n)
		}
		return
	}
	for i := range doc.Nodes {
		if n := &doc.Nodes[i]; n.Path.Name == p.name {
			fn(n)
		}
	}
}

// elements gives the indexes of the nodes at a path, in document order.
func (d *Document) elements(path string) []int {
	var found []int
	for i := range d.Nodes {
		if d.Nodes[i].Path.Name == path {
			found = append(found, i)
		}
	}
	return found
}

// is reports whether a node holds a value: a string or a boolean.
func (n *Node) is(value any) bool {
	switch value := value.(type) {
	case string:
		return n.Kind == '"' && n.Text() == value
	case bool:
		return value && n.Kind == 't' || !value && n.Kind == 'f'
	}
	return false
}
