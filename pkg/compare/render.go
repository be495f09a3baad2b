package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
)

// Format is a way to write a report.
type Format string

// The formats.
const (
	// FormatText is for a terminal.
	FormatText Format = "text"
	// FormatJSON is the Report itself.
	FormatJSON Format = "json"
	// FormatMarkdown is the body of a pull request or of a step summary.
	FormatMarkdown Format = "markdown"
	// FormatGitHub is annotations, one workflow command a line.
	FormatGitHub Format = "github"
)

// Values lists the enum.
func (Format) Values() []string {
	return []string{string(FormatText), string(FormatJSON), string(FormatMarkdown), string(FormatGitHub)}
}

// Render writes the report in a format. It fails on an unknown format.
func (r *Report) Render(f Format) ([]byte, error) {
	switch f {
	case FormatText:
		return []byte(r.text()), nil
	case FormatJSON:
		return contract.Marshal(r)
	case FormatMarkdown:
		return []byte(r.markdown()), nil
	case FormatGitHub:
		return []byte(r.annotations()), nil
	}
	return nil, fmt.Errorf("unknown report format %q: use one of %s", f, strings.Join(f.Values(), ", "))
}

// nothingNew is what a report without items says: silence would look like agreement.
const nothingNew = "Nothing was compared: the new tree holds no observation that is not known already, and no failed redaction."

// tally counts the verdicts, the most alarming first: "1 parser_incompatible, 2 same_shape".
func (r *Report) tally() string {
	n := map[Verdict]int{}
	for _, i := range r.Items {
		n[i.Verdict]++
	}
	values := Verdict("").Values()
	slices.Reverse(values)
	var parts []string
	for _, v := range values {
		if n[Verdict(v)] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[Verdict(v)], v))
		}
	}
	return strings.Join(parts, ", ")
}

// run names what ran: "chat-tool-success on linux-x64 (exec-json, scripted)".
func (i Item) run() string {
	name := string(i.Probe)
	if i.Platform != "" {
		name += " on " + string(i.Platform)
	}
	var how []string
	for _, word := range []string{string(i.Mode), string(i.Backend)} {
		if word != "" {
			how = append(how, word)
		}
	}
	if len(how) > 0 {
		name += " (" + strings.Join(how, ", ") + ")"
	}
	return name
}

// text is the report for a terminal. Everything that comes from a CLI is made plain.
func (r *Report) text() string {
	if len(r.Items) == 0 {
		return nothingNew + "\n"
	}
	var b strings.Builder
	for _, i := range r.Items {
		sep := "\n  "
		if i.Verdict == SameShape {
			sep = ": " // nothing to act on: one line
		}
		fmt.Fprintf(&b, "%s  %s %s  %s%s%s\n", i.Verdict, i.Agent, i.CLIVersion, i.run(), sep, i.Reason)
		if k := i.Known; k != nil && k.Signature != i.Signature {
			fmt.Fprintf(&b, "  against %s on %s: %s\n", k.CLIVersion, k.Platform, k.Observation)
		}
		for _, severity := range strongestFirst {
			for _, c := range i.Changes {
				if c.Severity == severity {
					fmt.Fprintf(&b, "    %-8s  %s\n", severity, c)
				}
			}
		}
		if len(i.Lost) == 0 && len(i.Parsers) > 0 {
			fmt.Fprintf(&b, "    no event is lost under the parsers that were run: %s\n", shape.Plain(strings.Join(i.Parsers, ", ")))
		}
		for _, l := range i.Lost {
			fmt.Fprintf(&b, "    lost      %s\n", l)
		}
		for _, line := range vocabularyLines(i.Vocabulary, shape.Plain) {
			fmt.Fprintf(&b, "    %s\n", line)
		}
		for _, line := range flagLines(i.Flags, shape.Plain) {
			fmt.Fprintf(&b, "    flag      %s\n", line)
		}
		for _, v := range i.Violations {
			fmt.Fprintf(&b, "    violated  %s\n", shape.Plain(v))
		}
		for _, f := range i.Findings {
			fmt.Fprintf(&b, "    note      %s\n", f)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", r.tally())
	return b.String()
}
