package redact

import (
	"bytes"
	"hash/maphash"
)

const (
	repeatSlots   = 1 << 10
	maxRepeatLine = 2 << 10 // bytes; longer lines are sanitized each time
)

// repeats remembers the last lines that passed both gates and what became of them: the same line gives the same text
// again, because placeholders keep their numbers. The memory is bounded and allocated as it fills.
type repeats struct {
	seed  maphash.Seed
	slots []repeat
}

type repeat struct{ line, out []byte }

func (s *repeats) key(line []byte) int {
	if len(line) > maxRepeatLine {
		return -1
	}
	if s.slots == nil {
		s.seed, s.slots = maphash.MakeSeed(), make([]repeat, repeatSlots)
	}
	return int(maphash.Bytes(s.seed, line) % repeatSlots)
}

func (s *repeats) find(key int, line []byte) ([]byte, bool) {
	if key < 0 || len(line) == 0 || !bytes.Equal(s.slots[key].line, line) {
		return nil, false
	}
	return s.slots[key].out, true
}

func (s *repeats) add(key int, line, out []byte) {
	if key >= 0 {
		slot := &s.slots[key]
		slot.line, slot.out = append(slot.line[:0], line...), append(slot.out[:0], out...)
	}
}
