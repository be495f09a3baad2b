package workflow

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// CommandProperties are the key=value pairs of a command.
type CommandProperties map[string]string

// Command is one workflow command on standard output.
type Command struct {
	Name       string
	Message    string
	Properties CommandProperties
}

var (
	escapeMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// String renders the command as one line: properties sorted by key, empty ones left out, everything escaped.
func (c *Command) String() string {
	var out strings.Builder
	out.WriteString("::" + c.Name)
	separator := " "
	for _, key := range slices.Sorted(maps.Keys(c.Properties)) {
		if value := c.Properties[key]; value != "" {
			out.WriteString(separator + escapeProperty.Replace(key) + "=" + escapeProperty.Replace(value))
			separator = ","
		}
	}
	out.WriteString("::" + escapeMessage.Replace(c.Message))
	return out.String()
}

// IssueCommand prints a command.
func (a *Action) IssueCommand(c *Command) { a.line(c.String()) }

func (a *Action) line(s string) {
	a.state.mu.Lock()
	_, err := io.WriteString(a.w, s+"\n")
	a.state.mu.Unlock()
	if err != nil {
		a.keep(fmt.Errorf("writing to the runner: %w", err))
	}
}

// AddMask hides a value in all later log lines. The runner masks line by line, so every line of the value is masked;
// an empty one would hide nothing and is left out.
func (a *Action) AddMask(value string) {
	for _, line := range splitLines(value) {
		if line != "" {
			a.IssueCommand(&Command{Name: "add-mask", Message: line})
		}
	}
}

// AddMatcher adds the problem matcher of a file.
func (a *Action) AddMatcher(path string) {
	a.IssueCommand(&Command{Name: "add-matcher", Message: path})
}

// RemoveMatcher removes the problem matcher of an owner.
func (a *Action) RemoveMatcher(owner string) {
	a.IssueCommand(&Command{Name: "remove-matcher", Properties: CommandProperties{"owner": owner}})
}

// Group opens a fold in the log.
func (a *Action) Group(title string) { a.IssueCommand(&Command{Name: "group", Message: title}) }

// EndGroup closes the fold.
func (a *Action) EndGroup() { a.IssueCommand(&Command{Name: "endgroup"}) }

// Debugf prints a message that shows only where step debugging is on.
func (a *Action) Debugf(format string, args ...any) { a.annotate("debug", format, args) }

// Noticef prints a notice annotation.
func (a *Action) Noticef(format string, args ...any) { a.annotate("notice", format, args) }

// Warningf prints a warning annotation.
func (a *Action) Warningf(format string, args ...any) { a.annotate("warning", format, args) }

// Errorf prints an error annotation. It does not end the step.
func (a *Action) Errorf(format string, args ...any) { a.annotate("error", format, args) }

// Fatalf prints an error annotation and ends the process with 1.
func (a *Action) Fatalf(format string, args ...any) {
	a.Errorf(format, args...)
	a.exit(1)
}

func (a *Action) annotate(name, format string, args []any) {
	a.IssueCommand(&Command{Name: name, Message: fmt.Sprintf(format, args...), Properties: a.fields})
}

// Infof prints plain lines to the log. Whatever the runner would read as a command in them is broken up, so text of
// others may be printed.
func (a *Action) Infof(format string, args ...any) {
	for _, line := range splitLines(fmt.Sprintf(format, args...)) {
		a.line(inert(line))
	}
}

// splitLines splits as the runner reads: a lone carriage return ends a line too. A line break at the end adds no line.
func splitLines(s string) []string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// inert breaks up the two forms of a command: "::name::" where the trimmed line begins with it, and "##[name]"
// anywhere in the line.
func inert(line string) string {
	line = strings.ReplaceAll(line, "##[", "## [")
	if strings.HasPrefix(strings.TrimSpace(line), "::") {
		line = "| " + line
	}
	return line
}
