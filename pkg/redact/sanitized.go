package redact

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// Sanitized is a transcript that passed both gates. Only Redact and Read make one.
type Sanitized struct {
	store  *transcript.Raw
	policy Policy
	class  contract.StderrClass
	keys   []string
}

// Family is the protocol family of the transcript.
func (s *Sanitized) Family() contract.Family { return s.policy.Family }

// Transport is the framing of standard output.
func (s *Sanitized) Transport() contract.Transport { return s.policy.Transport }

// Dialect reads the frames; nil for plain families.
func (s *Sanitized) Dialect() *protocol.Dialect { return s.policy.Dialect }

// StderrClass is chosen from the sanitized text, so that it can be derived again.
func (s *Sanitized) StderrClass() contract.StderrClass { return s.class }

// OpaqueKeys are the keys seen under opaque paths, sorted.
func (s *Sanitized) OpaqueKeys() []string { return s.keys }

// Hash is the SHA-256 of what WriteTo writes.
func (s *Sanitized) Hash() contract.Hash { return s.store.Hash() }

// Size is how many bytes WriteJSONL writes.
func (s *Sanitized) Size() int64 { return s.store.BundleSize() }

// Each hands the entries to fn in order; each entry of a CLI's stream holds one whole line.
func (s *Sanitized) Each(fn func(transcript.Entry) error) error { return s.store.Each(fn) }

// Close frees the spool.
func (s *Sanitized) Close() error { return s.store.Close() }

// WriteJSONL writes the public JSONL form.
func (s *Sanitized) WriteJSONL(w io.Writer) error { return s.store.WriteBundle(w) }

// Read reads a public transcript and makes it Sanitized only if redaction changes nothing in it and the scan finds
// nothing: a file that somebody edited, or that an older rule let through, fails. The error is a *Failure then.
func Read(in io.Reader, p Policy, dir string) (*Sanitized, error) {
	p.Cwd, p.Home = nil, nil
	r, err := newRedactor(p)
	if err != nil {
		return nil, err
	}
	store, err := transcript.ReadBundle(in, dir)
	if err != nil {
		var bad *transcript.LineError
		if errors.As(err, &bad) {
			return nil, &Failure{Rule: "structure/entry", Entry: bad.Line, Remedy: bad.Reason}
		}
		return nil, err
	}
	r.ahead, err = lookAhead(p, r.literals, func(onLine func([]byte) error) error {
		if p.Family.IsRPC() {
			return framesOf(store, onLine)
		}
		return store.Each(func(e transcript.Entry) error {
			if e.Dir == contract.CLIToServer && e.Stream == contract.Stdout {
				return onLine(e.Data)
			}
			return nil
		})
	})
	if err == nil {
		var out []byte
		err = store.Each(func(e transcript.Entry) error {
			r.entry++
			return r.check(&out, e)
		})
	}
	if err == nil {
		err = r.alive()
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return r.sanitized(store), nil
}

// check is the structure check of one public entry.
func (r *redactor) check(out *[]byte, e transcript.Entry) error {
	const remedy = "the entry is not what redaction would write: redact the raw transcript again"
	switch {
	case e.Frame != nil:
		var err error
		if *out, err = r.frame((*out)[:0], e.Frame); err != nil {
			return err
		}
		if !bytes.Equal(*out, e.Frame) {
			return r.fail("structure/allow-list", "", remedy)
		}
		return nil
	case e.Dir == contract.FromProcess:
		if e.EndsLines() {
			r.cut = [2]bool{}
		}
		return nil
	case e.Dir == contract.ServerToCLI:
		if !r.publicRef(e.Ref) {
			return r.fail("structure/stdin", "", "standard input stands as data_ref only: prompt, prompt-file, redacted or fixture:<file of the probe>")
		}
		return nil
	}
	whole := e.Stream == contract.Stdout && r.policy.Transport == contract.TransportJSON
	if e.Ref != "" || !oneLine(e.Data) && !whole {
		return r.fail("structure/chunk", "", "a public entry holds one line as data")
	}
	sanitize, cut := r.line, &r.cut[0]
	if e.Stream == contract.Stderr {
		sanitize, cut = r.stderrLine, &r.cut[1]
	}
	if *cut {
		return r.fail("structure/chunk", "", "the entry before it on this stream holds no whole line")
	}
	*cut = whole || !bytes.HasSuffix(e.Data, []byte("\n"))
	var err error
	if *out, err = sanitize((*out)[:0], e.Data); err != nil {
		return err
	}
	if !bytes.Equal(*out, e.Data) {
		return r.fail("structure/allow-list", "", remedy)
	}
	return nil
}

func oneLine(data []byte) bool {
	i := bytes.IndexByte(data, '\n')
	return i < 0 || i == len(data)-1
}

// publicRef reports whether a data_ref says nothing but where public content is kept.
func (r *redactor) publicRef(ref string) bool {
	switch ref {
	case "prompt", "prompt-file", "redacted":
		return true
	}
	name, ok := strings.CutPrefix(ref, "fixture:")
	return ok && r.literals[name]
}

// stderrClass picks the weightiest of the classes that a run's lines had.
type stderrClass map[contract.StderrClass]bool

func (c *stderrClass) add(class contract.StderrClass) {
	if *c == nil {
		*c = stderrClass{}
	}
	(*c)[class] = true
}

func (c stderrClass) value() contract.StderrClass {
	for _, class := range []contract.StderrClass{"auth", "quota", "upstream", "protocol", contract.StderrUnknown, "diagnostic", "debug"} {
		if c[class] {
			return class
		}
	}
	return contract.StderrNone
}

// Format keeps content, and the policy that made it, out of logs; the public form is a file.
func (s *Sanitized) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "redact.Sanitized(%s)", s.Hash())
}
