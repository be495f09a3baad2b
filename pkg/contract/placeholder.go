package contract

import (
	"maps"
	"slices"
	"strings"
)

// Placeholders fills {name} with the value of that name. Values are inserted as they are and not filled again.
func Placeholders(vars map[string]string) *strings.Replacer {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		pairs = append(pairs, "{"+name+"}", vars[name])
	}
	return strings.NewReplacer(pairs...)
}

// FillJSON copies a JSON value deeply and fills the placeholders of its strings. A nil object becomes an empty one.
func FillJSON(v any, fill *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return fill.Replace(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = FillJSON(e, fill)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = FillJSON(e, fill)
		}
		return out
	}
	return v
}
