package redact

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
)

// holePatterns are the typed holes of a diagnostic template: what they match. Each accepts its own placeholder, so that
// a sanitized message matches again. Types are those of contract.HoleTypes.
var holePatterns = map[string]string{
	"int":         `-?[0-9]{1,9}`,
	"duration":    `(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|µs|ms|s|m|h))+|<duration>`,
	"url":         `[a-z][a-z0-9+.-]*://[^\s)\]>'",]+|<url>`,
	"path":        `[^\s'"]+|<path>`,
	"id":          `[A-Za-z0-9_-]+|<id>`,
	"version":     `[0-9A-Za-z][0-9A-Za-z.+_-]*`,
	"text":        `.*?`,
	"literal":     `.+?`,
	"enum":        `[A-Za-z][A-Za-z0-9._-]*|<enum>`,
	"template":    `.+?`,
	"http-reason": `[A-Za-z][A-Za-z' -]*|<text>`,
}

// maxNesting bounds messages inside messages.
const maxNesting = 3

// fill says what becomes of a hole's content: numbers, identifiers, standard phrases and the probe's own texts stay.
func (t *Templates) fill(kind, s string, depth int, kept *[]string) string {
	switch kind {
	case "int":
		return s
	case "version":
		return placeVersion
	case "enum":
		if protocol.IsToken(s) {
			*kept = append(*kept, s)
			return s
		}
	case "http-reason":
		if httpReasons[s] {
			return s
		}
		return placeText
	case "literal":
		if t.literals[s] {
			return s
		}
		return placeText
	case "template":
		if r := t.recognise(s, depth+1); r.ok {
			*kept = append(*kept, r.kept...)
			return r.text
		}
		return placeText
	}
	return "<" + kind + ">"
}

var httpReasons = func() map[string]bool {
	reasons := map[string]bool{}
	for code := 100; code < 600; code++ {
		if text := http.StatusText(code); text != "" {
			reasons[text] = true
		}
	}
	return reasons
}()

// Templates recognise the messages of one agent and release.
type Templates struct {
	list     []template
	literals map[string]bool
	// cache bounds the work for a message that repeats; it is emptied when full.
	cache map[string]recognised
}

type template struct {
	class contract.StderrClass
	re    *regexp.Regexp
	parts []string // literal text between the holes
	holes []string // types, one fewer than parts
	stem  string   // a literal part that every match contains
}

type recognised struct {
	text  string
	class contract.StderrClass
	kept  []string // the identifiers that stay in it
	ok    bool
}

var holeName = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)

// CompileTemplates compiles templates in order; the first that matches wins. literals are the probe's own texts.
func CompileTemplates(list []contract.DiagnosticTemplate, literals []string) (*Templates, error) {
	t := &Templates{literals: map[string]bool{}, cache: map[string]recognised{}}
	for _, l := range literals {
		t.literals[l] = true
	}
	for _, src := range list {
		c, err := compileTemplate(src)
		if err != nil {
			return nil, fmt.Errorf("diagnostic template %s: %w", src.ID, err)
		}
		t.list = append(t.list, c)
	}
	return t, nil
}

func compileTemplate(src contract.DiagnosticTemplate) (template, error) {
	c := template{class: src.Class}
	var pattern strings.Builder
	pattern.WriteString(`(?s)\A`)
	last := 0
	add := func(text string) {
		c.parts = append(c.parts, text)
		pattern.WriteString(regexp.QuoteMeta(text))
		if len(text) > len(c.stem) {
			c.stem = text
		}
	}
	for _, m := range holeName.FindAllStringSubmatchIndex(src.Text, -1) {
		name := src.Text[m[2]:m[3]]
		kind := src.Holes[name]
		hole, ok := holePatterns[kind]
		if !ok {
			return c, fmt.Errorf("hole {%s} has no known type: name one of %s in holes", name, strings.Join(contract.HoleTypes(), ", "))
		}
		add(src.Text[last:m[0]])
		last = m[1]
		c.holes = append(c.holes, kind)
		pattern.WriteString("(" + hole + ")")
	}
	add(src.Text[last:])
	pattern.WriteString(`\z`)
	re, err := regexp.Compile(pattern.String())
	c.re = re
	return c, err
}

// Recognise returns the sanitized form of a message and its class. ok is false where no template matches, and where
// the sanitized form would not be recognised as itself: redaction of a public file must change nothing in it.
func (t *Templates) Recognise(message string) (text string, class contract.StderrClass, ok bool) {
	r := t.read(message)
	return r.text, r.class, r.ok
}

func (t *Templates) read(message string) recognised {
	if t == nil {
		return recognised{}
	}
	if r, seen := t.cache[message]; seen {
		return r
	}
	r := t.recognise(message, 0)
	if r.ok && r.text != message {
		if again := t.recognise(r.text, 0); again.text != r.text {
			r = recognised{}
		} else {
			r.class = again.class
		}
	}
	if len(message) < 4096 {
		if len(t.cache) >= 1024 {
			clear(t.cache)
		}
		t.cache[strings.Clone(message)] = r
	}
	return r
}

func (t *Templates) recognise(message string, depth int) recognised {
	if depth > maxNesting {
		return recognised{}
	}
	for i := range t.list {
		c := &t.list[i]
		if !strings.Contains(message, c.stem) {
			continue
		}
		m := c.re.FindStringSubmatch(message)
		if m == nil {
			continue
		}
		var out strings.Builder
		var kept []string
		for i, part := range c.parts {
			out.WriteString(part)
			if i < len(c.holes) {
				out.WriteString(t.fill(c.holes[i], m[i+1], depth, &kept))
			}
		}
		return recognised{out.String(), c.class, kept, true}
	}
	return recognised{}
}
