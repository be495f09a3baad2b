// Package helppage reads the help text of a command line into a table of its flags. It knows the forms that the usual
// libraries print, and nothing of any program. What it returns holds words and numbers only: descriptions, and values that
// may be of the machine or of an account, do not leave it.
package helppage

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
)

// Parse reads the flags of one help page, sorted. A text without flags gives none.
func Parse(text string) []contract.HelpFlag {
	lines := strings.Split(escapes.ReplaceAllString(strings.ReplaceAll(text, "\r", ""), ""), "\n")
	margins := margins(lines)
	flags := map[string]contract.HelpFlag{}
	for i := 0; i < len(lines); i++ {
		spec, rest, indent, ok := definition(lines[i])
		if !ok || !slices.Contains(margins, indent) {
			continue
		}
		block := []string{rest}
		for i+1 < len(lines) && continues(lines[i+1], indent, margins) {
			i++
			block = append(block, strings.TrimSpace(lines[i]))
		}
		flag := spec.flag()
		flag.describe(block)
		if _, twice := flags[flag.Flag]; !twice {
			flags[flag.Flag] = flag.HelpFlag
		}
	}
	out := make([]contract.HelpFlag, 0, len(flags))
	for _, f := range flags {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b contract.HelpFlag) int { return cmp.Compare(a.Flag, b.Flag) })
	return out
}

// escapes are the colours that some programs print even where nobody looks.
var escapes = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)

// margins are the columns where definitions start. Libraries that align long flags behind short ones use two, four
// columns apart; where a long flag stands in the first column there is no second, and what starts with a flag
// there is the wrapped text of a description.
func margins(lines []string) []int {
	first, long := -1, false
	for _, line := range lines {
		if _, _, indent, ok := definition(line); ok && (first < 0 || indent < first) {
			first = indent
		}
	}
	for _, line := range lines {
		if spec, _, indent, ok := definition(line); ok && indent == first && len(spec) > 0 && len(spec[0].name) > 2 {
			long = true
		}
	}
	if long {
		return []int{first}
	}
	return []int{first, first + 4}
}

// continues reports whether a line belongs to the description of a definition at indent.
func continues(line string, indent int, margins []int) bool {
	text := strings.TrimLeft(line, " \t")
	if text == "" {
		return true
	}
	at := column(line)
	if _, _, _, ok := definition(line); ok && slices.Contains(margins, at) {
		return false
	}
	return at > indent || strings.HasPrefix(line, "\t")
}

func column(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// part is one spelling of a flag with what follows it.
type part struct{ name, value string }

type spec []part

var (
	between = regexp.MustCompile(` {2,}|\t`)
	joins   = regexp.MustCompile(`, ?| \| `)
	// spelling is a flag with its value: --name <value>, --name=<value>, --name[=value], -n VALUE, -name string.
	spelling = regexp.MustCompile(`^(--?(?:\[no-\])?[A-Za-z0-9?][A-Za-z0-9_-]{0,80})(?:(?: |=|)((?:<[^<>]{1,60}>|\[=?[^\[\]]{1,60}\]|[A-Z][A-Z0-9_|-]*|string|strings|int|uint|float|duration|value|number|file|path)(?:\.{3}| \.{3})?(?: \[[^\[\]]{1,60}\](?:\.{3})?)?))?$`)
)

// definition reads a line that defines a flag: its spellings, and what of the description stands on the line.
func definition(line string) (spec, string, int, bool) {
	text := strings.TrimLeft(line, " ")
	if !strings.HasPrefix(text, "-") {
		return nil, "", 0, false
	}
	head, rest := text, ""
	if at := between.FindStringIndex(text); at != nil {
		head, rest = text[:at[0]], strings.TrimSpace(text[at[1]:])
	}
	var out spec
	for _, word := range joins.Split(strings.TrimSpace(head), -1) {
		m := spelling.FindStringSubmatch(word)
		if m == nil || !protocol.IsWord(strings.Trim(m[1], "-")) {
			return nil, "", 0, false
		}
		out = append(out, part{m[1], m[2]})
	}
	return out, rest, column(line), true
}

// flag is a flag on the way to its record.
type flag struct{ contract.HelpFlag }

// flag takes the last long spelling as the name, the others as aliases.
func (s spec) flag() *flag {
	f := &flag{}
	for _, p := range s {
		if f.Flag == "" || strings.HasPrefix(p.name, "--") {
			f.Flag = p.name
		}
		if p.value != "" {
			f.Value = placeholder(p.value)
		}
	}
	for _, p := range s {
		if p.name != f.Flag {
			f.Aliases = append(f.Aliases, p.name)
		}
	}
	slices.Sort(f.Aliases)
	f.Aliases = slices.Compact(f.Aliases)
	return f
}

var (
	token       = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,40}$`)
	inside      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:=|/-]{0,40}$`)
	typeMark    = regexp.MustCompile(`\[(string|number|array|boolean|count)\]`)
	choiceLists = []*regexp.Regexp{
		regexp.MustCompile(`\[possible values: ([^\]]*)\]`), regexp.MustCompile(`[\[(]choices: ([^\])]*)[\])]`), regexp.MustCompile(`<options: ([^>]*)>`),
		regexp.MustCompile(`\(choices: ((?:"[^"]*",? ?)+)`),
	}
	choiceSplit = regexp.MustCompile(`, *|\|`)
	bullet      = regexp.MustCompile(`^- ([A-Za-z0-9][A-Za-z0-9._-]*)(?::|$)`)
	defaults    = regexp.MustCompile(`[\[(]default:? ([^\])]*)[\])]`)
	deprecated  = regexp.MustCompile(`(?i)\bdeprecated\b`)
)

// placeholder keeps the name of a value where it is a token, and its brackets: they say whether the flag needs it.
func placeholder(value string) string {
	many := ""
	if strings.Contains(value, "...") {
		many = "..."
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(value, "...", ""), " [")
	optional := strings.HasPrefix(first, "[")
	name := strings.Trim(first, "<>[]= ")
	parts := strings.FieldsFunc(name, func(c rune) bool { return strings.ContainsRune("|=:/", c) })
	if strings.HasPrefix(name, "<") || !inside.MatchString(name) || slices.ContainsFunc(parts, func(p string) bool { return !protocol.IsWord(p) }) {
		name = "value"
	}
	if optional {
		return "[" + name + "]" + many
	}
	return "<" + name + ">" + many
}

// describe reads what a description declares: type, choices, default, and that the flag is deprecated.
func (f *flag) describe(block []string) {
	text := strings.Join(block, " ")
	if m := typeMark.FindStringSubmatch(text); m != nil && f.Value == "" {
		switch m[1] {
		case "array":
			f.Value = "<array>..."
		case "string", "number":
			f.Value = "<" + m[1] + ">"
		}
	}
	for _, list := range choiceLists {
		if m := list.FindStringSubmatch(text); m != nil && len(f.Values) == 0 {
			f.choices(choiceSplit.Split(m[1], -1))
		}
	}
	own := text // what is said of the flag itself, not of its values
	if at := slices.Index(block, "Possible values:"); at >= 0 {
		own = strings.Join(block[:at], " ")
		var names []string
		for _, line := range block[at+1:] {
			if m := bullet.FindStringSubmatch(line); m != nil {
				names = append(names, m[1])
			}
		}
		f.choices(names)
	}
	if m := defaults.FindStringSubmatch(text); m != nil {
		if f.Default = strings.Trim(m[1], `"' `); !token.MatchString(f.Default) || !protocol.IsWord(f.Default) {
			f.Default = "<text>"
		}
	}
	f.Deprecated = deprecated.MatchString(own)
}

func (f *flag) choices(names []string) {
	for _, name := range names {
		name = strings.Trim(name, `"' `)
		if token.MatchString(name) && protocol.IsWord(name) {
			f.Values = append(f.Values, name)
		}
	}
	slices.Sort(f.Values)
	f.Values = slices.Compact(f.Values)
}
