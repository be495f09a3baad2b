package scan

import (
	"bytes"
	"crypto/sha256"
	"regexp"
	"sync"
)

// Line is Scan for one line of many. A line that was found clean before is not scanned again; lines count as one
// when they differ only in placeholder numbers (`<id:12>`, `<key:3>`) and in the time of a transcript entry. The
// memory is bounded, and forgets the oldest half first; lines with hits are never remembered.
func (s *Scanner) Line(data []byte) []Hit {
	key := s.lines.key(data)
	if s.lines.has(key) {
		return nil
	}
	hits := s.Scan(data)
	if len(hits) == 0 {
		s.lines.add(key)
	}
	return hits
}

// lineGeneration is how many lines one of the two generations of the cache holds (about 2 MB each).
const lineGeneration = 1 << 15

// lineCache remembers the hashes of clean lines in two generations.
type lineCache struct {
	literal bool // numbers are part of the key

	mu      sync.Mutex
	young   map[[sha256.Size]byte]struct{}
	old     map[[sha256.Size]byte]struct{}
	scratch sync.Pool // of *[]byte
}

func (c *lineCache) has(key [sha256.Size]byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.young[key]; ok {
		return true
	}
	_, ok := c.old[key]
	return ok
}

func (c *lineCache) add(key [sha256.Size]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.young) >= lineGeneration {
		c.old, c.young = c.young, nil
	}
	if c.young == nil {
		c.young = make(map[[sha256.Size]byte]struct{})
	}
	c.young[key] = struct{}{}
}

func (c *lineCache) key(data []byte) [sha256.Size]byte {
	if c.literal {
		return sha256.Sum256(data)
	}
	scratch, _ := c.scratch.Get().(*[]byte)
	if scratch == nil {
		scratch = new([]byte)
	}
	defer c.scratch.Put(scratch)
	*scratch = appendNumberless((*scratch)[:0], data)
	return sha256.Sum256(*scratch)
}

// maxNumber is how many digits a number that is left out may have: fewer than any value that is searched for, so
// that none can hide in it.
const maxNumber = 7

// numberEdge matches a value that could overlap such a number and its surroundings.
var numberEdge = regexp.MustCompile(`:[0-9]|[0-9][,}>]`)

// numberStarts are the texts behind which a number is left out, each with the bytes that must follow it.
var numberStarts = []struct {
	prefix []byte
	ends   string
}{
	{[]byte("<id:"), ">"},
	{[]byte("<key:"), ">"},
	{[]byte(`"at_ms":`), ",}"},
}

// appendNumberless appends line with the numbers of placeholders and entry times replaced by "#".
func appendNumberless(dst, line []byte) []byte {
	for len(line) > 0 {
		colon := bytes.IndexByte(line, ':')
		if colon < 0 {
			break
		}
		head := line[:colon+1]
		dst, line = append(dst, head...), line[colon+1:]
		n := 0
		for n < len(line) && n <= maxNumber && '0' <= line[n] && line[n] <= '9' {
			n++
		}
		if n == 0 || n > maxNumber || n == len(line) {
			continue
		}
		for _, s := range numberStarts {
			if bytes.HasSuffix(head, s.prefix) && bytes.IndexByte([]byte(s.ends), line[n]) >= 0 {
				dst, line = append(dst, '#'), line[n:]
				break
			}
		}
	}
	return append(dst, line...)
}
