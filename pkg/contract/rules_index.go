package contract

import (
	"regexp"
	"slices"
	"strings"
)

var indexRules = []Rule{
	ruleFor(KindAgentsIndex, "agents-index/order", "The index lists each agent once, sorted by id.", func(index AgentIndex, report reporter) {
		for i := 1; i < len(index.Agents); i++ {
			if index.Agents[i-1].ID >= index.Agents[i].ID {
				report(pointer("agents", i, "id"), "the entry is out of order or there twice", "generate the index again")
			}
		}
	}),
}

var releaseRules = []Rule{
	ruleFor(KindReleases, "releases/unique", "A release is listed once for each channel and upstream, and a channel once.", func(list ReleaseList, report reporter) {
		heads := map[string]bool{}
		for i, head := range list.Channels {
			if heads[head.Name] {
				report(pointer("channels", i, "name"), "the channel is listed twice", "keep its current release")
			}
			heads[head.Name] = true
		}
		seen := map[[3]string]bool{}
		for i, release := range list.Releases {
			key := [3]string{string(release.Version), release.Channel, release.Upstream}
			if seen[key] {
				report(pointer("releases", i), "the release is listed twice", "keep one entry")
			}
			seen[key] = true
		}
	}),
}

// HoleTypes are the types that a hole of a diagnostic template may have.
func HoleTypes() []string {
	return []string{"int", "duration", "url", "path", "id", "text", "literal", "version", "enum", "http-reason", "template"}
}

var holeName = regexp.MustCompile(`\{([A-Za-z0-9_-]+)\}`)

var diagnosticsRules = []Rule{
	ruleFor(KindDiagnostics, "diagnostics/unique", "Each template has an id of its own.", func(d Diagnostics, report reporter) {
		seen := map[string]bool{}
		for i, t := range d.Templates {
			if seen[t.ID] {
				report(pointer("templates", i, "id"), "the id is there already", "name the template otherwise, or merge the two")
			}
			seen[t.ID] = true
		}
	}),
	ruleFor(KindDiagnostics, "diagnostics/holes", "The holes of the text are the declared ones, and their types are known.", func(d Diagnostics, report reporter) {
		for i, t := range d.Templates {
			inText := map[string]bool{}
			for _, m := range holeName.FindAllStringSubmatch(t.Text, -1) {
				inText[m[1]] = true
				if _, ok := t.Holes[m[1]]; !ok {
					report(pointer("templates", i, "text"), "a hole of the text has no type", "declare each {hole} in holes")
				}
			}
			for name, holeType := range t.Holes {
				at := pointer("templates", i, "holes", name)
				if !inText[name] {
					report(at, "the text has no such hole", "write it as {hole} in the text, or remove it")
				}
				if !slices.Contains(HoleTypes(), holeType) {
					report(at, "the type of the hole is unknown", oneOf(HoleTypes()))
				}
			}
		}
	}),
	ruleFor(KindDiagnostics, "diagnostics/literal", "A template has literal text, so that it does not match everything.", func(d Diagnostics, report reporter) {
		for i, t := range d.Templates {
			if len(strings.Join(strings.Fields(holeName.ReplaceAllString(t.Text, " ")), "")) < 4 {
				report(pointer("templates", i, "text"), "the text has next to nothing but holes", "keep at least four literal characters")
			}
		}
	}),
	ruleFor(KindDiagnostics, "diagnostics/ranges", "Release ranges can be parsed.", func(d Diagnostics, report reporter) {
		for i, t := range d.Templates {
			checkRange(pointer("templates", i, "releases"), t.Releases, report)
		}
	}),
}

func checkRange(at, rng string, report reporter) {
	if !ValidRange(rng) {
		report(at, "the text is no version range", rangeRemedy)
	}
}
