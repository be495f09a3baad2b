package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
)

// VocabularyChange is a word that a CLI uses for the first time, or no longer. It comes from a CLI: renderers quote it.
type VocabularyChange struct {
	// List is tools, models or keys (of tool input and other opaque values).
	List     string         `json:"list"`
	Word     string         `json:"word"`
	Gone     bool           `json:"gone,omitempty"`
	Severity shape.Severity `json:"severity"`
}

// maxWords bounds the words of one line of a report.
const maxWords = 40

// vocabularyLines puts the changes of one kind on one line each: "tools gone: a, b (breaking)". What comes from a CLI
// goes through quote.
func vocabularyLines(changes []VocabularyChange, quote func(string) string) []string {
	var out []string
	for i := 0; i < len(changes); {
		first, j := changes[i], i
		var words []string
		for ; j < len(changes) && changes[j].List == first.List && changes[j].Gone == first.Gone; j++ {
			if len(words) < maxWords {
				words = append(words, quote(changes[j].Word))
			}
		}
		if more := j - i - len(words); more > 0 {
			words = append(words, fmt.Sprintf("and %d more", more))
		}
		what := "new"
		if first.Gone {
			what = "gone"
		}
		out = append(out, fmt.Sprintf("%s %s: %s (%s)", first.List, what, strings.Join(words, ", "), first.Severity))
		i = j
	}
	return out
}

// wordLists says what the loss of a word does: hosts know tools and their keys by name, a model is only asked for.
var wordLists = []struct {
	name  string
	words func(*contract.Vocabulary) []string
	gone  shape.Severity
}{
	{"tools", func(v *contract.Vocabulary) []string { return v.Tools }, shape.Breaking},
	{"models", func(v *contract.Vocabulary) []string { return v.Models }, shape.Additive},
	{"keys", func(v *contract.Vocabulary) []string { return v.Keys }, shape.Breaking},
	{"capabilities", func(v *contract.Vocabulary) []string { return v.Capabilities }, shape.Breaking},
}

// vocabularyChanges compares the words of two observations. Where the known one recorded none there is nothing to
// compare; a new one without any has lost all, if its backend hears them.
func vocabularyChanges(known, fresh contract.Observation) []VocabularyChange {
	was, is := known.Shape.Vocabulary, fresh.Shape.Vocabulary
	if was == nil || (is == nil && fresh.Capture.Backend != contract.BackendScripted) {
		return nil
	}
	if is == nil {
		is = &contract.Vocabulary{}
	}
	var changes []VocabularyChange
	for _, l := range wordLists {
		before, after := l.words(was), l.words(is)
		if len(before) == 0 && l.name == "capabilities" {
			continue // observations of earlier tools do not hold them
		}
		for _, w := range without(before, after) {
			changes = append(changes, VocabularyChange{l.name, w, true, l.gone})
		}
		for _, w := range without(after, before) {
			changes = append(changes, VocabularyChange{l.name, w, false, shape.Additive})
		}
	}
	return changes
}

// without gives what is in list and not in other.
func without(list, other []string) []string {
	have := make(map[string]bool, len(other))
	for _, v := range other {
		have[v] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(v string) bool { return have[v] })
}
