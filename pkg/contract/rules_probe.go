package contract

import (
	"maps"
	"slices"
	"strings"
)

// The rules of a probe's parts run on each part alone and on the whole probe.
var probeRules = slices.Concat(
	partRules(KindMinEvents, "expected_min_events", func(p Probe) *MinEvents { return p.Expected }, slices.Concat(minEventsChecks, conditionChecks)),
	conditionRules,
	partRules(KindEnvPolicy, "env_policy", func(p Probe) *EnvPolicy { return p.EnvPolicy }, envPolicyChecks),
	partRules(KindScript, "script", func(p Probe) *Script { return p.Script }, scriptChecks),
	partRules(KindHostPolicy, "host", func(p Probe) *HostPolicy { return p.Host }, hostPolicyChecks),
	[]Rule{ruleFor(KindProbe, "probe/files", "Fixture files lie in the probe's workspace.", func(p Probe, report reporter) {
		for _, name := range slices.Sorted(maps.Keys(p.Files)) {
			if !relPath.MatchString(name) {
				report(pointer("fixture_files", name), "the name is not a plain relative path", "write a path with / inside the workspace, without . and .. steps")
			}
		}
	})},
)

// partCheck is one rule about one part of a probe.
type partCheck[T any] struct {
	id, purpose string
	check       func(T, reporter)
}

// partRules makes each check a rule of the part's own kind and of the whole probe, where its place is a field.
func partRules[T any](kind Kind, field string, part func(Probe) *T, checks []partCheck[T]) []Rule {
	var rules []Rule
	for _, c := range checks {
		rules = append(rules, Rule{ID: c.id, Purpose: c.purpose, Kinds: []Kind{kind, KindProbe}, check: func(record any, report reporter) {
			if whole, ok := record.(Probe); ok {
				if p := part(whole); p != nil {
					c.check(*p, func(at, message, remedy string) { report("/"+field+at, message, remedy) })
				}
				return
			}
			c.check(record.(T), report)
		}})
	}
	return rules
}

var minEventsChecks = []partCheck[MinEvents]{
	{"probe/events", "An event is expected in one way, once.", func(m MinEvents, report reporter) {
		seen := map[EventName]bool{}
		for _, list := range []struct {
			field  string
			events []EventName
		}{{"must_see", m.MustSee}, {"optional", m.Optional}} {
			for i, event := range list.events {
				if seen[event] {
					report(pointer(list.field, i), "the event is listed twice", "list it once, in must_see or in optional")
				}
				seen[event] = true
			}
		}
		forbidden := map[FindingName]bool{}
		for i, finding := range m.Forbidden {
			if forbidden[finding] {
				report(pointer("forbidden", i), "the finding is listed twice", "list it once")
			}
			forbidden[finding] = true
		}
	}},
	{"probe/time-limits", "No part of a run is given more time than the whole.", func(m MinEvents, report reporter) {
		m.applyDefaults() // of the copy, which shares nothing that it changes
		if m.TimeLimits.FirstByte > m.TimeLimits.Total {
			report("/time_limits/first_byte", "the limit is longer than total", "make it at most total")
		}
		if m.TimeLimits.Inactivity > m.TimeLimits.Total {
			report("/time_limits/inactivity", "the limit is longer than total", "make it at most total")
		}
	}},
}

var envPolicyChecks = []partCheck[EnvPolicy]{
	{"probe/environment", "Variables have proper names and are set or unset, not both.", func(e EnvPolicy, report reporter) {
		checkVariables("/set", e.Set, report)
		for i, name := range e.Unset {
			if name != "{secrets}" && !variableName.MatchString(name) {
				report(pointer("unset", i), "the text is no name of a variable", variableRemedy+", or write {secrets}")
			}
			if _, set := e.Set[name]; set {
				report(pointer("unset", i), "the variable is set as well", "list it in one place")
			}
		}
	}},
}

var scriptChecks = []partCheck[Script]{
	{"probe/step", "A step of a script gives exactly one answer.", func(s Script, report reporter) {
		for i, step := range s.Steps {
			answers := 0
			for _, given := range []bool{len(step.Text) > 0, step.Tool != nil, step.Error != nil, step.Drop != nil, step.Stall != nil, step.Empty} {
				if given {
					answers++
				}
			}
			if answers != 1 {
				report(pointer("steps", i), "the step has no answer, or several", "give exactly one of text, tool, error, drop, stall, empty")
			}
		}
	}},
	{"probe/repeat", "Only the last step repeats.", func(s Script, report reporter) {
		for i, step := range s.Steps[:len(s.Steps)-1] {
			if step.Repeat {
				report(pointer("steps", i, "repeat"), "the steps after it are never reached", "repeat the last step only")
			}
		}
	}},
	{"probe/text", "Text answers say something.", func(s Script, report reporter) {
		for i, step := range s.Steps {
			if len(step.Text) > 0 && strings.TrimSpace(strings.Join(step.Text, "")) == "" {
				report(pointer("steps", i, "text"), "the text is blank", "write text, or use empty for an answer without content")
			}
		}
	}},
}
