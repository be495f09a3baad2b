// Package modellist reads the ids of models from what a listing command printed. Only what looks like the id of a model, at
// the place that the agent's file names, leaves it.
package modellist

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
)

// List is what a listing names.
type List struct {
	// Models are the ids, sorted.
	Models []string
	// Dropped counts texts at the place of an id that are none.
	Dropped int
}

// maxModels bounds a list: more is no catalog that a person chooses from.
const maxModels = 5000

// Read reads a listing in a form that the agent's file gives.
func Read(text []byte, form contract.ModelsForm) (List, error) {
	text = escapes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r"), nil), nil)
	var found []string
	if form.JSON != "" {
		found = inJSON(text, form.Steps())
	} else {
		pattern, err := form.Pattern()
		if err != nil {
			return List{}, err
		}
		found = inLines(text, pattern, form.Below)
	}
	seen := map[string]bool{}
	var out List
	for _, id := range found {
		switch {
		case seen[id]:
		case !protocol.IsName(id) || len(out.Models) == maxModels:
			out.Dropped++
		default:
			out.Models = append(out.Models, id)
		}
		seen[id] = true
	}
	slices.Sort(out.Models)
	return out, nil
}

// escapes are the colours of a terminal.
var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

// inLines gives what the group of the pattern took of each line of the list.
func inLines(text []byte, pattern *regexp.Regexp, below string) []string {
	var out []string
	inside := below == ""
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\n")
		switch {
		case !inside:
			inside = string(bytes.TrimSpace(line)) == below
		case below != "" && len(bytes.TrimSpace(line)) == 0:
			return out
		default:
			if m := pattern.FindSubmatch(line); m != nil && m[1] != nil {
				out = append(out, string(m[1]))
			}
		}
	}
	return out
}

// inJSON gives the texts at a path of a text that is JSON, or of each of its lines that is.
func inJSON(text []byte, steps []string) []string {
	var node any
	if json.Unmarshal(text, &node) == nil {
		return at(node, steps, nil)
	}
	var out []string
	for line := range bytes.Lines(text) {
		if json.Unmarshal(line, &node) == nil {
			out = at(node, steps, out)
		}
	}
	return out
}

func at(node any, steps, out []string) []string {
	if len(steps) == 0 {
		if id, ok := node.(string); ok {
			return append(out, id)
		}
		return out
	}
	if steps[0] == "[]" {
		list, _ := node.([]any)
		for _, element := range list {
			out = at(element, steps[1:], out)
		}
		return out
	}
	members, _ := node.(map[string]any)
	if member, ok := members[steps[0]]; ok {
		return at(member, steps[1:], out)
	}
	return out
}
