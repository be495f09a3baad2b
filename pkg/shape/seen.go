package shape

import (
	"bytes"
	"hash/maphash"
)

const (
	seenSlots   = 1 << 10
	maxSeenLine = 4 << 10 // bytes; longer lines are read each time
)

// seenLines remembers the last lines that were merged. A sanitized line that differs from one of them in nothing but
// the numbers of its placeholders adds nothing to a kind: it has the same paths and values, and as many of its parents
// lack a key. The memory is bounded and allocated as it fills.
type seenLines struct {
	seed    maphash.Seed
	slots   []seenLine
	scratch []byte
}

type seenLine struct {
	text      []byte
	eventType string
}

// find gives the remembered line that is like this one, if any, and a key for add.
func (s *seenLines) find(line []byte) (*seenLine, int) {
	if len(line) > maxSeenLine {
		return nil, -1
	}
	if s.slots == nil {
		s.seed, s.slots = maphash.MakeSeed(), make([]seenLine, seenSlots)
	}
	s.scratch = appendNumberless(s.scratch[:0], line)
	key := int(maphash.Bytes(s.seed, s.scratch) % seenSlots)
	if slot := &s.slots[key]; slot.eventType != "" && bytes.Equal(slot.text, s.scratch) {
		return slot, key
	}
	return nil, key
}

// add remembers the line that find was called with last.
func (s *seenLines) add(key int, eventType string) {
	if key >= 0 {
		slot := &s.slots[key]
		slot.text, slot.eventType = append(slot.text[:0], s.scratch...), eventType
	}
}

var numbered = [][]byte{[]byte("<id"), []byte("<key")}

// appendNumberless appends line without the digits of <id:12> and <key:3>.
func appendNumberless(dst, line []byte) []byte {
	for {
		i := bytes.IndexByte(line, ':')
		if i < 0 {
			return append(dst, line...)
		}
		head := line[:i]
		dst, line = append(dst, line[:i+1]...), line[i+1:]
		if len(line) == 0 || line[0] < '0' || line[0] > '9' || !bytes.HasSuffix(head, numbered[0]) && !bytes.HasSuffix(head, numbered[1]) {
			continue
		}
		n := 0
		for n < len(line) && line[n] >= '0' && line[n] <= '9' {
			n++
		}
		line = line[n:]
	}
}
