package contracts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
)

var (
	docLink   = regexp.MustCompile(`\]\(([^)#:]+)\)`)
	tableRow  = regexp.MustCompile("(?m)^\\|.*\\| `([a-z/.]+)`: (.*) \\|$")
	signature = regexp.MustCompile("sha256:([0-9a-f]{64})")
	testNames = regexp.MustCompile("`(Test[A-Za-z]+)`")
)

func TestDocLinks(t *testing.T) {
	files, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"docs/*.md", "docs/decisions/*.md"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range docLink.FindAllStringSubmatch(string(data), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s: the link %s leads nowhere", file, m[1])
			}
		}
	}
}

// Links and code cite a decision by its number, so a number must mean one decision.
func TestDecisionNumbers(t *testing.T) {
	files, err := filepath.Glob("docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		number := fmt.Sprintf("%04d", i+1)
		if !strings.HasPrefix(filepath.Base(file), number+"-") || !strings.HasPrefix(string(data), "# "+number+": ") {
			t.Errorf("%s: name and title must start with %s: decisions are numbered without gaps, each number once", file, number)
		}
		if !strings.Contains(string(data), "\n**Status:** ") {
			t.Errorf("%s: says no status", file)
		}
	}
}

// A guarantee without its test is a promise that nobody keeps.
func TestSecurityNamesRealTests(t *testing.T) {
	data, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := tableRow.FindAllStringSubmatch(string(data), -1)
	if len(rows) == 0 {
		t.Fatal("SECURITY.md has no table of guarantees")
	}
	for _, row := range rows {
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(row[1]), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var source strings.Builder
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(data)
		}
		names := testNames.FindAllStringSubmatch(row[2], -1)
		if len(names) == 0 {
			t.Errorf("no test is named in: %s", row[0])
		}
		for _, name := range names {
			if !strings.Contains(source.String(), "func "+name[1]+"(t *testing.T)") {
				t.Errorf("%s has no test %s", row[1], name[1])
			}
		}
	}
}

// The sample in the README is what make run prints: its signatures are those of committed shapes.
func TestReadmeSample(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, sample, _ := strings.Cut(string(data), "<!-- sample output of make run: begin -->")
	sample, _, _ = strings.Cut(sample, "<!-- sample output of make run: end -->")
	signatures := signature.FindAllStringSubmatch(sample, -1)
	if len(signatures) == 0 {
		t.Fatal("README.md has no sample output with signatures")
	}
	for _, m := range signatures {
		if files, err := filepath.Glob("registry/shapes/*/sha256-" + m[1] + ".shape.json"); err != nil || len(files) == 0 {
			t.Errorf("README.md: no committed shape has the signature %s: paste the output of make run again", m[0])
		}
	}
}

// Who writes a parser finds every reference event and every field of one in the format's table.
func TestDocReferenceEvents(t *testing.T) {
	data, err := os.ReadFile("docs/FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(data), "\n## Replay\n")
	section, _, _ = strings.Cut(section, "\n## ")
	fields := map[string]string{}
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			for _, name := range strings.Split(cells[1], ",") {
				fields[strings.Trim(name, " `")] = cells[2]
			}
		}
	}
	for _, name := range contract.EventName("").Values() {
		if _, ok := fields[name]; !ok {
			t.Errorf("no row for the event %s", name)
		}
	}
	goldens, err := filepath.Glob("registry/goldens/reference/*/*.events.json")
	if err != nil || len(goldens) == 0 {
		t.Fatalf("%d goldens, %v", len(goldens), err)
	}
	missing := map[string]bool{}
	for _, path := range goldens {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		golden, err := replay.DecodeGolden(path, data)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range golden.Events {
			for field := range e.Fields {
				if !strings.Contains(fields[string(e.Event)], "`"+field+"`") {
					missing[string(e.Event)+"."+field] = true
				}
			}
		}
	}
	for name := range missing {
		t.Errorf("the table lacks %s", name)
	}
}
