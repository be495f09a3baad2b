package scan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// decoding is one way in which a text may be written.
type decoding struct {
	name   string
	shifts int // alignments to try
	// applies is a cheap test whether decoding could change anything; nil for runs.
	applies func(src []byte) bool
	// decode appends the decoded form of src to dst. With stop >= 0 it ends as soon as dst holds more than stop
	// bytes; in is the offset in src of the unit that it decoded last.
	decode func(dst, src []byte, shift, stop int) (out []byte, in int)
}

// wholeDecodings apply to a view from its first to its last byte. Order does not matter: each result is decoded
// again, until nothing changes.
var wholeDecodings = []decoding{
	{name: "json", shifts: 1, applies: hasEscapes, decode: unescape},
	{name: "ansi", shifts: 1, applies: hasControls, decode: stripControls},
	{name: "wrapped", shifts: 1, applies: isWrapped, decode: unwrap},
	wideDecodings[0],
	wideDecodings[1],
}

// wideDecodings also apply to what runs decode to.
var wideDecodings = [2]decoding{
	{name: "utf-16le", shifts: 2, applies: wide, decode: wideDecoder(0)},
	{name: "utf-16be", shifts: 2, applies: wide, decode: wideDecoder(1)},
}

func hasEscapes(src []byte) bool { return bytes.IndexByte(src, '\\') >= 0 }

// units drives a decoder that handles one unit of src at a time: next appends the unit at i and returns its length.
func units(dst, src []byte, stop int, next func(dst []byte, i int) ([]byte, int)) ([]byte, int) {
	last := 0
	for i := 0; i < len(src); {
		if stop >= 0 && len(dst) > stop {
			break
		}
		last = i
		var n int
		dst, n = next(dst, i)
		i += n
	}
	return dst, last
}

// unescape resolves the escapes of JSON, and \xHH, \e and \0 of C and shells. Unknown escapes stay as they are.
func unescape(dst, src []byte, _, stop int) ([]byte, int) {
	return units(dst, src, stop, func(dst []byte, i int) ([]byte, int) {
		if src[i] != '\\' {
			// Up to the next escape nothing changes; with a stop, every byte counts.
			n := bytes.IndexByte(src[i:], '\\')
			if n < 0 {
				n = len(src) - i
			}
			if stop >= 0 {
				n = 1
			}
			return append(dst, src[i:i+n]...), n
		}
		if i+1 == len(src) {
			return append(dst, '\\'), 1
		}
		switch c := src[i+1]; c {
		case '"', '\\', '/', '\'':
			return append(dst, c), 2
		case 'n':
			return append(dst, '\n'), 2
		case 'r':
			return append(dst, '\r'), 2
		case 't':
			return append(dst, '\t'), 2
		case 'b':
			return append(dst, '\b'), 2
		case 'f':
			return append(dst, '\f'), 2
		case 'e':
			return append(dst, 0x1b), 2
		case 'x':
			if v, ok := hexValue(src, i+2, 2); ok {
				return append(dst, byte(v)), 4
			}
		case 'u':
			if v, ok := hexValue(src, i+2, 4); ok {
				return unescapeRune(dst, src, i, rune(v))
			}
		case '0':
			if i+3 < len(src) && octal(src[i+2]) && octal(src[i+3]) {
				return append(dst, (src[i+2]-'0')<<3|(src[i+3]-'0')), 4
			}
		}
		return append(dst, '\\'), 1
	})
}

func octal(c byte) bool { return '0' <= c && c <= '7' }

// unescapeRune appends the rune of \uXXXX at i, joined with the low surrogate that may follow.
func unescapeRune(dst, src []byte, i int, r rune) ([]byte, int) {
	if utf16.IsSurrogate(r) && i+7 < len(src) && src[i+6] == '\\' && src[i+7] == 'u' {
		if low, ok := hexValue(src, i+8, 4); ok {
			if full := utf16.DecodeRune(r, rune(low)); full != utf8.RuneError {
				return utf8.AppendRune(dst, full), 12
			}
		}
	}
	return utf8.AppendRune(dst, r), 6
}

// hexValue reads n hexadecimal digits at i.
func hexValue(src []byte, i, n int) (int, bool) {
	if i+n > len(src) {
		return 0, false
	}
	v := 0
	for _, c := range src[i : i+n] {
		x := hexDigit[c]
		if x < 0 {
			return 0, false
		}
		v = v<<4 | int(x)
	}
	return v, true
}

// wide reports whether src holds a stretch of six ASCII characters in UTF-16: every other byte is NUL. More NULs in
// between do no harm, so that UTF-16 of UTF-16 counts too.
func wide(src []byte) bool {
	const chars = 6
	if bytes.IndexByte(src, 0) < 0 {
		return false
	}
	for parity := range 2 {
		found := 0
		for i := parity; i+1 < len(src); i += 2 {
			switch {
			case src[i] != 0:
				found = 0
			case src[i+1] != 0:
				if found++; found == chars {
					return true
				}
			}
		}
	}
	return false
}

// wideDecoder decodes UTF-16; low is the index of the low byte in a unit: 0 little, 1 big endian.
func wideDecoder(low int) func(dst, src []byte, shift, stop int) ([]byte, int) {
	return func(dst, src []byte, shift, stop int) ([]byte, int) {
		if shift > len(src) {
			return dst, 0
		}
		body := src[shift:]
		unit := func(i int) rune { return rune(body[i+low]) | rune(body[i+1-low])<<8 }
		out, in := units(dst, body[:len(body)&^1], stop, func(dst []byte, i int) ([]byte, int) {
			r := unit(i)
			if utf16.IsSurrogate(r) && i+3 < len(body) {
				if full := utf16.DecodeRune(r, unit(i+2)); full != utf8.RuneError {
					return utf8.AppendRune(dst, full), 4
				}
			}
			return utf8.AppendRune(dst, r), 2
		})
		return out, in + shift
	}
}
