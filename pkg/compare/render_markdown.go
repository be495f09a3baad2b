package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
)

// maxListed bounds each list of the pull request's text; the report files list everything.
const maxListed = 40

// markdown is the text of a pull request: the verdicts first, then what each new shape changes.
func (r *Report) markdown() string {
	if len(r.Items) == 0 {
		return nothingNew + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** — %s.\n", r.Worst, r.tally())
	same, other := split(r.Items)
	table(&b, other)
	if len(same) > 0 {
		fmt.Fprintf(&b, "\n<details><summary>%d %s</summary>\n", len(same), SameShape)
		table(&b, same)
		b.WriteString("\n</details>\n")
	}
	for _, s := range sections(r.Items) {
		if s.tells() {
			b.WriteString("\n### " + s.title() + "\n")
			s.write(&b, maxListed)
			b.WriteString(s.checklist())
		}
	}
	return b.String()
}

// split sets those apart that a reader may pass over.
func split(items []Item) (same, other []Item) {
	for _, i := range items {
		if i.Verdict == SameShape {
			same = append(same, i)
		} else {
			other = append(other, i)
		}
	}
	return same, other
}

func table(b *strings.Builder, items []Item) {
	if len(items) == 0 {
		return
	}
	b.WriteString("\n| agent | version | probe | platform | mode | backend | verdict | grounding |\n|---|---|---|---|---|---|---|---|\n")
	for _, i := range items {
		b.WriteString("|")
		for _, cell := range []string{string(i.Agent), string(i.CLIVersion), string(i.Probe), string(i.Platform), string(i.Mode), string(i.Backend), string(i.Verdict), i.grounding()} {
			if cell == "" {
				cell = "—"
			}
			fmt.Fprintf(b, " %s |", cell)
		}
		b.WriteString("\n")
	}
}

// grounding is the label, and a word about what a scripted backend can say.
func (i Item) grounding() string {
	if i.Grounding != "" && i.Backend == contract.BackendScripted {
		return string(i.Grounding) + " (scripted)"
	}
	return string(i.Grounding)
}

// Reports gives the report files of a comparison by path: one for each new shape and the known one that it was
// compared with. Same shapes, first observations and failed redactions have none.
func (r *Report) Reports() map[contract.RelPath][]byte {
	files := map[contract.RelPath][]byte{}
	for _, s := range sections(r.Items) {
		first := s[0]
		if first.Known == nil || first.Known.Signature == first.Signature || first.Verdict == RedactionFailed {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n", s.title())
		s.write(&b, -1)
		p := registry.ReportPath(first.Agent, first.CLIVersion, first.Signature, first.Known.Signature)
		if before, ok := files[p]; ok { // probes may differ in their verdict on one pair of shapes
			files[p] = append(before, "\n"+b.String()...)
			continue
		}
		files[p] = []byte(b.String())
	}
	return files
}

// section holds the items that tell the same story: one release, one verdict, one new shape, one known shape.
type section []Item

func sections(items []Item) []section {
	type key struct {
		agent      contract.AgentID
		version    contract.CLIVersion
		verdict    Verdict
		new, known contract.Hash
	}
	index := map[key]int{}
	var out []section
	for _, i := range items {
		k := key{i.Agent, i.CLIVersion, i.Verdict, i.Signature, ""}
		if i.Known != nil {
			k.known = i.Known.Signature
		}
		at, ok := index[k]
		if !ok {
			at = len(out)
			index[k] = at
			out = append(out, nil)
		}
		out[at] = append(out[at], i)
	}
	slices.SortStableFunc(out, func(a, b section) int { return b[0].Verdict.Rank() - a[0].Verdict.Rank() })
	return out
}

// tells reports whether there is more to say than the table does.
func (s section) tells() bool {
	return slices.ContainsFunc(s, func(i Item) bool {
		return i.Verdict != SameShape || len(i.Vocabulary)+len(i.Flags)+len(i.Violations)+len(i.Findings) > 0
	})
}

func (s section) title() string {
	var probes []string
	for _, i := range s {
		probes = append(probes, string(i.Probe))
	}
	slices.Sort(probes)
	return fmt.Sprintf("%s %s, %s: %s", s[0].Agent, s[0].CLIVersion, strings.Join(slices.Compact(probes), ", "), s[0].Verdict)
}

// write tells the story. A negative limit lists everything.
func (s section) write(b *strings.Builder, limit int) {
	first := s[0]
	b.WriteString("\n" + bullets("", limit, collect(s, func(i Item) []string { return []string{i.run() + ": " + escape(i.Reason)} })))
	if k := first.Known; k != nil && k.Signature != first.Signature {
		fmt.Fprintf(b, "\nNew shape %s (%s), compared with %s of %s on %s (%s).\n", short(first.Signature), first.Grounding, short(k.Signature), k.CLIVersion, k.Platform, k.Grounding)
	} else if groundings := collect(s, func(i Item) []string { return []string{string(i.Grounding)} }); groundings[0] != "" {
		fmt.Fprintf(b, "\nGrounding: %s.\n", strings.Join(groundings, "; "))
	}
	if slices.ContainsFunc(s, func(i Item) bool { return i.Backend == contract.BackendScripted && i.Grounding != "" }) {
		b.WriteString("\nThe backend was scripted: this speaks of the CLI's protocol, not of a vendor's servers.\n")
	}
	for _, severity := range strongestFirst {
		b.WriteString(bullets(severityTitle[severity], limit, collect(s[:1], func(i Item) []string { return changesOf(i, severity) })))
	}
	b.WriteString(bullets("Lost events", limit, collect(s, func(i Item) []string { return lines(i.Lost, func(l LostEvent) string { return l.Format(code) }) })))
	if len(first.Lost) == 0 && len(first.Parsers) > 0 {
		fmt.Fprintf(b, "\nNo event is lost under the parsers that were run: %s.\n", strings.Join(lines(first.Parsers, code), ", "))
	}
	b.WriteString(bullets("Flags of help pages", limit, collect(s, func(i Item) []string { return flagLines(i.Flags, code) })))
	b.WriteString(bullets("Vocabulary", limit, collect(s, func(i Item) []string { return vocabularyLines(i.Vocabulary, code) })))
	b.WriteString(bullets("Broken invariants", limit, collect(s, func(i Item) []string { return lines(i.Violations, code) })))
	b.WriteString(bullets("Limits of this comparison", limit, collect(s, func(i Item) []string { return i.Findings })))
	b.WriteString(bullets("Evidence", limit, collect(s, func(i Item) []string {
		paths := lines(i.Evidence, func(p contract.RelPath) string { return code(string(p)) })
		if i.Known != nil {
			paths = append(paths, code(string(i.Known.Observation))+" (known)")
		}
		return paths
	})))
}

// checklist is what a reviewer of a pull request ticks off; a report file, which stays, has none.
func (s section) checklist() string {
	return bullets("To check", -1, lines(reviewOf(s[0].Verdict), func(what string) string { return "[ ] " + what }))
}

var severityTitle = map[shape.Severity]string{
	shape.Breaking: "Breaking", shape.Additive: "Additive (breaks closed parsers only)", shape.Subsumed: "Within what runs of one release vary",
}

func changesOf(i Item, severity shape.Severity) []string {
	var out []string
	for _, c := range i.Changes {
		if c.Severity == severity {
			out = append(out, c.Format(code))
		}
	}
	return out
}

// collect joins the lines of all items, each once, in their order.
func collect(s section, of func(Item) []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, i := range s {
		for _, line := range of(i) {
			if !seen[line] {
				seen[line] = true
				out = append(out, line)
			}
		}
	}
	return out
}

func lines[T any](list []T, line func(T) string) []string {
	var out []string
	for _, v := range list {
		out = append(out, line(v))
	}
	return out
}

// bullets is a titled list; nothing where it is empty.
func bullets(title string, limit int, list []string) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	if title != "" {
		fmt.Fprintf(&b, "\n**%s**\n\n", title)
	}
	for n, line := range list {
		if n == limit {
			fmt.Fprintf(&b, "- … and %d more\n", len(list)-limit)
			break
		}
		fmt.Fprintf(&b, "- %s\n", line)
	}
	return b.String()
}

// short is a signature as a reader can compare it by eye.
func short(h contract.Hash) string {
	_, hex, _ := strings.Cut(string(h), ":")
	return code(hex[:min(12, len(hex))])
}

// code puts a string of a CLI into a code span that it cannot leave: no line break, and a fence longer than any run of
// backticks inside.
func code(s string) string {
	s = shape.Plain(s)
	if s == "" {
		return "(empty)"
	}
	longest, run := 0, 0
	for _, c := range s {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.TrimSpace(s) == "" {
		s = " " + s + " "
	}
	return fence + s + fence
}

// escape makes a sentence of ours, which may name words of a file, literal text that calls nobody.
func escape(s string) string { return escapes.Replace(shape.Plain(s)) }

var escapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "|", `\|`, "~", `\~`, "!", `\!`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "@", "(at)",
)
