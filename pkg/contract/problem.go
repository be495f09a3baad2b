package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one violation of a rule. No field quotes a value of the data: the pointer says where to look.
type Problem struct {
	File    string `json:"file"`           // as the caller named it
	Line    int    `json:"line,omitempty"` // of a transcript, from 1
	Pointer string `json:"pointer"`        // RFC 6901 JSON pointer; "" is the whole value
	Rule    string `json:"rule"`           // ID of a Rule
	Message string `json:"message"`        // what is wrong
	Remedy  string `json:"remedy"`         // what to do, with the legal values
}

// String is the problem on one line: "file:line: pointer: message (rule) — remedy".
func (p Problem) String() string {
	place := p.File
	if p.Line > 0 {
		place += ":" + strconv.Itoa(p.Line)
	}
	pointer := p.Pointer
	if pointer == "" {
		pointer = "(whole record)"
	}
	return fmt.Sprintf("%s: %s: %s (%s) — %s", place, pointer, p.Message, p.Rule, p.Remedy)
}

// Problems are the violations found in one or more files, sorted by place. It is an error when it is not empty.
type Problems []Problem

// Error lists the problems, one a line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// Err is nil when there is no problem, and the problems otherwise.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// Sort orders problems by file, line, pointer and rule, and drops repeats.
func (p Problems) Sort() Problems {
	slices.SortFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Pointer, b.Pointer),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Remedy, b.Remedy))
	})
	return slices.Compact(p)
}

// pointer builds a JSON pointer from steps: names of fields and indexes of lists.
func pointer(steps ...any) string {
	var b strings.Builder
	for _, step := range steps {
		b.WriteByte('/')
		switch step := step.(type) {
		case int:
			b.WriteString(strconv.Itoa(step))
		case string:
			b.WriteString(safeKey(step))
		default:
			b.WriteString(safeKey(fmt.Sprint(step)))
		}
	}
	return b.String()
}

// pointerTo is pointer for steps that are all text, as the JSON libraries give them.
func pointerTo(steps []string) string {
	var b strings.Builder
	for _, step := range steps {
		if len(step) < 9 && strings.Trim(step, "0123456789") == "" {
			b.WriteString("/" + step) // an index
		} else {
			b.WriteString(pointer(step))
		}
	}
	return b.String()
}

// safeKey is a key as a pointer may show it. Keys may be data, and data may be a secret: one that does not look
// like a field name becomes {key}. Secrets as good as always mix digits in; names of fields have few, at the end.
func safeKey(key string) string {
	if knownNames()[key] || looksLikeName(key) {
		return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
	}
	return "{key}"
}

func looksLikeName(key string) bool {
	letters := strings.TrimRight(key, "0123456789")
	if letters == "" || len(letters) > 40 || len(key)-len(letters) > 3 {
		return false
	}
	for _, c := range letters {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_') {
			return false
		}
	}
	return true
}

// oneOf renders legal values for a remedy.
func oneOf[T ~string](values []T) string {
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = string(value)
	}
	return "use one of " + strings.Join(words, ", ")
}
