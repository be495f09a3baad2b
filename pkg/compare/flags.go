package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
)

// FlagClass says what became of a flag of a help page.
type FlagClass string

// The classes.
const (
	FlagAdded      FlagClass = "added"
	FlagRemoved    FlagClass = "removed"
	FlagDeprecated FlagClass = "deprecated"
	// FlagValue: what the flag takes is another thing, or no longer one of the values that it declared.
	FlagValue   FlagClass = "value changed"
	FlagDefault FlagClass = "default changed"
	// PageGone: the release has no such sub-command any more.
	PageGone FlagClass = "page gone"
	PageNew  FlagClass = "page new"
)

// FlagChange is a difference between two help pages of one command. It comes from a CLI: renderers quote it.
type FlagChange struct {
	Command string    `json:"command"`
	Flag    string    `json:"flag,omitempty"`
	Class   FlagClass `json:"class"`
	// From and To are what changed, where that can be said.
	From     string         `json:"from,omitempty"`
	To       string         `json:"to,omitempty"`
	Severity shape.Severity `json:"severity"`
	// Forbidden is set for a flag that the agent file forbids: somebody should look at the file.
	Forbidden bool `json:"forbidden,omitempty"`
}

// Format is the change on one line. What comes from a CLI goes through quote.
func (c FlagChange) Format(quote func(string) string) string {
	page := "help"
	if c.Command != "" {
		page = quote(c.Command) + " help"
	}
	var b strings.Builder
	b.WriteString(page)
	if c.Flag != "" {
		b.WriteString(": " + quote(c.Flag))
	}
	b.WriteString(" " + string(c.Class))
	if c.From != "" || c.To != "" {
		b.WriteString(": " + quote(c.From) + " → " + quote(c.To))
	}
	fmt.Fprintf(&b, " (%s", c.Severity)
	if c.Forbidden {
		b.WriteString(", forbidden by the agent file")
	}
	return b.String() + ")"
}

func flagLines(changes []FlagChange, quote func(string) string) []string {
	var out []string
	for _, c := range changes {
		out = append(out, c.Format(quote))
	}
	return out
}

// flagChanges compares the help pages of two observations. A page that either lacks altogether is no change: the
// agent file may ask for other pages than it did.
func flagChanges(known, fresh contract.Observation, forbidden []contract.ForbiddenFlag) []FlagChange {
	was, is := known.Shape.Vocabulary, fresh.Shape.Vocabulary
	if was == nil || is == nil {
		return nil
	}
	var changes []FlagChange
	for _, after := range is.Help {
		i := slices.IndexFunc(was.Help, func(p contract.HelpPage) bool { return p.Command == after.Command })
		if i < 0 {
			continue
		}
		switch before := was.Help[i]; {
		case before.Unavailable && after.Unavailable:
		case after.Unavailable:
			changes = append(changes, FlagChange{Command: after.Command, Class: PageGone, Severity: shape.Breaking})
		case before.Unavailable:
			changes = append(changes, FlagChange{Command: after.Command, Class: PageNew, Severity: shape.Additive})
		default:
			changes = append(changes, pageChanges(before, after)...)
		}
	}
	for i, c := range changes {
		changes[i].Forbidden = slices.ContainsFunc(forbidden, func(f contract.ForbiddenFlag) bool { return f.Flag == c.Flag })
	}
	return changes
}

func pageChanges(before, after contract.HelpPage) []FlagChange {
	var out []FlagChange
	add := func(flag string, class FlagClass, severity shape.Severity, from, to string) {
		out = append(out, FlagChange{Command: after.Command, Flag: flag, Class: class, From: from, To: to, Severity: severity})
	}
	old, now := spellings(before), spellings(after)
	for _, name := range names(old) {
		if _, there := now[name]; !there {
			add(name, FlagRemoved, shape.Breaking, "", "")
		}
	}
	for _, name := range names(now) {
		f := now[name]
		was, there := old[name]
		switch {
		case !there:
			add(name, FlagAdded, shape.Additive, "", "")
			continue
		case name != f.Flag:
			continue // an alias changes as its flag does
		}
		if f.Deprecated && !was.Deprecated {
			add(name, FlagDeprecated, shape.Additive, "", "")
		}
		if kindOfValue(was.Value) != kindOfValue(f.Value) {
			add(name, FlagValue, shape.Breaking, orNone(was.Value), orNone(f.Value))
		}
		if gone, more := without(was.Values, f.Values), without(f.Values, was.Values); len(was.Values) > 0 && len(f.Values) > 0 && len(gone)+len(more) > 0 {
			severity := shape.Additive
			if len(gone) > 0 {
				severity = shape.Breaking
			}
			add(name, FlagValue, severity, orNone(strings.Join(gone, ", ")), orNone(strings.Join(more, ", ")))
		}
		if was.Default != f.Default {
			add(name, FlagDefault, shape.Additive, orNone(was.Default), orNone(f.Default))
		}
	}
	return out
}

// spellings are the flags of a page by each of their spellings.
func spellings(p contract.HelpPage) map[string]contract.HelpFlag {
	out := map[string]contract.HelpFlag{}
	for _, f := range p.Flags {
		for _, name := range append([]string{f.Flag}, f.Aliases...) {
			out[name] = f
		}
	}
	return out
}

func names(m map[string]contract.HelpFlag) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// kindOfValue is what a caller must know of a value: whether there is one, whether it may be left out, and how many there may be.
func kindOfValue(placeholder string) string {
	if placeholder == "" {
		return ""
	}
	return placeholder[:1] + strings.Repeat(".", strings.Count(placeholder, "."))
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
