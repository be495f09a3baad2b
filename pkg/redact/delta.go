package redact

import (
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// deltas says of each delta string of a transcript, in order, whether it is a piece of a literal: consecutive deltas
// survive only when together they are one of the probe's literals, never as free substrings.
type deltas struct {
	keep []bool
	at   int
}

// next sanitizes the next delta.
func (d *deltas) next(s string) string {
	if s == "" {
		return s
	}
	keep := d.at < len(d.keep) && d.keep[d.at]
	d.at++
	if keep {
		return s
	}
	return placeText
}

// deltasOf reads the transcript once ahead, if its dialect has deltas at all. It keeps one byte per delta.
func deltasOf(raw *transcript.Raw, p Policy, literals map[string]bool) (*deltas, error) {
	if p.Dialect == nil || len(p.Dialect.Source.Deltas) == 0 {
		return nil, nil
	}
	reader, err := protocol.NewReader(p.Family, p.Dialect)
	if err != nil {
		return nil, err
	}
	d := &deltas{}
	var open []byte
	start := 0
	see := func(s string) {
		open = append(open, s...)
		d.keep = append(d.keep, false)
		switch joined := string(open); {
		case literals[joined]:
			for i := start; i < len(d.keep); i++ {
				d.keep[i] = true
			}
		case hasPrefix(literals, joined):
			return
		}
		open, start = open[:0], len(d.keep)
	}
	lines := protocol.Lines{Whole: p.Transport == contract.TransportJSON}
	onLine := func(line []byte) error {
		f, err := reader.Read(line)
		if err != nil || f.Doc == nil {
			return nil // the main pass reports it
		}
		for i := range f.Doc.Nodes {
			if n := &f.Doc.Nodes[i]; n.Kind == '"' && n.Path.Attr&protocol.AttrDelta != 0 {
				if s := n.Text(); s != "" {
					see(s)
				}
			}
		}
		return nil
	}
	err = raw.Each(func(e transcript.Entry) error {
		if e.Dir == contract.CLIToServer && e.Stream == contract.Stdout {
			return lines.Feed(e.Data, onLine)
		}
		return nil
	})
	if err == nil {
		err = lines.Flush(onLine)
	}
	return d, err
}

func hasPrefix(literals map[string]bool, s string) bool {
	for l := range literals {
		if strings.HasPrefix(l, s) {
			return true
		}
	}
	return false
}
