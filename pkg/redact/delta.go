package redact

import (
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
)

// deltas says of each delta string of a transcript, in order, whether it is a piece of a literal: consecutive deltas
// survive only when together they are one of the probe's literals, never as free substrings. Empty strings do not count.
type deltas struct {
	keep []bool
	at   int
}

// next reports whether the next delta survives.
func (d *deltas) next(s []byte) bool {
	if len(s) == 0 {
		return true
	}
	keep := d.at < len(d.keep) && d.keep[d.at]
	d.at++
	return keep
}

// ahead is what the main pass must know of frames that it has not reached.
type ahead struct {
	deltas    *deltas
	fragments *fragments
}

// lookAhead reads the transcript once, if its dialect has deltas at all. It keeps one byte per delta, and the JSON that
// fragments make. each hands over the lines of standard output exactly as the main pass reads them: were a line cut
// differently here, its deltas would be decided by those of another.
func lookAhead(p Policy, literals map[string]bool, each func(onLine func(line []byte) error) error) (ahead, error) {
	if p.Dialect == nil || len(p.Dialect.Source.Deltas)+len(p.Dialect.Source.JSONDeltas) == 0 {
		return ahead{}, nil
	}
	reader, err := protocol.NewReader(p.Family, p.Dialect)
	if err != nil {
		return ahead{}, err
	}
	read := reader.Read
	if p.Family.IsRPC() {
		read = func(frame []byte) (protocol.Frame, error) { return reader.ReadFrame(contract.CLIToServer, frame) }
	}
	j := newJoiner(literals)
	var fragments fragments
	var scratch []byte
	err = each(func(line []byte) error {
		f, err := read(line)
		if err != nil || f.Doc == nil {
			return nil // the main pass reports it
		}
		for i := range f.Doc.Nodes {
			n := &f.Doc.Nodes[i]
			if n.Kind != '"' || len(n.Value) == len(`""`) {
				continue
			}
			switch {
			case n.Path.Attr&protocol.AttrDelta != 0:
				scratch = n.AppendText(scratch[:0])
				j.see(scratch)
			case n.Path.Attr&protocol.AttrJSONDelta != 0:
				scratch = n.AppendText(scratch[:0])
				fragments.see(scratch)
			}
		}
		return nil
	})
	j.decide(true)
	return ahead{&deltas{keep: j.keep}, &fragments}, err
}

// joiner finds, from each delta on, the longest literal that consecutive deltas make. Deltas that may still become one
// are open.
type joiner struct {
	literals map[string]bool
	first    [256]bool // first bytes of literals: most deltas begin none
	keep     []bool
	open     []string
	joined   []byte // the first tried ones of open, concatenated
	tried    int
	matched  int  // how many of open make the longest literal so far
	dead     bool // no literal goes on behind joined
}

func newJoiner(literals map[string]bool) *joiner {
	j := &joiner{literals: map[string]bool{}}
	for l := range literals {
		// A literal that holds the placeholder could match what redaction itself wrote.
		if l != "" && !strings.Contains(l, placeText) {
			j.literals[l] = true
			j.first[l[0]] = true
		}
	}
	return j
}

// see takes in the next delta.
func (j *joiner) see(s []byte) {
	if len(j.open) == 0 && !j.first[s[0]] {
		j.keep = append(j.keep, false)
		return
	}
	j.open = append(j.open, string(s))
	j.decide(false)
}

// decide settles open deltas until the rest may still become a literal; at the end of the transcript it settles all.
// Those of the longest literal stay; where there is none, the first delta goes and the others are tried again.
func (j *joiner) decide(end bool) {
	for {
		for j.tried < len(j.open) && !j.dead {
			j.joined = append(j.joined, j.open[j.tried]...)
			j.tried++
			if j.literals[string(j.joined)] {
				j.matched = j.tried
			}
			j.dead = !j.goesOn()
		}
		if len(j.open) == 0 || !j.dead && !end {
			return
		}
		for range max(j.matched, 1) {
			j.keep = append(j.keep, j.matched > 0)
		}
		j.open = j.open[max(j.matched, 1):]
		j.joined, j.tried, j.matched, j.dead = j.joined[:0], 0, 0, false
	}
}

// goesOn reports whether some literal is longer than the joined deltas and begins with them.
func (j *joiner) goesOn() bool {
	for l := range j.literals {
		if len(l) > len(j.joined) && l[:len(j.joined)] == string(j.joined) {
			return true
		}
	}
	return false
}
