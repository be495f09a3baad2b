package discover

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// WriteJSON writes the plan as JSON.
func (p *Plan) WriteJSON(w io.Writer) error {
	data, err := contract.Marshal(p)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// Summary is the plan in one sentence.
func (p *Plan) Summary() string {
	overdue, uncovered := 0, 0
	for _, a := range p.Agents {
		for _, h := range a.Holes {
			if h.Overdue {
				overdue++
			}
		}
		for _, c := range a.Channels {
			uncovered += c.UncoveredCount
		}
	}
	return fmt.Sprintf("%d overdue, %d releases uncovered; the next %d captures are planned", overdue, uncovered, len(p.Capture))
}

// WriteText writes the plan for a terminal. Control characters of foreign text are left out.
func (p *Plan) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	row := func(cells ...string) {
		for i := range cells {
			cells[i] = printable(cells[i])
		}
		_, _ = fmt.Fprintln(tw, strings.Join(cells, "\t")) // tabwriter keeps the error for Flush
	}
	row("AGENT", "CHANNEL", "LATEST", "VERIFIED", "NEWER", "UNCOVERED", "STATE")
	for _, a := range p.Agents {
		state := a.state()
		if len(a.Channels) == 0 {
			row(string(a.Agent), "-", "-", dash(a.LatestVerified), "-", "-", state)
		}
		for _, c := range a.Channels {
			row(string(a.Agent), c.Channel, dash(c.LatestSeen), dash(c.LatestVerified), fmt.Sprint(c.Newer), fmt.Sprint(c.UncoveredCount), c.state(state))
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, a := range p.Agents {
		if text := a.uncoveredText(); text != "" {
			if _, err := fmt.Fprintf(w, "\n%s uncovered: %s\n", a.Agent, printable(text)); err != nil {
				return err
			}
		}
		for _, h := range a.Holes {
			if h.Tried || h.Overdue {
				if _, err := fmt.Fprintf(w, "%s@%s:%s on %s: %s\n", a.Agent, printable(string(h.Version)), h.Probe, h.Platform, printable(h.text())); err != nil {
					return err
				}
			}
		}
	}
	_, err := fmt.Fprintf(w, "\n%s\n", p.Summary())
	return err
}

// WriteMarkdown writes the plan for a summary or an issue. All foreign text is escaped.
func (p *Plan) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| agent | channel | latest | verified | newer | uncovered | state |\n|---|---|---|---|---:|---:|---|\n")
	for _, a := range p.Agents {
		state := a.state()
		if len(a.Channels) == 0 {
			fmt.Fprintf(&b, "| %s | – | – | %s | – | – | %s |\n", escape(string(a.Agent)), escape(dash(a.LatestVerified)), escape(state))
		}
		for _, c := range a.Channels {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %d | %d | %s |\n", escape(string(a.Agent)), escape(c.Channel), escape(dash(c.LatestSeen)),
				escape(dash(c.LatestVerified)), c.Newer, c.UncoveredCount, escape(c.state(state)))
		}
	}
	for _, a := range p.Agents {
		if text := a.uncoveredText(); text != "" {
			fmt.Fprintf(&b, "\n**%s** uncovered: %s\n", escape(a.Name), escape(text))
		}
		if len(a.Holes) > 0 {
			fmt.Fprintf(&b, "\n<details><summary>%d behaviours of current releases of %s without a capture</summary>\n\n", len(a.Holes), escape(a.Name))
			for _, h := range a.Holes {
				fmt.Fprintf(&b, "- %s %s on %s: %s\n", escape(string(h.Version)), escape(string(h.Probe)), escape(string(h.Platform)), escape(h.text()))
			}
			b.WriteString("\n</details>\n")
		}
	}
	fmt.Fprintf(&b, "\n%s. Ages count to %s.\n", p.Summary(), escape(string(p.GeneratedAt)))
	_, err := io.WriteString(w, b.String())
	return err
}

func (a AgentPlan) state() string {
	switch {
	case a.NotCapturable != "":
		return "cannot be captured: " + a.NotCapturable
	case a.Problem != "":
		return "unknown: " + a.Problem
	case a.AgeDays < 0:
		return "never verified"
	case a.Stale:
		return fmt.Sprintf("stale: %d days, limit %d", a.AgeDays, a.FreshnessDays)
	}
	return fmt.Sprintf("verified %d days ago", a.AgeDays)
}

func (c ChannelPlan) state(agent string) string {
	switch {
	case c.LatestSeen == "":
		return "no release"
	case c.Covered:
		return agent
	}
	return "current release uncovered; " + agent
}

func (a AgentPlan) uncoveredText() string {
	var parts []string
	for _, c := range a.Channels {
		if c.UncoveredCount == 0 {
			continue
		}
		var versions []string
		for _, r := range c.Uncovered {
			versions = append(versions, string(r.Version))
		}
		if more := c.UncoveredCount - len(versions); more > 0 {
			versions = append(versions, fmt.Sprintf("and %d more", more))
		}
		parts = append(parts, c.Channel+": "+strings.Join(versions, ", "))
	}
	return strings.Join(parts, "; ")
}

func (h Hole) text() string {
	text := fmt.Sprintf("not captured for %d days", h.AgeDays)
	if h.Tried {
		text = fmt.Sprintf("could not capture for %d days", h.AgeDays)
	}
	if h.Reason != "" {
		text += ": " + h.Reason
	}
	if h.Overdue {
		text += " (overdue)"
	}
	return text
}

func dash(v contract.CLIVersion) string {
	if v == "" {
		return "-"
	}
	return string(v)
}

// printable leaves out what could steer a terminal or break a line.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// escape makes text inert in Markdown and in HTML within it: no markup, no mention, no link. Character references do in
// both; a backslash would show in HTML.
func escape(s string) string {
	var b strings.Builder
	for _, r := range printable(s) {
		switch {
		case r < unicode.MaxASCII && strings.ContainsRune("\\`*_[]|~#@<>&!:\"'", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
