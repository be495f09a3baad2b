package scan

import (
	"bytes"
	"hash/maphash"
	"strings"
	"unicode/utf8"
)

// plain is the encoding of data as it stands.
const plain = "plain"

// Random bytes often hold short printable stretches. Data that came out of base64 or hex is looked at only when
// some stretch is as long as the shortest exact value; and it is searched for patterns, and decoded further, only
// within stretches as long as the text in the shortest run that is decoded (16 characters of base64).
const (
	minExactText   = 8
	minPatternText = 12
	// minFileText is the same for a binary file, which is given as it is and so holds less noise.
	minFileText = 4
)

// view is one decoded form of the data. Views form a chain to the root; each keeps what is needed to find the
// place in its parent from which a byte came.
type view struct {
	data  []byte
	via   *decoding
	src   []byte // the part of the parent's data that was decoded
	start int    // where src begins in the parent
	shift int    // the alignment of the decoding
	skip  int    // where data begins in what src decodes to, or in a binary file
}

// frame is the storage of one depth: views are visited depth first, so each depth needs one buffer.
type frame struct {
	view
	buf []byte
}

// pass is the state of one scan. It is pooled, because its buffers are most of the cost of a short line.
type pass struct {
	s      *Scanner
	frames [MaxDepth + 2]frame
	lower  []byte // scratch: the text in lower case
	valid  []byte // scratch: the text with invalid UTF-8 replaced
	found  []bool // scratch: which rules' keywords the text holds
	seen   map[uint64]struct{}
	left   int // bytes of decoded text that may still be looked at
	hits   []Hit
	full   bool
}

var viewSeed = maphash.MakeSeed()

func (p *pass) scan(data []byte) []Hit {
	p.left = Budget(len(data))
	p.hits, p.full = nil, false
	clear(p.seen)
	p.frames[0].view = view{data: data}
	if bytes.IndexByte(data, 0) >= 0 && !utf8.Valid(data) {
		p.visitTexts(0, minFileText)
	} else {
		p.visit(0)
	}
	p.frames[0].view = view{}
	return sortHits(p.hits)
}

// visit looks at the view of depth d and at everything that can be decoded from it.
func (p *pass) visit(d int) {
	v := &p.frames[d].view
	if !p.pay(d, len(v.data)) {
		return
	}
	p.match(d)
	forPercent(v.data, func(dec *decoding, start, end int) { p.derive(d, dec, start, end) })
	for i := range wholeDecodings {
		if wholeDecodings[i].applies(v.data) {
			p.derive(d, &wholeDecodings[i], 0, len(v.data))
		}
	}
	forRuns(v.data, func(dec *decoding, start, end int) {
		for shift := range dec.shifts {
			p.deriveRun(d, dec, start, end, shift)
		}
	})
}

// pay takes n bytes from the budget. When it is used up the scan ends: nothing more is proven by going on.
func (p *pass) pay(d, n int) bool {
	if p.full {
		return false
	}
	if p.left -= n; p.left < 0 {
		p.limit(d)
		p.full = true
	}
	return !p.full
}

// derive decodes a part of the view of depth d, at each alignment, and visits what is new.
func (p *pass) derive(d int, dec *decoding, start, end int) {
	src, child := p.frames[d].data[start:end], &p.frames[d+1]
	for shift := range dec.shifts {
		child.buf, _ = dec.decode(child.buf[:0], src, shift, -1)
		out := child.buf
		if len(out) == 0 || bytes.Equal(out, src) || !p.first(out) {
			continue
		}
		if d == MaxDepth {
			p.limit(d)
			return
		}
		child.view = view{data: out, via: dec, src: src, start: start, shift: shift}
		p.visit(d + 1)
	}
}

// deriveRun decodes a run in the view of depth d. Any word may look like a run, so what comes out is mostly noise:
// only the texts in it are visited.
func (p *pass) deriveRun(d int, dec *decoding, start, end, shift int) {
	src, child := p.frames[d].data[start:end], &p.frames[d+1]
	child.buf, _ = dec.decode(child.buf[:0], src, shift, -1)
	out := child.buf
	longest, utf16 := longestText(out), wide(out)
	if longest < minExactText && !utf16 && !p.s.exact.ungated {
		return
	}
	if d == MaxDepth {
		// Only what still reads as text can have been encoded on purpose; the rest is chance.
		if longest >= minPatternText || utf16 {
			p.limit(d)
		}
		return
	}
	child.view = view{data: out, via: dec, src: src, start: start, shift: shift}
	p.visitTexts(d+1, minPatternText)
}

// visitTexts looks at the view of depth d, which is not text as a whole: for exact values anywhere, for the rest
// in its stretches of at least n bytes of text.
func (p *pass) visitTexts(d, n int) {
	v := &p.frames[d].view
	data := v.data
	if !p.pay(d, len(data)) {
		return
	}
	p.matchExact(d)
	if wide(data) {
		for i := range wideDecodings {
			p.derive(d, &wideDecodings[i], 0, len(data))
		}
	}
	forText(data, n, func(from, to int) {
		v.data, v.skip = data[from:to], from
		p.visit(d)
	})
}

// first reports whether a decoded form is new in this scan: decodings commute, so many paths lead to one text. A
// text that is encoded twice is looked at once.
func (p *pass) first(out []byte) bool {
	if p.seen == nil {
		p.seen = make(map[uint64]struct{})
	}
	h := maphash.Bytes(viewSeed, out)
	if _, ok := p.seen[h]; ok {
		return false
	}
	p.seen[h] = struct{}{}
	return true
}

// limit reports that the view of depth d could not be examined to the end.
func (p *pass) limit(d int) { p.hit(RuleLimit, d, 0) }

// hit records a finding at pos in the view of depth d.
func (p *pass) hit(rule string, d, pos int) {
	if p.full {
		return
	}
	encoding := plain
	if d > 0 {
		names := make([]string, d)
		for i := range names {
			names[i] = p.frames[i+1].via.name
		}
		encoding = strings.Join(names, ">")
	}
	if len(p.hits) == MaxHits-1 {
		p.full = true
		rule = RuleLimit
	}
	p.hits = append(p.hits, Hit{Rule: rule, Offset: p.origin(d, pos), Encoding: encoding})
}

// origin maps a position in the view of depth d to the data. Decoding again up to the position is cheaper than
// keeping a map for every view, because hits are rare.
func (p *pass) origin(d, pos int) int {
	for ; d > 0; d-- {
		v := &p.frames[d].view
		_, in := v.via.decode(nil, v.src, v.shift, v.skip+pos)
		pos = v.start + in
	}
	return p.frames[0].skip + pos
}
