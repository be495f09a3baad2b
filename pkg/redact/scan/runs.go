package scan

// minRun is the shortest run of base64 or hexadecimal characters that is decoded.
const minRun = 16

var (
	base64Run = decoding{name: "base64", shifts: 4, decode: decodeBase64}
	hexRun    = decoding{name: "hex", shifts: 2, decode: decodeHex}
)

// base64Digit and hexDigit map a byte to its value, or -1. Both base64 alphabets are one: a text in one of them
// has no character that means something else in the other.
var base64Digit, hexDigit = func() (b, h [256]int8) {
	for i := range b {
		b[i], h[i] = -1, -1
	}
	for i, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		b[c] = int8(i)
	}
	b['-'], b['_'] = 62, 63
	for i, c := range "0123456789abcdef" {
		h[c] = int8(i)
	}
	for i, c := range "ABCDEF" {
		h[c] = int8(10 + i)
	}
	return b, h
}()

// forRuns calls f with each run of src that may be base64 or hexadecimal. A run goes on over a line end, and the
// blanks after it, once a line of it is as long as a run must be.
func forRuns(src []byte, f func(dec *decoding, start, end int)) {
	for i := 0; i < len(src); {
		if base64Digit[src[i]] < 0 {
			i++
			continue
		}
		start := i
		i = runEnd(src, i, &base64Digit)
		if i-start < minRun {
			continue
		}
		f(&base64Run, start, i)
		forHex(src[:i], start, f)
	}
}

// forHex calls f with the runs of hexadecimal characters inside the base64 run that begins at start and ends src.
func forHex(src []byte, start int, f func(dec *decoding, start, end int)) {
	for i := start; i < len(src); {
		if hexDigit[src[i]] < 0 {
			i++
			continue
		}
		from := i
		i = runEnd(src, i, &hexDigit)
		if i-from >= minRun {
			f(&hexRun, from, i)
		}
	}
}

// runEnd is the end of the run of digits that begins at i.
func runEnd(src []byte, i int, digit *[256]int8) int {
	for {
		line := i
		for i < len(src) && digit[src[i]] >= 0 {
			i++
		}
		if i-line < minRun {
			return i
		}
		next := skipWrap(src, i)
		if next == i || next == len(src) || digit[src[next]] < 0 {
			return i
		}
		i = next
	}
}

// skipWrap returns the offset behind a line end at i and up to 16 blanks, or i when there is none.
func skipWrap(src []byte, i int) int {
	j := i
	if j < len(src) && src[j] == '\r' {
		j++
	}
	if j == len(src) || src[j] != '\n' {
		return i
	}
	j++
	for k := 0; k < 16 && j < len(src) && (src[j] == ' ' || src[j] == '\t'); k++ {
		j++
	}
	return j
}

// decodeBase64 decodes a run from its shift-th digit on, passing over line ends and blanks. A last group of two
// or three digits gives one or two bytes.
func decodeBase64(dst, src []byte, shift, stop int) ([]byte, int) {
	var acc uint32
	n, last := 0, 0
	for i, c := range src {
		x := base64Digit[c]
		if x < 0 {
			continue
		}
		if shift > 0 {
			shift--
			continue
		}
		if n == 0 {
			if stop >= 0 && len(dst) > stop {
				return dst, last
			}
			last = i
		}
		acc = acc<<6 | uint32(x)
		if n++; n == 4 {
			dst = append(dst, byte(acc>>16), byte(acc>>8), byte(acc))
			acc, n = 0, 0
		}
	}
	switch n {
	case 2:
		dst = append(dst, byte(acc>>4))
	case 3:
		dst = append(dst, byte(acc>>10), byte(acc>>2))
	}
	return dst, last
}

// decodeHex decodes a run from its shift-th digit on, passing over line ends and blanks.
func decodeHex(dst, src []byte, shift, stop int) ([]byte, int) {
	high, last := int8(-1), 0
	for i, c := range src {
		x := hexDigit[c]
		if x < 0 {
			continue
		}
		if shift > 0 {
			shift--
			continue
		}
		if high < 0 {
			if stop >= 0 && len(dst) > stop {
				return dst, last
			}
			high, last = x, i
			continue
		}
		dst = append(dst, byte(high)<<4|byte(x))
		high = -1
	}
	return dst, last
}

// textByte holds printable ASCII, the blanks of text, and the controls that terminals interleave with it.
var textByte = func() (t [256]bool) {
	for c := range t {
		t[c] = 0x20 <= c && c <= 0x7e || c == '\t' || c == '\n' || c == '\r' || c == '\a' || c == '\b' || c == 0x1b
	}
	return t
}()

// longestText is the length of the longest stretch of text.
func longestText(data []byte) int {
	longest, n := 0, 0
	for _, c := range data {
		if !textByte[c] {
			n = 0
			continue
		}
		if n++; n > longest {
			longest = n
		}
	}
	return longest
}

// forText calls f with each stretch of text of at least n bytes.
func forText(data []byte, n int, f func(start, end int)) {
	for i := 0; i < len(data); i++ {
		start := i
		for i < len(data) && textByte[data[i]] {
			i++
		}
		if i-start >= n {
			f(start, i)
		}
	}
}
