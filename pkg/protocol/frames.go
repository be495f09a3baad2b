package protocol

import (
	"bytes"
	"fmt"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// MaxLine bounds one line of a CLI's output, in bytes.
const MaxLine = 64 << 20

// maxLine is MaxLine; the test of the bound does not hold so much.
var maxLine = MaxLine

// LineTooLongError reports output that never ends a line.
type LineTooLongError struct{ Limit int }

func (e *LineTooLongError) Error() string {
	return fmt.Sprintf("a line of output is longer than %d bytes; no protocol here frames that", e.Limit)
}

// Lines joins the chunks of one stream into lines, whatever the chunk boundaries were.
type Lines struct {
	partial []byte
	// Whole keeps everything as one line: the stream is a single document.
	Whole bool
}

// Feed hands each line that the chunk completes to fn, with its newline. The line is valid only until fn returns.
func (l *Lines) Feed(chunk []byte, fn func(line []byte) error) error {
	for len(chunk) > 0 {
		i := bytes.IndexByte(chunk, '\n')
		if l.Whole || i < 0 {
			if len(l.partial)+len(chunk) > maxLine {
				return &LineTooLongError{maxLine}
			}
			l.partial = append(l.partial, chunk...)
			return nil
		}
		line := chunk[:i+1]
		chunk = chunk[i+1:]
		if len(l.partial) > 0 {
			if len(l.partial)+len(line) > maxLine {
				return &LineTooLongError{maxLine}
			}
			l.partial = append(l.partial, line...)
			line = l.partial
		}
		if err := fn(line); err != nil {
			return err
		}
		l.partial = l.partial[:0]
	}
	return nil
}

// Flush hands over what came after the last newline, if anything.
func (l *Lines) Flush(fn func(line []byte) error) error {
	if len(l.partial) == 0 {
		return nil
	}
	line := l.partial
	l.partial = nil
	return fn(line)
}

// Frame is one line of a stream family, named. Its parts are valid until the Reader's next call.
type Frame struct {
	// EventType is empty for a blank line.
	EventType string
	// Doc is nil for text, noise and blank lines.
	Doc *Document
	// Unterminated is set when the line had no newline; Repaired when it held invalid UTF-8 or half of a surrogate pair,
	// which reads as U+FFFD, as in hosts' decoders.
	Unterminated, Repaired bool
}

// Reader names the lines of one stream.
type Reader struct {
	Family  contract.Family
	Dialect *Dialect
	Paths   *Paths
	doc     Document
	calls   map[call]string // of RPC families: open requests and their names
}

// NewReader reads the frames of a family. JSON families need a dialect.
func NewReader(family contract.Family, d *Dialect) (*Reader, error) {
	if d == nil && family != contract.FamilyPlain {
		return nil, fmt.Errorf("family %s needs a dialect: none of the mode's dialects covers this release", family)
	}
	r := &Reader{Family: family, Dialect: d, Paths: NewPaths(d)}
	if family.IsRPC() {
		r.Paths.envelope = envelopeAttrs
	}
	return r, nil
}

// Read names one line. The only errors are those of the path table.
func (r *Reader) Read(line []byte) (Frame, error) {
	text := bytes.TrimRight(line, "\r\n")
	f := Frame{Unterminated: !bytes.HasSuffix(line, []byte("\n"))}
	if len(bytes.TrimSpace(text)) == 0 {
		return f, nil
	}
	if r.Family == contract.FamilyPlain {
		f.EventType = TextFrame
		return f, nil
	}
	if r.Family.IsRPC() {
		f.EventType = Noise // frames of these families are no lines
		return f, nil
	}
	if err := r.doc.Parse(text); err != nil {
		if r.doc.parseRepaired(bytes.ToValidUTF8(text, []byte("\uFFFD"))) != nil {
			f.EventType = Noise
			return f, nil
		}
		f.Repaired = true
	}
	if err := r.doc.Resolve(r.Paths); err != nil {
		return f, err
	}
	f.Doc = &r.doc
	f.EventType = r.Dialect.EventType(&r.doc)
	return f, nil
}
