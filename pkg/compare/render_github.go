package compare

import (
	"fmt"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/shape"
)

// annotations writes one workflow command for each item that somebody should look at.
func (r *Report) annotations() string {
	var b strings.Builder
	for _, i := range r.Items {
		level := i.level()
		if level == "" {
			continue
		}
		b.WriteString("::" + level)
		separator := " "
		if i.Observation != "" {
			b.WriteString(" file=" + property("registry/"+string(i.Observation)))
			separator = ","
		}
		fmt.Fprintf(&b, "%stitle=%s::%s\n", separator, property(fmt.Sprintf("%s: %s %s", i.Verdict, i.Agent, i.CLIVersion)), data(i.message()))
	}
	return b.String()
}

// level is the annotation's level; empty for what needs no eye.
func (i Item) level() string {
	strongest := shape.Strongest(i.Changes)
	for _, v := range i.Vocabulary {
		if v.Severity.Rank() > strongest.Rank() {
			strongest = v.Severity
		}
	}
	for _, f := range i.Flags {
		if f.Severity.Rank() > strongest.Rank() {
			strongest = f.Severity
		}
	}
	switch {
	case i.Verdict == RedactionFailed || i.Verdict == ParserIncompatible:
		return "error"
	case i.Verdict == ServerVariant || strongest == shape.Breaking || len(i.Violations) > 0:
		return "warning"
	case i.Verdict == CompatibleNewShape || len(i.Flags) > 0:
		return "notice"
	}
	return ""
}

// maxAnnotated bounds the changes of one annotation: the page cuts long ones off.
const maxAnnotated = 10

func (i Item) message() string {
	lines := []string{i.run() + ": " + i.Reason}
	add := func(s fmt.Stringer) { lines = append(lines, s.String()) }
	for _, severity := range strongestFirst {
		for _, c := range i.Changes {
			if c.Severity == severity && severity != shape.Subsumed {
				add(c)
			}
		}
	}
	for _, l := range i.Lost {
		add(l)
	}
	lines = append(lines, flagLines(i.Flags, shape.Plain)...)
	lines = append(lines, vocabularyLines(i.Vocabulary, shape.Plain)...)
	for _, v := range i.Violations {
		lines = append(lines, "violated: "+shape.Plain(v))
	}
	if more := len(lines) - 1 - maxAnnotated; more > 0 {
		lines = append(lines[:1+maxAnnotated], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// data escapes the message of a workflow command; property a value before it.
func data(s string) string     { return dataEscapes.Replace(s) }
func property(s string) string { return propertyEscapes.Replace(s) }
