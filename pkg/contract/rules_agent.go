package contract

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

var agentRules = []Rule{
	ruleFor(KindAgent, "agent/upstream", "An agent ships somewhere.", func(a Agent, report reporter) {
		u := a.Upstreams
		if u.NPM == nil && u.GitHub == nil && u.Homebrew == "" && u.Vendor == "" && a.NotCapturable == "" {
			report("/upstreams", "no upstream is named", "name one of npm, github, homebrew, vendor, or say in not_capturable why there is none")
		}
	}),
	ruleFor(KindAgent, "agent/names", "Aliases, channels and help pages are named once.", func(a Agent, report reporter) {
		for i, alias := range a.Aliases {
			if alias == string(a.ID) {
				report(pointer("aliases", i), "the alias is the id", "remove it")
			}
		}
		unique(a.Channels, func(c Channel) string { return c.Name }, func(i int) {
			report(pointer("channels", i, "name"), "the channel is there already", "name it otherwise")
		})
		unique(a.Help, func(h HelpCommand) string { return h.Command }, func(i int) {
			report(pointer("help", i, "command"), "the help page is there already", "keep one of them")
		})
	}),
	ruleFor(KindAgent, "agent/channels", "A channel is a dist-tag or a pattern.", func(a Agent, report reporter) {
		for i, c := range a.Channels {
			if (c.DistTag == "") == (c.Pattern == "") {
				report(pointer("channels", i), "the channel has neither or both of its two forms", "give exactly one of dist_tag and pattern")
			}
		}
	}),
	ruleFor(KindAgent, "agent/patterns", "Regular expressions compile, and have one group where a version is taken out.", func(a Agent, report reporter) {
		checkPattern("/version_probe/pattern", a.VersionProbe.Pattern, 1, report)
		if a.Upstreams.GitHub != nil {
			checkPattern("/upstreams/github/tag_pattern", a.Upstreams.GitHub.TagPattern, 1, report)
		}
		for i, c := range a.Channels {
			checkPattern(pointer("channels", i, "pattern"), c.Pattern, -1, report)
		}
	}),
	ruleFor(KindAgent, "agent/version-template", "The template of the version line has the version once.", func(a Agent, report reporter) {
		if strings.Count(a.VersionProbe.Template, "{version}") != 1 {
			report("/version_probe/template", "the place of the version is not clear", "write the whole line with {version} once")
		}
	}),
	ruleFor(KindAgent, "agent/version-probe", "The version is asked for in one way.", func(a Agent, report reporter) {
		v := a.VersionProbe
		if (len(v.Argv) == 0) == (v.Handshake == "") {
			report("/version_probe", "the probe has neither or both of its two forms", "give exactly one of argv and handshake")
		}
		if v.Handshake != "" && !slices.ContainsFunc(a.Modes, func(m Mode) bool { return m.ID == v.Handshake && m.Family == FamilyACP }) {
			report("/version_probe/handshake", "the agent has no such mode with a handshake", "name a mode of the family "+string(FamilyACP))
		}
	}),
	ruleFor(KindAgent, "agent/ranges", "Release ranges can be parsed, and no entry stands behind one that matches everything.", checkAgentRanges),
	ruleFor(KindAgent, "agent/install", "An install layout has executables, or a script with a runtime; their paths stay inside the package.", func(a Agent, report reporter) {
		for i, layout := range a.Install {
			checkLayout(pointer("install", i), layout, report)
		}
	}),
	ruleFor(KindAgent, "agent/environment", "Variables have proper names, and one that is passed through is neither set nor secret.", checkEnvironment),
	ruleFor(KindAgent, "agent/home-files", "Files are written inside the isolated home.", func(a Agent, report reporter) {
		check := func(at string, files []HomeFile) {
			for i, file := range files {
				if !relPath.MatchString(file.Path) {
					report(at+pointer("home_files", i, "path"), "the path is not a plain relative one", "write a path with / below the home, without . and .. steps")
				}
			}
		}
		check("", a.HomeFiles)
		for i, mode := range a.Modes {
			for j, form := range mode.MCP {
				check(pointer("modes", i, "mcp_server", j), form.HomeFiles)
			}
		}
	}),
	ruleFor(KindAgent, "agent/live", "A live run names modes of the agent, hosts by name and port, and nothing of a model server.", checkLive),
	ruleFor(KindAgent, "agent/placeholders", "Placeholders are known where they stand.", checkPlaceholders),
	ruleFor(KindAgent, "agent/hosts", "A host's spawn form names a mode of the agent.", func(a Agent, report reporter) {
		for i, host := range a.Hosts {
			declared := slices.ContainsFunc(a.Modes, func(m Mode) bool { return m.ID == host.Mode })
			if !declared && !host.Mode.Implicit() {
				report(pointer("hosts", i, "mode"), "the agent has no such mode", "name a mode of this file, or version, help or models")
			}
		}
	}),
	ruleFor(KindAgent, "agent/holes", "A hole names a mode of the agent, if any, and is there once.", func(a Agent, report reporter) {
		for i, h := range a.Holes {
			if h.Mode != "" && !slices.ContainsFunc(a.Modes, func(m Mode) bool { return m.ID == h.Mode }) {
				report(pointer("holes", i, "mode"), "the agent has no such mode", "name a mode of this file, or leave it out")
			}
		}
		unique(a.Holes, func(h Hole) string { return string(h.Probe) + " " + h.Releases + " " + string(h.Mode) }, func(i int) {
			report(pointer("holes", i), "the hole is there already", "keep one of them")
		})
	}),
}

func checkLayout(at string, layout InstallLayout, report reporter) {
	const remedy = "write a path with / inside the package, without . and .. steps"
	switch script := layout.Script != ""; {
	case script == (len(layout.Bin) > 0):
		report(at, "the layout names neither or both of executables and a script", "give bin for each platform, or script and runtime")
	case script && len(layout.PlatformPackage) > 0:
		report(at+"/platform_package", "a script lies in the package itself", "remove platform_package, or name executables in bin")
	case script != (layout.Runtime != nil):
		report(at+"/runtime", "script and runtime belong together", "give both, or bin for each platform")
	}
	if layout.Script != "" && !relPath.MatchString(layout.Script) {
		report(at+"/script", "the path is not a plain relative one", remedy)
	}
	for _, platform := range slices.Sorted(maps.Keys(layout.Bin)) {
		if !relPath.MatchString(layout.Bin[platform]) {
			report(at+pointer("bin", platform), "the path is not a plain relative one", remedy)
		}
	}
	if r := layout.Runtime; r != nil {
		checkRange(at+"/runtime/range", r.Range, report)
		_, inexact := semver.StrictNewVersion(string(r.Version))
		if in, err := MatchRange(r.Range, string(r.Version)); err == nil && (!in || inexact != nil) {
			report(at+"/runtime/version", "the pinned release is not exact, or outside the range that the CLI runs on", "pin an exact release inside range")
		}
	}
}

// unique calls again for each item whose key occurred before.
func unique[T any](items []T, key func(T) string, again func(i int)) {
	seen := map[string]bool{}
	for i, item := range items {
		if seen[key(item)] {
			again(i)
		}
		seen[key(item)] = true
	}
}

// checkPattern compiles a regular expression; groups is the number that it must have, or -1 for any.
func checkPattern(at, pattern string, groups int, report reporter) {
	re, err := regexp.Compile(pattern)
	switch {
	case err != nil:
		report(at, "the regular expression does not compile", "use the syntax of Go's regexp package (RE2)")
	case groups >= 0 && re.NumSubexp() != groups:
		report(at, "the regular expression has another number of groups", fmt.Sprintf("use %d capturing group, around the version; write others as (?:…)", groups))
	}
}

// checkAgentRanges visits every list in which the first entry with a matching range wins.
func checkAgentRanges(a Agent, report reporter) {
	if npm := a.Upstreams.NPM; npm != nil {
		for i, former := range npm.Former {
			checkRange(pointer("upstreams", "npm", "former", i, "releases"), former.Releases, report)
		}
	}
	firstWins(a.Install, func(l InstallLayout) string { return l.Releases }, "/install", report)
	firstWins(a.ModelAPI, func(m ModelAPI) string { return m.Releases }, "/model_api", report)
	firstWins(a.Models, func(f ModelsForm) string { return f.Releases }, "/models", report)
	for i, file := range a.HomeFiles {
		checkRange(pointer("home_files", i, "releases"), file.Releases, report)
	}
	for i, live := range a.Live {
		checkRange(pointer("live", i, "releases"), live.Releases, report)
		for j, file := range live.HomeFiles {
			checkRange(pointer("live", i, "home_files", j, "releases"), file.Releases, report)
		}
	}
	for i, hole := range a.Holes {
		checkRange(pointer("holes", i, "releases"), hole.Releases, report)
	}
	for i, mode := range a.Modes {
		at := pointer("modes", i)
		checkRange(at+"/releases", mode.Releases, report)
		firstWins(mode.Argv, func(f ArgvForm) string { return f.Releases }, at+"/argv", report)
		firstWins(mode.Dialects, func(d Dialect) string { return d.Releases }, at+"/dialects", report)
		firstWins(mode.Resume, func(f ResumeForm) string { return f.Releases }, at+"/resume", report)
		firstWins(mode.Images, func(f ImageForm) string { return f.Releases }, at+"/images", report)
		firstWins(mode.MCP, func(f MCPForm) string { return f.Releases }, at+"/mcp_server", report)
	}
}

func firstWins[T any](items []T, releases func(T) string, at string, report reporter) {
	all := false
	for i, item := range items {
		checkRange(at+pointer(i, "releases"), releases(item), report)
		if all {
			report(at+pointer(i), "an entry before it matches every release", "put the entry without releases last")
		}
		all = all || strings.TrimSpace(releases(item)) == ""
	}
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

const variableRemedy = "use letters, digits and _, not beginning with a digit"

func checkEnvironment(a Agent, report reporter) {
	names := func(list []string, at string) {
		for i, name := range list {
			if !variableName.MatchString(name) {
				report(at+pointer(i), "the text is no name of a variable", variableRemedy)
			}
		}
	}
	names(a.Environment.Pass, "/environment/pass")
	names(a.Environment.Secrets, "/environment/secrets")
	checkVariables("/environment/set", a.Environment.Set, report)
	for i, mode := range a.Modes {
		checkVariables(pointer("modes", i, "env"), mode.Env, report)
		for j, form := range mode.MCP {
			checkVariables(pointer("modes", i, "mcp_server", j, "env"), form.Env, report)
		}
	}
	for i, name := range a.Environment.Pass {
		if _, set := a.Environment.Set[name]; set || slices.Contains(a.Environment.Secrets, name) {
			report(pointer("environment", "pass", i), "the variable is set or secret as well", "list it in one place: a secret that is passed through would reach a scripted run")
		}
	}
}

func checkVariables(at string, set map[string]string, report reporter) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if !variableName.MatchString(name) {
			report(at+pointer(name), "the key is no name of a variable", variableRemedy)
		}
	}
}

var (
	placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

	argvPlaceholders = []string{"{cwd}", "{home}", "{model}", "{base_url}", "{prompt}", "{prompt_file}"}
	envPlaceholders  = append([]string{"{secret}"}, argvPlaceholders...)
	filePlaceholders = []string{"{base_url}", "{model}", "{cwd}", "{home}", "{secret}"}
	mcpPlaceholders  = []string{"{cwd}", "{home}", "{mcp_server}"}
)

func checkPlaceholders(a Agent, report reporter) {
	check := func(at, text string, known []string) {
		for _, p := range placeholder.FindAllString(text, -1) {
			if !slices.Contains(known, p) {
				report(at, "a placeholder is unknown here", oneOf(known))
				return
			}
		}
	}
	variables := func(at string, set map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			check(at+pointer(name), set[name], envPlaceholders)
		}
	}
	variables("/environment/set", a.Environment.Set)
	for i, file := range a.HomeFiles {
		for j, line := range file.Lines {
			check(pointer("home_files", i, "lines", j), line, filePlaceholders)
		}
	}
	for i, form := range a.Models {
		for j, arg := range form.Argv {
			check(pointer("models", i, "argv", j), arg, modelsPlaceholders)
		}
	}
	for i, mode := range a.Modes {
		variables(pointer("modes", i, "env"), mode.Env)
		for j, form := range mode.Argv {
			for k, arg := range form.Argv {
				check(pointer("modes", i, "argv", j, "argv", k), arg, argvPlaceholders)
			}
		}
		for j, form := range mode.Resume {
			for k, arg := range form.Argv {
				check(pointer("modes", i, "resume", j, "argv", k), arg, append([]string{"{session}"}, argvPlaceholders...))
			}
		}
		for j, form := range mode.Images {
			form.texts(func(at, text string) {
				check(pointer("modes", i, "images", j)+at, text, append(slices.Clone(imagePlaceholders), argvPlaceholders...))
			})
		}
		for j, form := range mode.MCP {
			form.texts(func(at, text string) {
				known := mcpPlaceholders
				if strings.HasPrefix(at, "/home_files/") { // it may stand in place of one of the agent's
					known = append([]string{"{mcp_server}"}, filePlaceholders...)
				}
				check(pointer("modes", i, "mcp_server", j)+at, text, known)
			})
		}
	}
}
