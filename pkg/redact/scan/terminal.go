package scan

import "bytes"

// hasControls is true for data with anything that stripControls drops.
func hasControls(src []byte) bool {
	for i, c := range src {
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != 0 || c == 0x7f || c == 0xc2 && i+1 < len(src) && src[i+1] == 0x9b {
			return true
		}
	}
	return false
}

// stripControls drops terminal escape sequences (7-bit, and CSI in its 8-bit form as UTF-8 writes it) and other
// control characters, which may stand anywhere inside a word. Line ends, tabs and NUL stay: other decodings need
// them.
func stripControls(dst, src []byte, _, stop int) ([]byte, int) {
	return units(dst, src, stop, func(dst []byte, i int) ([]byte, int) {
		switch c := src[i]; {
		case c == 0x1b:
			return dst, escapeLen(src[i:])
		case c == 0xc2 && i+1 < len(src) && src[i+1] == 0x9b:
			return dst, 2 + csiLen(src[i+2:])
		case c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != 0 || c == 0x7f:
			return dst, 1
		default:
			return append(dst, c), 1
		}
	})
}

// escapeLen is the length of the escape sequence at the start of src, which begins with ESC.
func escapeLen(src []byte) int {
	if len(src) < 2 {
		return 1
	}
	switch c := src[1]; {
	case c == 0x1b: // the first one was cut short
		return 1
	case c == '[':
		return 2 + csiLen(src[2:])
	case c == ']':
		return 2 + oscLen(src[2:])
	case 0x20 <= c && c <= 0x2f: // a character set: intermediate bytes, then one final byte
		n := 2
		for n < len(src) && 0x20 <= src[n] && src[n] <= 0x2f {
			n++
		}
		return min(n+1, len(src))
	default:
		return 2
	}
}

// csiLen is the length of the parameters and the final byte of a control sequence. An unfinished one swallows
// nothing, so that no text can hide behind it.
func csiLen(src []byte) int {
	n := 0
	for n < len(src) && 0x20 <= src[n] && src[n] <= 0x3f {
		n++
	}
	if n < len(src) && 0x40 <= src[n] && src[n] <= 0x7e {
		return n + 1
	}
	return 0
}

// oscLen is the length of the number of an operating system command. Its text (a title, a link) stays, since it
// is shown somewhere; its end, BEL or ST, is a control that is dropped where it stands.
func oscLen(src []byte) int {
	n := 0
	for n < len(src) && n < 4 && '0' <= src[n] && src[n] <= '9' {
		n++
	}
	if n < len(src) && src[n] == ';' {
		n++
	}
	return n
}

// minWrapped is how many characters of a token must stand on both sides of a line end for it to count as a wrap.
// Shorter ends are ordinary prose.
const minWrapped = 6

// unwrap joins a token that a terminal or a mailer wrapped: it drops a line end, and up to 16 blanks behind it,
// between two token characters.
func unwrap(dst, src []byte, _, stop int) ([]byte, int) {
	return units(dst, src, stop, func(dst []byte, i int) ([]byte, int) {
		c := src[i]
		if c != '\n' && c != '\r' {
			n := 1
			if stop < 0 {
				if n = bytes.IndexAny(src[i:], "\r\n"); n < 0 {
					n = len(src) - i
				}
			}
			return append(dst, src[i:i+n]...), n
		}
		n := 1
		if c == '\r' && i+1 < len(src) && src[i+1] == '\n' {
			n = 2
		}
		for n < 18 && i+n < len(src) && (src[i+n] == ' ' || src[i+n] == '\t') {
			n++
		}
		if tokenTail(src[:i]) && tokenHead(src[i+n:]) {
			return dst, n
		}
		return append(dst, c), 1
	})
}

// isWrapped is true for text with line ends. Text with escape sequences is joined once they are stripped.
func isWrapped(src []byte) bool { return bytes.IndexByte(src, '\n') >= 0 && !hasControls(src) }

func tokenTail(src []byte) bool {
	if len(src) < minWrapped {
		return false
	}
	for _, c := range src[len(src)-minWrapped:] {
		if !tokenByte[c] {
			return false
		}
	}
	return true
}

func tokenHead(src []byte) bool {
	if len(src) < minWrapped {
		return false
	}
	for _, c := range src[:minWrapped] {
		if !tokenByte[c] {
			return false
		}
	}
	return true
}

// tokenByte holds the characters that secrets, paths and addresses consist of.
var tokenByte = func() (t [256]bool) {
	for c := range t {
		t[c] = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
	}
	for _, c := range `+/=_.-~@:%?&\` {
		t[c] = true
	}
	return t
}()
