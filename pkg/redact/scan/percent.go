package scan

import "bytes"

// Percent encoding is decoded within the words that hold it: the rest of a text would not change.
var (
	percentRun = decoding{name: "percent", shifts: 1, decode: unpercent}
	queryRun   = decoding{name: "query", shifts: 1, decode: unquery}
)

// forPercent calls f with each word of src that holds %XX: once, and once more as a part of a query string if it
// holds a plus sign.
func forPercent(src []byte, f func(dec *decoding, start, end int)) {
	for from := 0; ; {
		n := bytes.IndexByte(src[from:], '%')
		if n < 0 {
			return
		}
		at := from + n
		if _, ok := hexValue(src, at+1, 2); !ok {
			from = at + 1
			continue
		}
		start, end := at, at+3
		for start > 0 && wordByte[src[start-1]] {
			start--
		}
		for end < len(src) && wordByte[src[end]] {
			end++
		}
		f(&percentRun, start, end)
		if bytes.IndexByte(src[start:end], '+') >= 0 {
			f(&queryRun, start, end)
		}
		from = end
	}
}

// wordByte holds what a percent-encoded text consists of: anything but blanks, controls, quotes and brackets.
var wordByte = byteSet("", func(c byte) bool { return c > 0x20 && c != 0x7f && bytes.IndexByte([]byte("\"'`<>\\"), c) < 0 })

// unpercent resolves %XX. A plus sign stays: it is part of base64.
func unpercent(dst, src []byte, _, stop int) ([]byte, int) {
	return units(dst, src, stop, func(dst []byte, i int) ([]byte, int) { return unpercentUnit(dst, src, i) })
}

// unquery resolves %XX and turns plus signs into the blanks for which they stand in a query string.
func unquery(dst, src []byte, _, stop int) ([]byte, int) {
	return units(dst, src, stop, func(dst []byte, i int) ([]byte, int) {
		if src[i] == '+' {
			return append(dst, ' '), 1
		}
		return unpercentUnit(dst, src, i)
	})
}

func unpercentUnit(dst, src []byte, i int) ([]byte, int) {
	if src[i] == '%' {
		if v, ok := hexValue(src, i+1, 2); ok {
			return append(dst, byte(v)), 3
		}
	}
	return append(dst, src[i]), 1
}
