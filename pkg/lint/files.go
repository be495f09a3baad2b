package lint

import (
	"regexp"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// knownFiles are the forms of path that a tree may hold.
var knownFiles = func() []*regexp.Regexp {
	const id, stem = `[a-z0-9][a-z0-9-]{0,62}`, `sha256-[0-9a-f]{64}`
	var families []string
	for _, f := range contract.Family("").Values() {
		families = append(families, regexp.QuoteMeta(contract.Family(f).Dir()))
	}
	family := "(?:" + strings.Join(families, "|") + ")"
	var list []*regexp.Regexp
	for _, form := range []string{
		`(?:agents|support-matrix|shape-aliases)\.json`,
		`README\.md`,
		`(?:agents|clients|releases)/` + id + `\.json`,
		`diagnostics/[a-z0-9-]+\.json`,
		`schemas/[a-z-]+\.schema\.json`,
		`observations/` + id + `/[0-9A-Za-z][0-9A-Za-z.+_-]*/[a-z0-9-]+/[0-9T.-]+Z\.` + id + `\.(?:observation|evidence)\.json`,
		`shapes/` + family + `/` + stem + `\.shape\.json`,
		`fixtures/` + family + `/` + stem + `\.(?:sanitized|transcript)\.jsonl`,
		`goldens/` + id + `/` + family + `/` + stem + `(?:\.` + id + `)?\.events\.json`,
		`goldens/open-design-run/` + family + `/` + stem + `\.run\.json`,
		`source-evidence/` + id + `/[A-Za-z0-9._-]+\.json`,
		`error-cases/` + id + `/` + id + `(?:\.` + id + `)?\.error-case\.json`,
		`reports/diffs/` + id + `/[0-9A-Za-z.+_-]+-` + stem + `-vs-` + stem + `\.md`,
	} {
		list = append(list, regexp.MustCompile(`^`+form+`$`))
	}
	return list
}()

func isKnown(file string) bool {
	for _, form := range knownFiles {
		if form.MatchString(file) {
			return true
		}
	}
	return false
}

var fileRules = []Rule{
	{
		ID: "file/known", Purpose: "Every file of a tree has a place in its layout.", Severity: Error,
		tree: func(s *state, report reporter) {
			for _, file := range s.tree.Files("") {
				if !isKnown(file) {
					report(shown(file), "", "no file of this name belongs here", "remove it, or give it the name that the layout of the registry has for its kind")
				}
			}
		},
	},
	{
		ID: registry.UnreadableRule, Purpose: "Every file can be read, and is of reasonable size.", Severity: Error,
		tree: func(*state, reporter) {}, // found where the files are read
	},
	{
		ID: "file/regular", Purpose: "A tree holds regular files whose names differ in more than case.", Severity: Error,
		tree: func(s *state, report reporter) {
			for _, file := range s.tree.Strange {
				report(shown(file), "", "the entry is no regular file, lies too far down, or another one differs from it only in case", "remove it")
			}
		},
	},
}

// plainPath are the names that a message may show; others may be data.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9._+@/-]{1,300}$`)

// shown is a path for a message. A path that nobody checked is shortened to what is safe to print.
func shown(file string) string {
	if plainPath.MatchString(file) {
		return file
	}
	var b strings.Builder
	for _, c := range file[:min(len(file), 300)] {
		if plainPath.MatchString(string(c)) {
			b.WriteRune(c)
		} else {
			b.WriteByte('?')
		}
	}
	return b.String()
}

// scanRules are checked where the bytes of a file are read; the entry here gives them their place in the list.
var scanRules = []Rule{{
	ID: scanRule, Purpose: "No file holds a secret, a path of a machine or a private value, in any encoding.", Severity: Error,
	tree: func(*state, reporter) {},
}}

const scanRule = "scan/clean"

// scan searches a file for secrets. Lines of records and transcripts are scanned one by one, because most of them
// occur in many files and a line that was clean once is clean again; no JSON string spans two lines.
func (s *state) scan(file string, data []byte) {
	hit := func(line int, rule string) {
		s.add(Finding{Severity: Error, Problem: contract.Problem{
			File: file, Line: line, Rule: scanRule, Message: "the text matches the secret rule " + rule,
			Remedy: "redact the raw transcript again, or remove the value; a value that was ever public must be revoked",
		}})
	}
	if !strings.HasSuffix(file, ".json") && !strings.HasSuffix(file, ".jsonl") {
		for _, h := range s.scanner.Scan(data) {
			hit(1+strings.Count(string(data[:min(h.Offset, len(data))]), "\n"), h.Rule)
		}
		return
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		for _, h := range s.scanner.Line([]byte(line)) {
			hit(n, h.Rule)
		}
	}
}
