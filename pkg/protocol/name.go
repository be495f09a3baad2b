package protocol

import (
	"regexp"
	"strings"
)

var (
	// name takes ids of catalogs, tools and flags: "gpt-5.5", "loop/loop-model", "custom:Loop-0", "kilo/~vendor/name-latest".
	name = regexp.MustCompile(`^~?[A-Za-z0-9][A-Za-z0-9._:@~-]*(?:/~?[A-Za-z0-9][A-Za-z0-9._:@~-]*){0,3}$`)
	// noName takes what no name has: more digits in a row than a date, hexadecimal hashes, UUIDs.
	noName = regexp.MustCompile(`[0-9]{9,}|[0-9a-f]{16,}|[0-9A-F]{16,}|[A-Za-z0-9]{33,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)
	// longWord takes parts of which one can tell alone that they are random.
	longWord = regexp.MustCompile(`[A-Za-z0-9]{10,}`)
	fileName = regexp.MustCompile(`^[A-Za-z]:|\.(?:json|toml|ya?ml|js|ts|py|sh|md|txt|exe|env)$`)
)

const (
	maxName      = 100 // bytes
	maxNameParts = 12
	// minPart is the shortest part that counts where parts are looked at together.
	minPart = 4
	// maxMixed is how many characters may stand in parts where letters and digits alternate: versions and sizes, as "8x22b".
	maxMixed = 11
	// worstName is what the parts of a real name score at worst in Reads, a character.
	worstName = -0.3
)

// IsName reports whether a text looks like a public name, as the id of a model, a tool or a flag: short, of parts that read
// like words or numbers, not like keys, hashes, addresses or paths, nor like a key that is cut into parts.
func IsName(s string) bool {
	if len(s) > maxName || !name.MatchString(s) || noName.MatchString(s) || fileName.MatchString(s) || strings.Contains(s, "@") && strings.Contains(s, ".") && !strings.Contains(s, "/") {
		return false
	}
	parts := strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune("._:@~/-", c) })
	if !strings.ContainsFunc(s, func(c rune) bool { return c < 0x80 && isLetter(byte(c)) }) || len(parts) > maxNameParts {
		return false
	}
	for _, part := range longWord.FindAllString(s, -1) {
		if letters := strings.TrimLeft(part, "0123456789"); letters != "" && !IsToken(letters) {
			return false
		}
	}
	return !scattered(parts)
}

// figure takes numbers and versions, and the two addresses that are those of every machine.
var figure = regexp.MustCompile(`^(?:[0-9]{1,9}|[0-9]{1,4}(?:\.[0-9]{1,4}){1,2}|127\.0\.0\.1|0\.0\.0\.0)$`)

// IsWord reports whether a token of a help page may be public: it reads like a name, or is one character or a number.
func IsWord(s string) bool {
	return len(s) == 1 || figure.MatchString(s) || IsName(strings.TrimPrefix(s, "[no-]"))
}

// scattered reports whether parts that are each too short to tell are together more random than a name is.
func scattered(parts []string) bool {
	score, chars, mixed := 0, 0, 0
	for _, part := range parts {
		if len(part) < minPart {
			continue
		}
		changes, letters := 0, false
		for i := range len(part) {
			letters = letters || isLetter(part[i])
			if i > 0 && isLetter(part[i]) != isLetter(part[i-1]) {
				changes++
			}
		}
		if changes > 1 {
			mixed += len(part)
		}
		if letters {
			s, n := Reads(part)
			score, chars = score+s, chars+n
		}
	}
	return mixed > maxMixed || chars >= minRead && float64(score) < worstName*float64(chars)
}
