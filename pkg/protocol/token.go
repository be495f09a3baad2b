package protocol

// Bounds of what looks like an enum value.
const (
	maxToken         = 48 // bytes
	maxTokenSegments = 8
	maxTokenDigits   = 6 // in all
	maxDigitRun      = 4
	// minRandom is the shortest segment of which one can tell that its letters and digits alternate at random.
	minRandom = 12
	// minRead is how many letters it takes to tell that they make no words.
	minRead = 10
)

// IsToken reports whether a string looks like an enum value: segments of letters and few digits, joined by one of
// "._/-". One underscore may stand before it: protocols mark extensions so. Longer, digit-rich or random strings look
// like data.
func IsToken[S string | []byte](s S) bool {
	if len(s) > 1 && s[0] == '_' {
		s = s[1:]
	}
	if len(s) == 0 || len(s) > maxToken || !isLetter(s[0]) {
		return false
	}
	segments, digits, run, from, changes := 1, 0, 0, 0, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			digits++
			if run++; run > maxDigitRun || digits > maxTokenDigits {
				return false
			}
		case isLetter(c):
			run = 0
		case c == '.' || c == '_' || c == '/' || c == '-':
			if segments++; i == from || segments > maxTokenSegments || random(i-from, changes) {
				return false
			}
			run, from, changes = 0, i+1, 0
			continue
		default:
			return false
		}
		if i > from && isHump(s[i-1], c) {
			changes++
		}
	}
	return from < len(s) && !random(len(s)-from, changes) && readable(s)
}

// random reports whether letters and digits alternate more often than words of a programmer do: three characters is
// the shortest word on average.
func random(length, changes int) bool { return length >= minRandom && changes*3 > length }

// isHump reports a place where a word of camelCase begins or a number begins or ends.
func isHump(a, b byte) bool {
	digitA, digitB := a <= '9', b <= '9'
	return digitA != digitB || !digitB && a >= 'a' && b <= 'Z'
}

// readable reports whether neither a segment of a token nor the whole reads like letters drawn at random.
func readable[S string | []byte](s S) bool {
	all, allLetters, from := 0, 0, 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && isAlnum(s[i]) {
			continue
		}
		score, letters := Reads(s[from:i])
		if letters >= minRead && score < 0 {
			return false
		}
		all, allLetters, from = all+score, allLetters+letters, i+1
	}
	return allLetters < minRead || all >= 0
}

func isAlnum(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' }

// Reads scores how much a text reads like words of a programmer, and says how many letters and digits it has. Pairs of letters
// within a word add what pairScores says of them; words of camelCase below three letters, and numbers below three
// digits, take one off. Of 16 random letters 1 in 200 scores 0 or more, of names in source code all but assembler mnemonics.
func Reads[S string | []byte](s S) (score, chars int) {
	word := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !isAlnum(c) {
			score, word = score-short(word), 0
			continue
		}
		chars++
		if word > 0 && isHump(s[i-1], c) {
			score, word = score-short(word), 0
		}
		if word > 0 && isLetter(c) {
			score += int(pairScores[int(s[i-1]|0x20-'a')*26+int(c|0x20-'a')]) - '6'
		}
		word++
	}
	return score - short(word), chars
}

func short(word int) int {
	if word == 1 || word == 2 {
		return 1
	}
	return 0
}

// pairScores has a row for each first letter and a column for each second one: the binary logarithm, plus 6, of how
// much more often the pair stands in the words of the identifiers of Go's standard library than chance would have it.
const pairScores = "" +
	"36683460504877061888443541" + // a
	"76767630752833743674713261" + // b
	"84557447507654842657561140" + // c
	"75689532830634645663645641" + // d
	"64785651301667355887355641" + // e
	"75667832801854750667602150" + // f
	"53639446800547851775522022" + // g
	"92358420802563730757614142" + // h
	"55765660111669650577050405" + // i
	"74559532535355850485824222" + // j
	"62449363702445442264532130" + // k
	"73468332803733943356643152" + // l
	"95388112703463771354611120" + // m
	"72778582605444641378552031" + // n
	"74762540404668680866666310" + // o
	"83668334504662761877633240" + // p
	"46664522301653237763935443" + // q
	"72559461705565832677643250" + // r
	"63648237707553564569624361" + // s
	"73549436800542753866623362" + // t
	"67657551800768474777113503" + // u
	"84669543601463495566425304" + // v
	"85558335802547754874323302" + // w
	"77877822500454680358454540" + // x
	"44525211602587490387233234" + // y
	"64649213610423621442444646" // z
