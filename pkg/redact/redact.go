package redact

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// redactor holds the state of one transcript.
type redactor struct {
	policy   Policy
	reader   *protocol.Reader
	literals map[string]bool
	public   map[string]bool
	ids      *ids
	keys     map[string]bool // vocabulary: keys seen under opaque paths
	names    [][]byte        // per path index: the sanitized member name
	ahead    ahead
	entry    int
	class    stderrClass
	text     []byte  // scratch: a decoded string
	cut      [2]bool // of standard output and error: an entry of a public file left its line open
	ordered  bool    // the line that is being sanitized depends on what came before it
	repeats  repeats
	words    words
	sample   []byte // the first line that passed both gates
}

func newRedactor(p Policy) (*redactor, error) {
	if p.Scanner == nil {
		return nil, errors.New("redact: a policy without a scanner cannot pass anything")
	}
	reader, err := protocol.NewReader(p.Family, p.Dialect)
	if err != nil {
		return nil, err
	}
	r := &redactor{policy: p, reader: reader, literals: map[string]bool{}, public: map[string]bool{}, ids: newIDs(), keys: map[string]bool{}}
	for _, l := range p.Literals {
		r.literals[l] = true
	}
	for _, v := range p.Vocabulary {
		r.public[v] = true
	}
	return r, nil
}

// fail makes a failure. A path is made of keys, so it is told only where the scanner finds nothing in it, not even in
// keys read as the parts of a file's path.
func (r *redactor) fail(rule, path, remedy string) *Failure {
	if path != "" && len(r.policy.Scanner.Scan([]byte(path+"\n"+strings.ReplaceAll(path, ".", "/")))) > 0 {
		path = "$"
	}
	return &Failure{Rule: rule, Entry: r.entry, Path: path, Remedy: remedy}
}

// line sanitizes one line of standard output, newline included, and puts the result through the second gate.
func (r *redactor) line(dst, line []byte) ([]byte, error) {
	key := r.repeats.key(line)
	if known, ok := r.repeats.find(key, line); ok {
		return append(dst, known...), nil
	}
	start := len(dst)
	r.ordered = false
	dst, err := r.fresh(dst, line)
	if err == nil {
		err = r.scan(dst[start:])
	}
	if err != nil {
		return nil, err
	}
	if !r.ordered {
		r.repeats.add(key, line, dst[start:])
	}
	return dst, nil
}

func (r *redactor) fresh(dst, line []byte) ([]byte, error) {
	f, err := r.reader.Read(line)
	if err != nil {
		return nil, r.fail("structure/undeclared-map", "", err.Error())
	}
	end := line[len(bytes.TrimRight(line, "\r\n")):]
	switch {
	case f.EventType == "":
		return append(dst, end...), nil
	case f.Doc == nil:
		text, err := r.message(bytes.TrimRight(line, "\r\n"))
		if err != nil {
			return nil, err
		}
		dst = append(dst, text...)
	default:
		if dst, _, err = r.value(dst, f.Doc, 0); err != nil {
			return nil, err
		}
	}
	return append(dst, end...), nil
}

// frame sanitizes one frame of an RPC family and puts the result through the second gate.
func (r *redactor) frame(dst, frame []byte) ([]byte, error) {
	if !r.policy.Family.IsRPC() {
		return nil, r.fail("structure/frame", "", "this family has no frames in its transcript")
	}
	key := r.repeats.key(frame)
	if known, ok := r.repeats.find(key, frame); ok {
		return append(dst, known...), nil
	}
	r.ordered = false
	f, err := r.reader.ReadFrame(contract.CLIToServer, frame) // of both directions: what survives does not depend on it
	if err != nil {
		return nil, r.fail("structure/undeclared-map", "", err.Error())
	}
	start := len(dst)
	if dst, _, err = r.value(dst, f.Doc, 0); err == nil {
		err = r.scan(dst[start:])
	}
	if err != nil {
		return nil, err
	}
	if !r.ordered {
		r.repeats.add(key, frame, dst[start:])
	}
	return dst, nil
}

// framesOf hands over the frames of both sides, as the main pass reads them.
func framesOf(raw *transcript.Raw, fn func(frame []byte) error) error {
	return raw.Each(func(e transcript.Entry) error {
		if e.Frame != nil {
			return fn(e.Frame)
		}
		return nil
	})
}

// message sanitizes a line of text: one of the probe's literals, a known message, or text.
func (r *redactor) message(text []byte) (string, error) {
	s := strings.ToValidUTF8(string(text), "\uFFFD")
	if r.literals[s] {
		return s, nil
	}
	return r.known(s, "")
}

// known is the sanitized form of a message that a template recognises, else the placeholder.
func (r *redactor) known(message, path string) (string, error) {
	m := r.policy.Templates.read(message)
	if !m.ok {
		return placeText, nil
	}
	if !r.words.message(m.kept) {
		return "", r.fail("structure/pieces", path, "the identifiers in messages read like data cut into pieces: give the hole of the template another type")
	}
	return m.text, nil
}

// stderrLine sanitizes one line of standard error, classifies what is left of it, and puts it through the second gate.
func (r *redactor) stderrLine(dst, line []byte) ([]byte, error) {
	text := bytes.TrimRight(line, "\r\n")
	end := line[len(text):]
	if len(bytes.TrimSpace(text)) == 0 {
		return append(dst, end...), nil
	}
	message, err := r.message(text)
	if err != nil {
		return nil, err
	}
	if _, class, ok := r.policy.Templates.Recognise(message); ok {
		r.class.add(class)
	} else {
		r.class.add(contract.StderrUnknown)
	}
	start := len(dst)
	dst = append(append(dst, message...), end...)
	return dst, r.scan(dst[start:])
}

// value writes the sanitized node at i and returns the index behind it.
func (r *redactor) value(dst []byte, doc *protocol.Document, i int) ([]byte, int, error) {
	n := &doc.Nodes[i]
	switch n.Kind {
	case '{', '[':
		dst = append(dst, byte(n.Kind))
		for j := i + 1; j < n.Next; {
			if j > i+1 {
				dst = append(dst, ',')
			}
			var err error
			if child := &doc.Nodes[j]; child.Key != nil {
				if dst, err = r.key(dst, n.Path, child); err != nil {
					return nil, 0, err
				}
				dst = append(dst, ':')
			}
			if dst, j, err = r.value(dst, doc, j); err != nil {
				return nil, 0, err
			}
		}
		if n.Kind == '{' {
			return append(dst, '}'), n.Next, nil
		}
		return append(dst, ']'), n.Next, nil
	case '"':
		r.text = n.AppendText(r.text[:0])
		if n.Path.Attr&protocol.AttrJSONDelta != 0 && len(r.text) > 0 {
			r.ordered = true
			dst, err := r.fragment(dst, n.Path)
			return dst, n.Next, err
		}
		if n.Path.Attr&protocol.AttrDelta != 0 && r.ahead.deltas != nil {
			r.ordered = true
			if r.ahead.deltas.next(r.text) {
				return appendString(dst, r.text), n.Next, nil
			}
			return appendPlace(dst, placeText), n.Next, nil
		}
		if n.Path.Attr&(protocol.AttrEnum|protocol.AttrOpaque) == protocol.AttrEnum && n.Path.Allowed == nil && !r.words.values(n.Path, r.text) {
			return nil, 0, r.fail("structure/pieces", safePath(n.Path), "the values there read like data cut into pieces: declare the place in the dialect's ids, or its values in enums")
		}
		dst, err := r.str(dst, r.text, n.Path)
		return dst, n.Next, err
	case '0':
		if n.Path.Attr&protocol.AttrID != 0 && n.Path.Attr&protocol.AttrNumber != 0 && len(n.Value) > maxNumber {
			return strconv.AppendInt(dst, longIDs+int64(r.ids.number(n.Value)), 10), n.Next, nil
		}
		return append(dst, number(n.Value, n.Path.Attr)...), n.Next, nil
	}
	return append(dst, n.Value...), n.Next, nil
}

// key writes a member name. Names are checked once per path; the keys of declared maps are data and get a number.
func (r *redactor) key(dst []byte, parent *protocol.Path, child *protocol.Node) ([]byte, error) {
	index := child.Path.Index
	if index < len(r.names) && r.names[index] != nil {
		return append(dst, r.names[index]...), nil
	}
	if parent.Attr&protocol.AttrMap != 0 {
		r.text = (&protocol.Node{Value: child.Key}).AppendText(r.text[:0])
		if r.public[string(r.text)] || r.literals[string(r.text)] {
			return appendString(dst, r.text), nil
		}
		return r.ids.appendNumbered(dst, placeKey, r.text), nil
	}
	name := child.Path.Key
	if child.Path.Attr&protocol.AttrNamed == 0 && !isFieldName(name) {
		if parent.Attr&protocol.AttrOpaque != 0 {
			return r.ids.appendNumbered(dst, placeKey, []byte(name)), nil
		}
		return nil, r.fail("structure/undeclared-map", safePath(parent), "a key there looks like data: declare the object in the dialect's maps or opaque paths")
	}
	if parent.Attr&protocol.AttrOpaque != 0 {
		r.keys[name] = true
	}
	if child.Path.Attr&protocol.AttrNamed == 0 && !r.words.keys(parent, name) {
		return nil, r.fail("structure/pieces", safePath(parent), "the keys there read like data cut into pieces: declare the object in the dialect's maps or opaque paths")
	}
	if index >= len(r.names) {
		r.names = append(r.names, make([][]byte, index+64-len(r.names))...)
	}
	r.names[index] = appendString(nil, name)
	return append(dst, r.names[index]...), nil
}

// safePath is a path for messages: only keys that passed the field-name rule lead to it.
func safePath(p *protocol.Path) string {
	for q := p; q != nil; q = q.Parent {
		if q.Key != "" && !isFieldName(q.Key) {
			return "$"
		}
	}
	if score, chars := protocol.Reads(p.Name); chars >= minPieces && float64(score) < float64(chars)*worstKeys {
		return "$" // a value that is cut into keys, one below the other
	}
	return p.Name
}

// Redact sanitizes a raw transcript into a spool in dir. The error is a *Failure when a rule stopped it; nothing
// sanitized exists then.
func Redact(raw *transcript.Raw, p Policy, dir string) (*Sanitized, error) {
	r, err := newRedactor(p)
	if err != nil {
		return nil, err
	}
	r.ahead, err = lookAhead(p, r.literals, func(onLine func([]byte) error) error {
		if p.Family.IsRPC() {
			return framesOf(raw, onLine)
		}
		lines := newSplitter(p.Transport, onLine, func([]byte) error { return nil })
		if err := raw.Each(lines.feed); err != nil {
			return err
		}
		return lines.flush()
	})
	if err != nil {
		return nil, r.tooLong(err)
	}
	rec, err := transcript.NewRecorder(dir)
	if err != nil {
		return nil, err
	}
	var out []byte
	var at int64
	emit := func(stream contract.StreamName, sanitize func(dst, line []byte) ([]byte, error)) func([]byte) error {
		return func(line []byte) error {
			var err error
			if out, err = sanitize(out[:0], line); err != nil {
				return err
			}
			rec.Record(transcript.Entry{Dir: contract.CLIToServer, Stream: stream, AtMs: at, Data: out})
			return nil
		}
	}
	lines := newSplitter(p.Transport, emit(contract.Stdout, r.line), emit(contract.Stderr, r.stderrLine))
	err = raw.Each(func(e transcript.Entry) error {
		r.entry++
		at = e.AtMs
		if e.Frame != nil {
			frame, err := r.frame(nil, e.Frame)
			if err == nil {
				e.Frame = frame
				rec.Record(e)
			}
			return err
		}
		if err := lines.feed(e); err != nil || e.Dir == contract.CLIToServer {
			return err
		}
		if e.Dir == contract.ServerToCLI {
			if !r.publicRef(e.Ref) {
				e.Ref = "redacted"
			}
			e.Data = nil
		}
		rec.Record(e)
		return nil
	})
	if err == nil {
		err = lines.flush()
	}
	if err == nil {
		err = r.alive()
	}
	store, finishErr := rec.Finish()
	if err != nil || finishErr != nil {
		if store != nil {
			_ = store.Close()
		}
		return nil, errors.Join(r.tooLong(err), finishErr)
	}
	return r.sanitized(store), nil
}

// tooLong makes a failure of a line that never ends; other errors stay as they are.
func (r *redactor) tooLong(err error) error {
	var long *protocol.LineTooLongError
	if errors.As(err, &long) {
		return r.fail("structure/line", "", long.Error())
	}
	return err
}

func (r *redactor) sanitized(store *transcript.Raw) *Sanitized {
	keys := make([]string, 0, len(r.keys))
	for k := range r.keys {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return &Sanitized{store: store, policy: r.policy, class: r.class.value(), keys: keys}
}

// scan is the second gate: the sanitized text in all decoded forms.
func (r *redactor) scan(text []byte) error {
	if hits := r.policy.Scanner.Line(text); len(hits) > 0 {
		return r.fail("scan/"+hits[0].Rule, r.place(text), "sanitized text still matches a secret rule: tighten the dialect or the templates that let it through")
	}
	if len(r.sample) == 0 && len(text) <= maxRepeatLine {
		r.sample = append(r.sample, text...)
	}
	return nil
}

// place finds the value or the object with the key in which the scanner found something; it is empty for text that is no frame.
func (r *redactor) place(text []byte) string {
	f, err := r.reader.Read(text)
	if err != nil || f.Doc == nil {
		return ""
	}
	for i := range f.Doc.Nodes {
		n := &f.Doc.Nodes[i]
		if n.Key != nil && len(r.policy.Scanner.Scan(n.Key)) > 0 {
			return safePath(n.Path.Parent)
		}
		if n.Kind == '"' && len(r.policy.Scanner.Scan(n.Value)) > 0 {
			return safePath(n.Path)
		}
	}
	return "$"
}

// alive proves that the scanner would have seen something.
func (r *redactor) alive() error {
	err := r.policy.Scanner.Alive()
	if err == nil {
		err = r.policy.Scanner.AliveIn(r.sample)
	}
	if err != nil {
		return fmt.Errorf("redact: the scanner does not fire, so a clean result proves nothing: %w", err)
	}
	return nil
}
