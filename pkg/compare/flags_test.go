package compare

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func TestFlagChanges(t *testing.T) {
	help := func(pages ...contract.HelpPage) contract.Observation {
		return contract.Observation{Shape: contract.ObservedShape{Vocabulary: &contract.Vocabulary{Help: pages}}}
	}
	known := help(
		contract.HelpPage{Flags: []contract.HelpFlag{
			{Flag: "--color", Value: "<WHEN>", Values: []string{"always", "never"}, Default: "always"},
			{Flag: "--gone", Aliases: []string{"-g"}}, {Flag: "--json"}, {Flag: "--model", Aliases: []string{"-m"}, Value: "<MODEL>"},
			{Flag: "--old-name", Value: "<X>"}, {Flag: "--yolo"},
		}},
		contract.HelpPage{Command: "exec"}, contract.HelpPage{Command: "new", Unavailable: true}, contract.HelpPage{Command: "only here"},
	)
	fresh := help(
		contract.HelpPage{Flags: []contract.HelpFlag{
			{Flag: "--added"}, {Flag: "--color", Value: "<COLOR>", Values: []string{"auto", "never"}, Default: "auto"},
			{Flag: "--json", Value: "[format]", Deprecated: true}, {Flag: "--model", Value: "<NAME>"}, {Flag: "--new-name", Aliases: []string{"--old-name"}, Value: "<X>"},
		}},
		contract.HelpPage{Command: "exec", Unavailable: true}, contract.HelpPage{Command: "new"}, contract.HelpPage{Command: "another"},
	)
	plain := func(s string) string { return s }
	got := flagLines(flagChanges(known, fresh, []contract.ForbiddenFlag{{Flag: "--yolo"}}), plain)
	want := []string{
		"help: --gone removed (breaking)",
		"help: --yolo removed (breaking, forbidden by the agent file)",
		"help: -g removed (breaking)",
		"help: -m removed (breaking)",
		"help: --added added (additive)",
		"help: --color value changed: always → auto (breaking)",
		"help: --color default changed: always → auto (additive)",
		"help: --json deprecated (additive)",
		"help: --json value changed: none → [format] (breaking)",
		"help: --new-name added (additive)",
		"exec help page gone (breaking)",
		"new help page new (additive)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if same := flagChanges(known, known, nil); len(same) > 0 {
		t.Errorf("against itself: %v", same)
	}
	if strings.Contains(strings.Join(got, "\n"), "only here") {
		t.Error("a page that nobody asked for is no change")
	}
}
