package workflow

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"
)

// maxSummary is what the runner takes for one step, in bytes; it drops a larger summary as a whole.
const maxSummary = 1 << 20

// AddStepSummary appends Markdown to the step's summary.
func (a *Action) AddStepSummary(markdown string) { a.keep(a.summary(markdown)) }

// AddStepSummaryTemplate renders a text/template and appends the result to the step's summary. The function code
// renders a value as Code does. The error is that of the template or of the file.
func (a *Action) AddStepSummaryTemplate(tmpl string, data any) error {
	t, err := template.New("summary").Funcs(template.FuncMap{"code": Code}).Parse(tmpl)
	if err != nil {
		return fmt.Errorf("parsing a summary template: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		return fmt.Errorf("rendering a summary: %w", err)
	}
	return a.summary(out.String())
}

func (a *Action) summary(markdown string) error {
	if len(markdown) > maxSummary {
		return fmt.Errorf("writing the summary: %d bytes are more than the %d that a step may have: shorten it and put the rest into an artifact", len(markdown), maxSummary)
	}
	return a.appendFile("GITHUB_STEP_SUMMARY", markdown+"\n")
}

// Code renders text of others as an inline code span that may stand in a table cell: nothing in it is read as Markdown
// or HTML. Line breaks and control characters become spaces; an empty text becomes an empty string.
func Code(value any) string {
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(fmt.Sprint(value), "\uFFFD"))
	if text == "" {
		return ""
	}
	fence, run := 1, 0
	for _, r := range text {
		if r == '`' {
			run++
			fence = max(fence, run+1)
		} else {
			run = 0
		}
	}
	ticks := strings.Repeat("`", fence)
	pad := ""
	if fence > 1 {
		pad = " "
	}
	// A table ends a cell at a bar even inside a code span.
	return ticks + pad + strings.ReplaceAll(text, "|", `\|`) + pad + ticks
}
