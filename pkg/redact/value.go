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
	placePath    = "<path>"
	placeCwd     = "<cwd>"
	placeHome    = "<home>"
	placeURL     = "<url>"
	placeEmail   = "<email>"
	placeEnum    = "<enum>"
	placeTime    = "1970-01-01T00:00:00Z"
	placeVersion = "0.0.0"
)

// placeBase64 keeps base64 valid: it decodes to "<text>".
var placeBase64 = base64.StdEncoding.EncodeToString([]byte(placeText))

var (
	timeForm  = regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?$`)
	urlForm   = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://\S+$`)
	pathForm  = regexp.MustCompile(`^(?:/|~/|[A-Za-z]:[\\/]|\\\\)[^\n]*$`)
	emailForm = regexp.MustCompile(`^[^\s@]+@[^\s@]+\.[^\s@]+$`)
	uuidForm  = regexp.MustCompile(`^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$`)
	idForm    = regexp.MustCompile(`^<(?:id|key):[0-9]+>$`)
)

// ids numbers values in order of first occurrence. It keeps a hash of each, a few bytes per distinct value.
type ids struct {
	seed    maphash.Seed
	numbers map[uint64]int
}

func newIDs() *ids { return &ids{seed: maphash.MakeSeed(), numbers: map[uint64]int{}} }

func (n *ids) number(value string) int {
	h := maphash.String(n.seed, value)
	if k, ok := n.numbers[h]; ok {
		return k
	}
	k := len(n.numbers) + 1
	n.numbers[h] = k
	return k
}

// str decides what becomes of a string value. Order matters: declared meaning first, then form.
func (r *redactor) str(s string, attr protocol.Attr, allowed map[string]bool) string {
	switch {
	case s == "":
		return ""
	case attr&protocol.AttrOpaque != 0:
		if r.literals[s] {
			return s
		}
		return placeText
	case attr&protocol.AttrEnum != 0:
		if allowed[s] || (allowed == nil && protocol.IsToken(s)) {
			return s
		}
		return placeEnum
	case r.public[s] || r.literals[s]:
		return s
	case attr&protocol.AttrID != 0 || idForm.MatchString(s) || uuidForm.MatchString(s):
		return "<id:" + strconv.Itoa(r.ids.number(s)) + ">"
	case attr&protocol.AttrDiagnostic != 0:
		if text, _, ok := r.policy.Templates.Recognise(s); ok {
			return text
		}
		return placeText
	case attr&protocol.AttrBase64 != 0:
		return placeBase64
	}
	return r.form(s)
}

// form replaces a value by what it looks like.
func (r *redactor) form(s string) string {
	for _, place := range []struct {
		spellings []string
		name      string
	}{{r.policy.Cwd, placeCwd}, {r.policy.Home, placeHome}} {
		for _, dir := range place.spellings {
			if rest, ok := strings.CutPrefix(s, dir); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
				return r.under(place.name, rest)
			}
		}
		if rest, ok := strings.CutPrefix(s, place.name); ok && (rest == "" || rest[0] == '/') {
			return r.under(place.name, rest)
		}
	}
	switch {
	case timeForm.MatchString(s):
		return placeTime
	case urlForm.MatchString(s), s == placeURL:
		return placeURL
	case pathForm.MatchString(s), s == placePath:
		return placePath
	case emailForm.MatchString(s), s == placeEmail:
		return placeEmail
	}
	return placeText
}

// under names a file below one of the run's folders only when the probe itself brought that name.
func (r *redactor) under(place, rest string) string {
	if rest == "" {
		return place
	}
	name := strings.ReplaceAll(rest[1:], `\`, "/")
	if r.literals[name] {
		return place + "/" + name
	}
	if name == placePath[1:len(placePath)-1] || name == placePath {
		return place + "/" + placePath
	}
	return place + "/" + placePath
}

// number keeps a short declared number; any other becomes 0.
func number(raw []byte, attr protocol.Attr) []byte {
	if attr&protocol.AttrNumber != 0 && attr&protocol.AttrOpaque == 0 && len(raw) <= 9 && !bytes.ContainsAny(raw, "eE") {
		return raw
	}
	return []byte("0")
}

var (
	fieldName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$. :/-]{0,63}$`)
	dataRun   = regexp.MustCompile(`[0-9]{5,}|[0-9a-f]{16,}|[A-Za-z0-9]{33,}`)
)

// isFieldName reports whether an object key looks like one that a programmer wrote. A key that looks like data means
// an object keyed by data, which the dialect must declare.
func isFieldName(key string) bool {
	return fieldName.MatchString(key) && !dataRun.MatchString(key) && !strings.Contains(key, "//") && !uuidForm.MatchString(key)
}

func appendString(dst []byte, s string) []byte {
	out, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		panic("redact: quoting checked UTF-8 failed") // unreachable: frames are valid UTF-8
	}
	return out
}
