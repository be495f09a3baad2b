package redact

import "github.com/open-design/agent-cli-contracts/pkg/protocol"

// words watches the places where any identifier survives. One alone may be too short to tell a word from data; several
// that read like random letters, one after the other, are data that was cut into pieces.
type words struct {
	byPath   []*wordsAt
	messages wordsAt // the holes of messages
}

type wordsAt struct {
	seen map[string]bool // values; bounded by maxWords
	// What the last distinct values and keys score in protocol.Reads, older ones counting less.
	values, keys readings
}

type readings struct{ score, chars float64 }

const (
	// maxWords is how many distinct values of one place are told apart.
	maxWords = 4096
	// fading is what an earlier text still counts.
	fading = 0.75
	// minPieces is how many characters it takes to tell.
	minPieces = 7
	// Random letters score about -1.5 a character. Values that real CLIs print score above 0.2, their keys, which
	// abbreviate more, above -0.05.
	worstValues = -0.125
	worstKeys   = -0.35
)

// add takes in a text and reports whether the last ones still read like words.
func (r *readings) add(text string, worst float64) bool {
	score, chars := protocol.Reads(text)
	r.score, r.chars = r.score*fading+float64(score), r.chars*fading+float64(chars)
	return r.chars < minPieces || r.score > r.chars*worst
}

func (w *words) at(p *protocol.Path) *wordsAt {
	if p.Index >= len(w.byPath) {
		w.byPath = append(w.byPath, make([]*wordsAt, p.Index+64-len(w.byPath))...)
	}
	if w.byPath[p.Index] == nil {
		w.byPath[p.Index] = &wordsAt{seen: map[string]bool{}}
	}
	return w.byPath[p.Index]
}

// values takes in an enum-like value; a value that does not survive does not count.
func (w *words) values(p *protocol.Path, s []byte) bool {
	at := w.at(p)
	if at.seen[string(s)] || len(at.seen) >= maxWords || !protocol.IsToken(s) {
		return true
	}
	text := string(s)
	at.seen[text] = true
	return at.values.add(text, worstValues)
}

// message takes in the identifiers that stay in a message.
func (w *words) message(kept []string) bool {
	at, ok := &w.messages, true
	for _, text := range kept {
		if at.seen == nil {
			at.seen = map[string]bool{}
		}
		if !at.seen[text] && len(at.seen) < maxWords {
			at.seen[text] = true
			ok = at.values.add(text, worstKeys) && ok
		}
	}
	return ok
}

// keys takes in a member name, once per place.
func (w *words) keys(p *protocol.Path, name string) bool {
	return w.at(p).keys.add(name, worstKeys)
}
