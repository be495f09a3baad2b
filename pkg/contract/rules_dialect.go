package contract

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

var dialectRules = []Rule{
	ruleFor(KindAgent, "dialect/event-type", "A rule that names frames is of one of its two forms.", eachDialect(func(at string, d Dialect, report reporter) {
		for i, r := range d.EventType {
			byPath := r.Path != "" && r.Name == ""
			byKey := r.Has != "" && r.Name != "" && r.Path == "" && r.Then == ""
			if !byPath && !byKey {
				report(at+pointer("event_type", i), "the rule is of no known form", "give path and perhaps then and has, or has and name")
			}
		}
	})),
	ruleFor(KindAgent, "dialect/extends", "A dialect names its frames, or adds to one that does.", func(a Agent, report reporter) {
		for i, m := range a.Modes {
			for j, d := range m.Dialects {
				at := pointer("modes", i, "dialects", j)
				switch {
				case d.Extends == "" && len(d.EventType) == 0:
					report(at, "nothing names the frames", "give event_type")
				case d.Extends != "" && !m.Family.IsRPC():
					report(at+"/extends", "the family has no dialect of its own", "leave it out, and give the whole dialect")
				}
			}
		}
	}),
	ruleFor(KindAgent, "dialect/paths", "Paths are well-formed for the place where they stand.", eachDialect(checkDialectPaths)),
	ruleFor(KindAgent, "dialect/terminal", "What is said about terminal events needs terminal events.", eachDialect(func(at string, d Dialect, report reporter) {
		if len(d.Terminal.Events) == 0 && (d.Terminal.PerTurn != 0 || len(d.Terminal.After) > 0) {
			report(at+"/terminal", "there is no terminal event to count or to follow", "name the events, or leave out per_turn and after")
		}
	})),
	ruleFor(KindAgent, "dialect/conditions", "A value that is asked for has its path.", eachDialect(func(at string, d Dialect, report reporter) {
		for i, e := range d.Events {
			if e.Equals != nil && e.When == "" {
				report(at+pointer("events", i, "equals"), "there is no path whose value could be compared", "name it in when")
			}
		}
	})),
	ruleFor(KindAgent, "dialect/enums", "Declared enum values are named.", eachDialect(func(at string, d Dialect, report reporter) {
		for _, path := range slices.Sorted(maps.Keys(d.Enums)) {
			values := d.Enums[path]
			if len(values) == 0 || slices.ContainsFunc(values, func(v string) bool { return !enumValue.MatchString(v) }) {
				report(at+pointer("enums", path), "a value is missing or does not look like an identifier", "list the values that survive")
			}
		}
	})),
}

// eachDialect makes a check of one dialect one of the whole agent.
func eachDialect(check func(at string, d Dialect, report reporter)) func(Agent, reporter) {
	return func(a Agent, report reporter) {
		for i, mode := range a.Modes {
			for j, dialect := range mode.Dialects {
				check(pointer("modes", i, "dialects", j), dialect, report)
			}
		}
	}
}

var (
	// valuePath leads to one value, through keys only.
	valuePath = regexp.MustCompile(`^\$(?:` + plainStep + `|` + quotedStep + `)*$`)
	// elementPath leads to the elements of an array, all or those of one kind.
	elementPath = regexp.MustCompile(`^\$(?:` + anyStep + `)*\[[A-Za-z0-9._/?-]*\]$`)
	// placePath names a place in all frames; .* at its end stands for everything below.
	placePath = regexp.MustCompile(`^\$(?:` + anyStep + `)*(?:\.\*)?$`)
)

func checkDialectPaths(at string, d Dialect, report reporter) {
	value := func(where, path string) {
		if path != "" && !valuePath.MatchString(path) {
			report(at+where, "the path does not lead to one value", "write it like $.item.type, through keys only, with ['…'] around odd keys")
		}
	}
	place := func(where, path string) {
		if !placePath.MatchString(path) {
			report(at+where, "the path is not well-formed", "write it like $.item.list[].id; .* at the end covers everything below")
		}
	}
	for i, r := range d.EventType {
		value(pointer("event_type", i, "path"), r.Path)
		value(pointer("event_type", i, "then"), r.Then)
		value(pointer("event_type", i, "has"), r.Has)
	}
	for i, e := range d.Events {
		if e.Each != "" && !elementPath.MatchString(e.Each) {
			report(at+pointer("events", i, "each"), "the path does not lead to elements of an array", "write it like $.message.content[text], or with [] where the elements are of one kind")
		}
		// Below an element, a path leads to one value again.
		of := func(path string) string {
			if rest, ok := strings.CutPrefix(path, e.Each); ok && e.Each != "" {
				return "$" + rest
			}
			return path
		}
		value(pointer("events", i, "when"), of(e.When))
		for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
			value(pointer("events", i, "fields", name), of(e.Fields[name]))
		}
	}
	for i, p := range d.Pairs {
		place(pointer("pairs", i, "id"), p.ID)
		if p.CloseID != "" {
			place(pointer("pairs", i, "close_id"), p.CloseID)
		}
	}
	lists := map[string][]string{"opaque": d.Opaque, "maps": d.Maps, "ids": d.IDs, "numbers": d.Numbers, "diagnostics": d.Diagnostics, "base64": d.Base64, "deltas": d.Deltas, "json_deltas": d.JSONDeltas}
	for name, list := range lists {
		for i, path := range list {
			place(pointer(name, i), path)
		}
	}
	for i, u := range d.Unions {
		place(pointer("unions", i, "path"), u.Path)
	}
	for i, rule := range d.Ambient {
		if rule.Path != "" {
			place(pointer("ambient", i, "path"), rule.Path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(d.Enums)) {
		place(pointer("enums", path), path)
	}
}
