package redact

import "github.com/open-design/agent-cli-contracts/pkg/protocol"

// fragments holds, for each JSON delta of a transcript in order, the value that it begins: fragments that together are
// one JSON value are redacted as that value, which then stands whole in the first of them, and the others are empty. A
// parser that joins them sees a value of the same structure as before. Empty fragments do not count; what never becomes
// a value is emptied.
type fragments struct {
	values [][]byte // nil for a fragment that begins none
	at     int

	first  int    // index of the fragment that began the open value
	open   []byte // the value so far
	depth  int
	quoted bool
	escape bool
}

// maxFragments bounds one value, in bytes.
const maxFragments = protocol.MaxLine

// see takes in the next fragment that is not empty.
func (f *fragments) see(s []byte) {
	f.values = append(f.values, nil)
	if len(f.open) == 0 {
		f.first = len(f.values) - 1
	}
	f.open = append(f.open, s...)
	for i, c := range s {
		if f.step(c); f.depth > 0 {
			continue
		}
		// Only objects and arrays say themselves where they end.
		if i == len(s)-1 && (c == '}' || c == ']') {
			f.values[f.first] = f.open
		}
		f.open = nil
		break
	}
	if len(f.open) > maxFragments {
		f.open = nil
	}
	if f.open == nil {
		f.depth, f.quoted, f.escape = 0, false, false
	}
}

// step follows one byte of JSON far enough to see where the value ends.
func (f *fragments) step(c byte) {
	switch {
	case f.escape:
		f.escape = false
	case f.quoted:
		f.escape = c == '\\'
		f.quoted = c != '"'
	case c == '"':
		f.quoted = true
	case c == '{' || c == '[':
		f.depth++
	case c == '}' || c == ']':
		f.depth--
	}
}

// next gives the value that a fragment begins.
func (f *fragments) next() []byte {
	if f.at >= len(f.values) {
		return nil
	}
	f.at++
	return f.values[f.at-1]
}

// fragment appends what becomes of a JSON delta, quoted.
func (r *redactor) fragment(dst []byte, path *protocol.Path) ([]byte, error) {
	value := r.ahead.fragments.next()
	if value == nil {
		return append(dst, `""`...), nil
	}
	var doc protocol.Document
	if doc.Parse(value) != nil {
		return append(dst, `""`...), nil
	}
	if err := doc.ResolveBelow(r.reader.Paths, path); err != nil {
		return nil, r.fail("structure/undeclared-map", safePath(path), err.Error())
	}
	out, _, err := r.value(nil, &doc, 0)
	if err != nil {
		return nil, err
	}
	return appendString(dst, out), nil
}
