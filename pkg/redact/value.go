package redact

import (
	"bytes"
	"encoding/base64"
	"hash/maphash"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/open-design/agent-cli-contracts/pkg/protocol"
)

// The placeholders. They hold nothing of the value that they replace, and each one redacts to itself.
const (
	placeText    = "<text>"
	placeID      = "<id:"  // and a number and ">"
	placeKey     = "<key:" // likewise
	placePath    = "<path>"
	placeCwd     = "<cwd>"
	placeHome    = "<home>"
	placeURL     = "<url>"
	fileURL      = "file://"
	placeEmail   = "<email>"
	placeEnum    = "<enum>"
	placeTime    = "1970-01-01T00:00:00Z"
	placeVersion = "0.0.0"
)

// placeBase64 keeps base64 valid: it decodes to "<text>".
var placeBase64 = base64.StdEncoding.EncodeToString([]byte(placeText))

var (
	timeForm  = regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?$`)
	scheme    = regexp.MustCompile(`^[a-z][a-z0-9+.-]{0,30}$`)
	pathForm  = regexp.MustCompile(`^(?:/|~/|[A-Za-z]:[\\/]|\\\\)`)
	emailForm = regexp.MustCompile(`^[^\s@]+@[^\s@]+\.[^\s@]+$`)
	uuidForm  = regexp.MustCompile(`^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$`)
	idForm    = regexp.MustCompile(`^<(?:id|key):[0-9]+>$`)
)

// maxEmail is the longest address that mail allows, in bytes.
const maxEmail = 320

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isUUID(s []byte) bool { return len(s) == 36 && uuidForm.Match(s) }

func isNumbered(s []byte) bool { return s[0] == '<' && idForm.Match(s) }

func isURL(s []byte) bool {
	i := bytes.Index(s[:min(len(s), 40)], []byte("://"))
	return i > 0 && i+3 < len(s) && scheme.Match(s[:i]) && !bytes.ContainsAny(s, " \t\n\v\f\r")
}

// ids numbers values in order of first occurrence. It keeps a hash of each, a few bytes per distinct value.
type ids struct {
	seed    maphash.Seed
	numbers map[uint64]int
}

func newIDs() *ids { return &ids{seed: maphash.MakeSeed(), numbers: map[uint64]int{}} }

// number gives the number of a value. One value has one number as an id and as a key, and so have the placeholders
// that stand for it: otherwise a second redaction would count differently.
func (n *ids) number(value []byte) int {
	if idForm.Match(value) {
		value = value[bytes.IndexByte(value, ':'):]
	}
	h := maphash.Bytes(n.seed, value)
	if k, ok := n.numbers[h]; ok {
		return k
	}
	k := len(n.numbers) + 1
	n.numbers[h] = k
	return k
}

// appendNumbered appends a quoted placeholder with the number of the value.
func (n *ids) appendNumbered(dst []byte, place string, value []byte) []byte {
	dst = append(append(dst, '"'), place...)
	return append(strconv.AppendInt(dst, int64(n.number(value)), 10), '>', '"')
}

// str appends what becomes of a string value, quoted. Order matters: declared meaning first, then form.
func (r *redactor) str(dst, s []byte, path *protocol.Path) ([]byte, error) {
	attr, allowed := path.Attr, path.Allowed
	switch {
	case len(s) == 0:
		return append(dst, '"', '"'), nil
	case attr&protocol.AttrOpaque != 0:
		if r.literals[string(s)] {
			return appendString(dst, s), nil
		}
		return appendPlace(dst, placeText), nil
	case attr&protocol.AttrEnum != 0:
		if allowed[string(s)] || (allowed == nil && protocol.IsToken(s)) {
			return appendString(dst, s), nil
		}
		return appendPlace(dst, placeEnum), nil
	case r.public[string(s)] || r.literals[string(s)]:
		return appendString(dst, s), nil
	case attr&protocol.AttrID != 0 || isNumbered(s) || isUUID(s):
		return r.ids.appendNumbered(dst, placeID, s), nil
	case attr&protocol.AttrDiagnostic != 0:
		text, err := r.known(string(s), safePath(path))
		if err != nil {
			return nil, err
		}
		return appendString(dst, text), nil
	case attr&protocol.AttrBase64 != 0:
		return appendPlace(dst, placeBase64), nil
	}
	return r.form(dst, s), nil
}

// form appends what a value looks like, quoted. The tests of the first byte spare most texts the patterns.
func (r *redactor) form(dst, s []byte) []byte {
	if place, rest, ok := r.runFolder(s); ok {
		return r.under(dst, place, rest)
	}
	if path, ok := bytes.CutPrefix(s, []byte(fileURL)); ok { // to a file that the probe brought, as hosts link to images
		if place, rest, ok := r.runFolder(path); ok && len(rest) > 1 && r.literals[string(rest[1:])] {
			return r.under(dst, fileURL+place, rest)
		}
	}
	switch c := s[0]; {
	case isDigit(c) && timeForm.Match(s):
		return appendPlace(dst, placeTime)
	case string(s) == placeURL, c >= 'a' && c <= 'z' && isURL(s):
		return appendPlace(dst, placeURL)
	case string(s) == placePath, !isDigit(c) && pathForm.Match(s[:min(len(s), 3)]) && bytes.IndexByte(s, '\n') < 0:
		return appendPlace(dst, placePath)
	case string(s) == placeEmail, len(s) <= maxEmail && emailForm.Match(s):
		return appendPlace(dst, placeEmail)
	}
	return appendPlace(dst, placeText)
}

// runFolder tells which of the run's folders a path lies in, and what of it follows the folder's name.
func (r *redactor) runFolder(s []byte) (place string, rest []byte, ok bool) {
	for _, place := range [2]struct {
		spellings []string
		name      string
	}{{r.policy.Cwd, placeCwd}, {r.policy.Home, placeHome}} {
		for _, dir := range place.spellings {
			if rest, ok := below(s, dir, `/\`); ok && dir != "" {
				return place.name, rest, true
			}
		}
		if rest, ok := below(s, place.name, "/"); ok {
			return place.name, rest, true
		}
	}
	return "", nil, false
}

// below gives what follows a folder's name in a path, and whether s is the folder or something in it.
func below(s []byte, dir, separators string) (rest []byte, ok bool) {
	if len(s) < len(dir) || string(s[:len(dir)]) != dir {
		return nil, false
	}
	rest = s[len(dir):]
	return rest, len(rest) == 0 || strings.IndexByte(separators, rest[0]) >= 0
}

// under names a file below one of the run's folders only when the probe itself brought that name.
func (r *redactor) under(dst []byte, place string, rest []byte) []byte {
	if len(rest) == 0 {
		return appendPlace(dst, place)
	}
	name := strings.ReplaceAll(string(rest[1:]), `\`, "/")
	if r.literals[name] {
		return appendString(dst, place+"/"+name)
	}
	return appendPlace(dst, place+"/"+placePath)
}

const (
	// maxNumber is how long a number may be that survives.
	maxNumber = 9
	// longIDs is where the numbers begin that stand for longer ones which identify something.
	longIDs = 900_000_000
)

// number keeps a short declared number; any other becomes 0.
func number(raw []byte, attr protocol.Attr) []byte {
	if attr&protocol.AttrNumber != 0 && attr&protocol.AttrOpaque == 0 && len(raw) <= maxNumber && !bytes.ContainsAny(raw, "eE") {
		return raw
	}
	return []byte("0")
}

var (
	// fieldName takes identifiers, and namespaces of them: "_meta", "x.ai/kind", "terminal-output". A blank would let
	// prose through, a drive letter or an extension behind a slash a path.
	fieldName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*(?:[.:][A-Za-z0-9_$-]+)*(?:/[A-Za-z0-9_$-]+)*$`)
	dataRun   = regexp.MustCompile(`[0-9]{5,}|[0-9a-f]{16,}|[0-9A-F]{16,}|[A-Za-z0-9]{33,}`)
	// word is a part of a name of which one can tell that it is random.
	word = regexp.MustCompile(`[A-Za-z0-9]{12,}`)
)

// maxFieldName is the longest member name, in bytes.
const maxFieldName = 64

// isFieldName reports whether an object key looks like one that a programmer wrote. A key that looks like data means
// an object keyed by data, which the dialect must declare.
func isFieldName(key string) bool {
	if len(key) > maxFieldName || !fieldName.MatchString(key) || dataRun.MatchString(key) || uuidForm.MatchString(key) {
		return false
	}
	for _, part := range word.FindAllString(key, -1) {
		if letter := strings.TrimLeft(part, "0123456789"); !protocol.IsToken(letter) {
			return false
		}
	}
	return true
}

// appendPlace appends a placeholder, which needs no escapes, in quotes.
func appendPlace(dst []byte, place string) []byte {
	return append(append(append(dst, '"'), place...), '"')
}

func appendString[S string | []byte](dst []byte, s S) []byte {
	out, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		panic("redact: quoting checked UTF-8 failed") // unreachable: frames are valid UTF-8
	}
	return out
}
