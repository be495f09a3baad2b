package contract

import (
	"regexp"
	"slices"
	"strings"
)

var observationRules = []Rule{
	ruleFor(KindObservation, "observation/cli-version", "An observation names the version that the CLI reported.", func(o Observation, report reporter) {
		if strings.EqualFold(string(o.CLIVersion), "unknown") {
			report("/cli_version", "the version of an observation is never unknown", "write the token that the version probe printed; what was not run is source evidence")
		}
	}),
	ruleFor(KindObservation, "observation/stdin-mode", "RPC families, and only they, have stdin_mode rpc.", func(o Observation, report reporter) {
		checkStdinMode("/command/stdin_mode", o.ProtocolFamily, o.Command.StdinMode, report)
	}),
	ruleFor(KindObservation, "observation/implicit-mode", "The modes version, help and models, which no agent file declares under its modes, are plain/v1.", func(o Observation, report reporter) {
		if o.Command.Mode.Implicit() && o.ProtocolFamily != FamilyPlain {
			report("/protocol_family", "the mode is one of plain text", "write plain/v1 or name another mode")
		}
	}),
	ruleFor(KindObservation, "observation/argv-template", "argv holds placeholders instead of paths of the machine.", func(o Observation, report reporter) {
		for i, arg := range o.Command.ArgvTemplate {
			if machinePath.MatchString(arg) {
				report(pointer("command", "argv_template", i), "the argument holds a path of the machine that ran it", "write a placeholder such as {cwd}, {home} or {prompt_file}")
			}
		}
	}),
	ruleFor(KindObservation, "observation/raw-public", "Raw output is public only where no model had a part in it.", func(o Observation, report reporter) {
		plainRun := o.Command.Mode.Implicit() || (o.Command.Mode == "" && o.Probe == "version-probe")
		if o.Capture.RawArtifactVisibility == RawPublic && !plainRun {
			report("/capture/raw_artifact_visibility", "the raw output of this run may hold model content", oneOf([]ArtifactVisibility{RawPrivate, RawDiscarded}))
		}
	}),
	ruleFor(KindObservation, "observation/shape-path", "The path of the shape follows from family and signature.", func(o Observation, report reporter) {
		checkShapePath("/shape/path", o.ProtocolFamily, o.Shape.Signature, o.Shape.Path, report)
	}),
	ruleFor(KindObservation, "observation/vocabulary", "The lists of the vocabulary are sorted.", func(o Observation, report reporter) {
		if v := o.Shape.Vocabulary; v != nil {
			for name, list := range map[string][]string{"tools": v.Tools, "models": v.Models, "keys": v.Keys, "capabilities": v.Capabilities} {
				if !slices.IsSorted(list) {
					report(pointer("shape", "vocabulary", name), "the list is not sorted", "sort it bytewise")
				}
			}
		}
	}),
	ruleFor(KindObservation, "observation/help", "Help pages belong to the mode help, and their flags are sorted.", func(o Observation, report reporter) {
		if o.Shape.Vocabulary == nil {
			return
		}
		pages := o.Shape.Vocabulary.Help
		if len(pages) > 0 && o.Command.Mode != ModeHelp {
			report("/shape/vocabulary/help", "the run was not of the help command", "write the mode help, or leave the pages out")
		}
		for i, page := range pages {
			if !slices.IsSortedFunc(page.Flags, func(a, b HelpFlag) int { return strings.Compare(a.Flag, b.Flag) }) {
				report(pointer("shape", "vocabulary", "help", i, "flags"), "the flags are not sorted", "sort them bytewise by name")
			}
			unique(page.Flags, func(f HelpFlag) string { return f.Flag }, func(j int) {
				report(pointer("shape", "vocabulary", "help", i, "flags", j), "the flag is there already", "keep one of them")
			})
			if page.Unavailable && len(page.Flags) > 0 {
				report(pointer("shape", "vocabulary", "help", i, "flags"), "a page that is not there has no flags", "leave the flags out, or unavailable")
			}
		}
		unique(pages, func(p HelpPage) string { return p.Command }, func(i int) {
			report(pointer("shape", "vocabulary", "help", i), "the page is there already", "keep one of them")
		})
	}),
	ruleFor(KindObservation, "observation/golden", "A parser result comes with its golden, and a golden with its result.", checkGolden),
}

// machinePath matches absolute paths of at least two steps, also behind "=", and what lies below a home.
var machinePath = regexp.MustCompile(`(?:^|[=:,])(?:/[^/\s]+/|~/|[A-Za-z]:[\\/]|\\\\[^\\\s]+\\)|/(?:home|Users)/|\\Users\\`)

func checkStdinMode(at string, family Family, mode StdinMode, report reporter) {
	switch {
	case family.IsRPC() && mode != StdinRPC:
		report(at, "both sides of this family speak frames", "write rpc, or another protocol_family")
	case !family.IsRPC() && mode == StdinRPC:
		report(at, "this family is no RPC", oneOf([]StdinMode{StdinNone, StdinTextPrompt, StdinJSONLOpen, StdinPromptFile}))
	}
}

func checkShapePath(at string, family Family, signature Hash, path RelPath, report reporter) {
	if path != ShapePath(family, signature) {
		report(at, "the path is not that of the signature in this family", "write shapes/<family without /v1>/sha256-<hex of the signature>.shape.json")
	}
}

// ShapePath is where the shape of a family with a signature lies.
func ShapePath(family Family, signature Hash) RelPath {
	return RelPath("shapes/" + family.Dir() + "/" + signature.FileStem() + ".shape.json")
}

// ReferenceParser is the parser of goldens that this project's own reading of a dialect gave. They are found by
// shape; a ParserReplay speaks of a consumer's parser only.
const ReferenceParser = "reference"

var goldenPath = regexp.MustCompile(`^goldens/([a-z0-9-]+)/([a-z0-9-]+)/(sha256-[0-9a-f]{64})(?:\.([a-z0-9-]+))?\.events\.json$`)

func checkGolden(o Observation, report reporter) {
	replay := o.ParserReplay
	if replay == nil {
		return
	}
	ran := replay.Status != "" && replay.Status != ReplayNotRun
	switch {
	case ran && replay.Golden == nil:
		report("/parser_replay/golden", "a parser ran, but its golden is missing", "name the golden, or write status not_run")
	case !ran && replay.Golden != nil:
		report("/parser_replay/golden", "there is a golden, but no parser ran", "write null, or the status that the parser gave")
	}
	if replay.Golden == nil {
		return
	}
	m := goldenPath.FindStringSubmatch(string(*replay.Golden))
	ofThis := m != nil && m[1] != ReferenceParser && m[2] == o.ProtocolFamily.Dir() && m[3] == o.Shape.Signature.FileStem() && (m[4] == "" || m[4] == string(o.Agent))
	if !ofThis {
		report("/parser_replay/golden", "the path is not that of a consumer's golden of this shape", "write goldens/<parser>/<family without /v1>/sha256-<hex of the signature>[.<agent>].events.json; the parser is a consumer's")
	}
}
