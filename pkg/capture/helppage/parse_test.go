package helppage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// One page in the form of each usual library.
var pages = map[string]struct {
	text string
	want []contract.HelpFlag
}{
	"clap": {`Usage: tool run [OPTIONS] [PROMPT]

Arguments:
  [PROMPT]
          The prompt. With - it comes from standard input

Options:
  -c, --config <key=value>
          Override a value.

          Examples: - ` + "`-c a=1`" + `

      --image <FILE>...
          Files

  -s, --sandbox <MODE>
          Which sandbox
          --this-is-text of the description

          [default: read-only]
          [possible values: read-only, full]

      --approval <POLICY>
          When to ask

          Possible values:
          - never:   Does not ask
            at all
          - on-fail: DEPRECATED: Asks afterwards

  -h, --help
          Print help
`, []contract.HelpFlag{
		{Flag: "--approval", Value: "<POLICY>", Values: []string{"never", "on-fail"}},
		{Flag: "--config", Aliases: []string{"-c"}, Value: "<key=value>"},
		{Flag: "--help", Aliases: []string{"-h"}},
		{Flag: "--image", Value: "<FILE>..."},
		{Flag: "--sandbox", Aliases: []string{"-s"}, Value: "<MODE>", Values: []string{"full", "read-only"}, Default: "read-only"},
	}},
	"clap, one line each": {`Options:
  -m, --model <MODEL>  Model to use
      --json           Print JSON [deprecated]
`, []contract.HelpFlag{
		{Flag: "--json", Deprecated: true},
		{Flag: "--model", Aliases: []string{"-m"}, Value: "<MODEL>"},
	}},
	"commander": {`Usage: tool [options]

Options:
  --add <dirs...>          Folders
  -d, --debug [filter]     Debug. See
      --verbose, which is something else (default: false)
  --format <format>        Format (choices: "text",
                           "json (old)", default: "text")
  --a-very-long-flag-that-has-a-line-of-its-own <value>
      Use with --format=json
                           --print (default: "/home/somebody")
`, []contract.HelpFlag{
		{Flag: "--a-very-long-flag-that-has-a-line-of-its-own", Value: "<value>", Default: "<text>"},
		{Flag: "--add", Value: "<dirs>..."},
		{Flag: "--debug", Aliases: []string{"-d"}, Value: "[filter]", Default: "false"},
		{Flag: "--format", Value: "<format>", Values: []string{"text"}},
	}},
	"yargs": {`Options:
      --version  Show version number                                   [boolean]
  -l, --level    Level      [string] [choices: "LOW", "HIGH"] [default: "LOW"]
      --old      Gone soon (deprecated, use --level)                   [boolean]
      --file     Files                                                   [array]
`, []contract.HelpFlag{
		{Flag: "--file", Value: "<array>..."},
		{Flag: "--level", Aliases: []string{"-l"}, Value: "<string>", Values: []string{"HIGH", "LOW"}, Default: "LOW"},
		{Flag: "--old", Deprecated: true},
		{Flag: "--version"},
	}},
	"oclif": {`FLAGS
  -f, --force           Force
  -s, --size=<option>   [default: small] Size
                        <options: small|large>
      --[no-]color      Colours
      --name=<value>    Name
`, []contract.HelpFlag{
		{Flag: "--[no-]color"},
		{Flag: "--force", Aliases: []string{"-f"}},
		{Flag: "--name", Value: "<value>"},
		{Flag: "--size", Aliases: []string{"-s"}, Value: "<option>", Values: []string{"large", "small"}, Default: "small"},
	}},
	"Go flag": {"Usage of tool:\n  -addr string\n    \tAddress (default \"localhost\")\n  -n int\n    \tCount (default 5)\n  -v\tVerbose\n", []contract.HelpFlag{
		{Flag: "-addr", Value: "<string>", Default: "localhost"},
		{Flag: "-n", Value: "<int>", Default: "5"},
		{Flag: "-v"},
	}},
	"pflag": {`Flags:
  -o, --output string   Format (default "text")
      --timeout duration   Time
`, []contract.HelpFlag{
		{Flag: "--output", Aliases: []string{"-o"}, Value: "<string>", Default: "text"},
		{Flag: "--timeout", Value: "<duration>"},
	}},
	"values of nobody's kind": {`Options:
      --look <DIR>     Look (default: XK9F2-8H3KD-PW7Q4-ZM6T1)
      --team <9f8a7c6b5d4e3f2a1b0c>  Team [possible values: blue, 1b4e28ba-2fa1-41d2-883f-a0b9c3d4e567]
      --9f8a7c6b5d4e3f2a1b0c  Odd
      --bind <HOST>    Address (default: 127.0.0.1)
      --proxy <HOST>   Address (default: 10.20.30.40)
`, []contract.HelpFlag{
		{Flag: "--bind", Value: "<HOST>", Default: "127.0.0.1"},
		{Flag: "--look", Value: "<DIR>", Default: "<text>"},
		{Flag: "--proxy", Value: "<HOST>", Default: "<text>"},
		{Flag: "--team", Value: "<value>", Values: []string{"blue"}},
	}},
	"no flags":  {"tool does things\n- one\n-- two --\n", []contract.HelpFlag{}},
	"in colour": {"  \x1b[1m--loud\x1b[0m  Loud\r\n", []contract.HelpFlag{{Flag: "--loud"}}},
}

func TestParse(t *testing.T) {
	for name, page := range pages {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(page.want, Parse(page.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever a page holds, what is read from it is tokens that a record may hold.
func FuzzParse(f *testing.F) {
	for _, page := range pages {
		f.Add(page.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, flag := range Parse(text) {
			for _, word := range append(append(flag.Aliases, flag.Values...), flag.Flag, flag.Value, strings.Trim(flag.Default, "<>")) {
				if strings.ContainsAny(word, " \t\n\"'") {
					t.Errorf("%q is no token", word)
				}
			}
		}
	})
}
