package registry

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// marks are the cells of holes in a table of coverage.
var marks = map[HoleKind]string{
	HoleNotCaptured: ".", HoleNotBacking: "!", HoleNotCapturable: "x", HoleDeclared: "x", HoleUnfit: "-", HoleNoTool: "t", HoleNoMode: "-",
}

const legend = "number: observations that there are; . not captured yet; - no mode fits the probe; t a tool is not named; x cannot be observed; ! backs no claim"

// CoverageText is the tables of coverage for a terminal: probe × release per agent, then every hole with its reason.
func CoverageText(coverage []AgentCoverage) string {
	var b strings.Builder
	for i, agent := range coverage {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s\n", agent.Agent)
		if agent.Reason != "" {
			fmt.Fprintf(&b, "  not capturable: %s\n", agent.Reason)
			continue
		}
		for _, g := range agent.Groups {
			fmt.Fprintf(&b, "  %-32s%s\n", g.Name, g.state())
		}
		rows := agent.rows()
		for _, row := range rows {
			b.WriteString("  ")
			for i, cell := range row {
				width := columnWidth(rows, i)
				if i == 0 {
					fmt.Fprintf(&b, "%-*s", width, cell)
				} else {
					fmt.Fprintf(&b, "  %*s", width, cell)
				}
			}
			b.WriteString("\n")
		}
		for _, line := range agent.notes() {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	if len(coverage) > 0 {
		fmt.Fprintf(&b, "\n%s\n%s", legend, aliases(coverage))
	}
	return b.String()
}

// CoverageMarkdown is the same for a page.
func CoverageMarkdown(coverage []AgentCoverage) string {
	var b strings.Builder
	b.WriteString("# Coverage\n\n" + legend + "\n")
	if other := aliases(coverage); other != "" {
		b.WriteString("\n" + other)
	}
	for _, agent := range coverage {
		fmt.Fprintf(&b, "\n## %s\n\n", agent.Agent)
		if agent.Reason != "" {
			fmt.Fprintf(&b, "Not capturable: %s\n", agent.Reason)
			continue
		}
		for _, g := range agent.Groups {
			fmt.Fprintf(&b, "- %s: %s\n", g.Name, g.state())
		}
		for i, row := range agent.rows() {
			if i == 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
			if i == 0 {
				b.WriteString("|---|" + strings.Repeat("---:|", len(row)-1) + "\n")
			}
		}
		for i, line := range agent.notes() {
			if i == 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "- %s\n", line)
		}
	}
	return b.String()
}

// aliases is the line with the spellings of probes that lookups accept as well.
func aliases(coverage []AgentCoverage) string {
	seen := map[string]bool{}
	for _, agent := range coverage {
		for _, r := range agent.Releases {
			for _, p := range r.Probes {
				if p.Alias != "" {
					seen[p.Alias] = true
				}
			}
		}
	}
	if len(seen) == 0 {
		return ""
	}
	return "other spellings, accepted wherever a probe is named: " + strings.Join(slices.Sorted(maps.Keys(seen)), ", ") + "\n"
}

func (g GroupCoverage) state() string {
	if g.Shown {
		return "yes"
	}
	return cmp.Or(g.Reason, "missing")
}

func columnWidth(rows [][]string, i int) int {
	width := 0
	for _, row := range rows {
		width = max(width, len(row[i]))
	}
	return width
}

// shown are the releases of a table: those that are current or observed.
func (a AgentCoverage) shown() []ReleaseCoverage {
	return slices.DeleteFunc(slices.Clone(a.Releases), func(r ReleaseCoverage) bool { return !r.shown() })
}

func (r ReleaseCoverage) shown() bool {
	return len(r.Channels) > 0 || slices.ContainsFunc(r.Probes, func(p ProbeCoverage) bool { return p.Observations > 0 })
}

// rows are the table of an agent, its head first; none where no release is shown.
func (a AgentCoverage) rows() [][]string {
	releases := a.shown()
	if len(releases) == 0 {
		return nil
	}
	head := []string{"probe"}
	cells := map[contract.ProbeID][]string{}
	for n, r := range releases {
		head = append(head, string(r.Version))
		for _, p := range r.Probes {
			row := cells[p.Probe]
			if row == nil {
				row = slices.Repeat([]string{""}, len(releases))
				cells[p.Probe] = row
			}
			row[n] = p.mark()
		}
	}
	rows := [][]string{head}
	for _, probe := range slices.Sorted(maps.Keys(cells)) {
		rows = append(rows, append([]string{string(probe)}, cells[probe]...))
	}
	return rows
}

func (p ProbeCoverage) mark() string {
	if p.Hole != "" {
		return marks[p.Hole]
	}
	return fmt.Sprint(p.Observations)
}

// notes explain the holes of a table: one line for each probe and reason, and the count of what is not shown.
func (a AgentCoverage) notes() []string {
	releases := a.shown()
	type hole struct {
		mark, probe, reason string
	}
	where := map[hole][]string{}
	for _, r := range releases {
		for _, p := range r.Probes {
			if p.Hole != "" {
				h := hole{p.mark(), string(p.Probe), p.Reason}
				where[h] = append(where[h], string(r.Version))
			}
			for _, m := range p.Partial {
				h := hole{marks[HoleDeclared], string(p.Probe), m.note()}
				where[h] = append(where[h], string(r.Version))
			}
		}
	}
	type group struct {
		mark, reason, versions string
	}
	probes := map[group][]string{}
	for h, versions := range where {
		g := group{h.mark, h.reason, strings.Join(versions, ", ")}
		if len(versions) == len(releases) {
			g.versions = "every release"
		}
		probes[g] = append(probes[g], h.probe)
	}
	order := func(x, y group) int {
		return cmp.Or(cmp.Compare(x.mark, y.mark), cmp.Compare(x.reason, y.reason), cmp.Compare(slices.Min(probes[x]), slices.Min(probes[y])))
	}
	var lines []string
	for _, g := range slices.SortedFunc(maps.Keys(probes), order) {
		slices.Sort(probes[g])
		lines = append(lines, fmt.Sprintf("%s %s (%s): %s", g.mark, strings.Join(probes[g], ", "), g.versions, g.reason))
	}
	return append(lines, a.blank()...)
}

// blank tells of the releases that are not shown: those of which nothing can be observed, by reason, and a count of the rest.
func (a AgentCoverage) blank() []string {
	byReason := map[string][]string{}
	rest := 0
	for _, r := range a.Releases {
		switch {
		case r.shown():
		case r.Reason != "":
			byReason[r.Reason] = append(byReason[r.Reason], string(r.Version))
		default:
			rest++
		}
	}
	var lines []string
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		lines = append(lines, fmt.Sprintf("%s %s: %s", marks[HoleDeclared], strings.Join(byReason[reason], ", "), reason))
	}
	if rest > 0 {
		lines = append(lines, fmt.Sprintf("other releases that nothing covers: %d", rest))
	}
	return lines
}
