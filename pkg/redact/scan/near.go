package scan

// assigned makes a test whether a name that ends with a keyword is given a value: what remains of the name, blanks
// and quotes, an operator, blanks and quotes, and at least n bytes of a value. It accepts more than any pattern
// for which it stands ahead.
func assigned(n int, value *[256]bool) func(text []byte, end int) bool {
	return func(text []byte, end int) bool {
		i, limit := end, min(len(text), end+24)
		for i < limit && nameTail[text[i]] {
			i++
		}
		if i == len(text) || !operator[text[i]] {
			return false
		}
		// What follows may belong to the operator or to the value; it counts for both.
		i++
		count := 0
		for limit = min(len(text), i+10); i < limit && (operator[text[i]] || quoteOrBlank[text[i]]); i++ {
			if value[text[i]] {
				count++
			}
		}
		for ; i < len(text) && count < n && value[text[i]]; i++ {
			count++
		}
		return count >= n
	}
}

var (
	quoteOrBlank = byteSet("\"'` \t\n\r\f\v", nil)
	operator     = byteSet("=>:|,?", nil)
	nameTail     = byteSet("\"' \t\n\r\f\v.", asciiName)
	// genericByte is what a value of genericRule consists of; settingByte, of one of our rules.
	genericByte = byteSet(".=-+/", asciiName)
	settingByte = byteSet("", func(c byte) bool { return !quoteOrBlank[c] && c != '<' && c != '>' && c != '\\' })
)

func asciiName(c byte) bool { return nameByte(c) && c < 0x80 }

// byteSet is the set of the bytes of chars and those for which more, if not nil, is true.
func byteSet(chars string, more func(byte) bool) *[256]bool {
	var t [256]bool
	for c := range t {
		t[c] = more != nil && more(byte(c))
	}
	for _, c := range []byte(chars) {
		t[c] = true
	}
	return &t
}
