package lint

import (
	"bytes"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// overlayFolders are what a stage may hand over. The rest is hand-written, or generated from the merged tree.
var overlayFolders = []string{"observations", "shapes", "fixtures", "goldens", "reports", "releases"}

var overlayRules = []Rule{
	{
		ID: "overlay/folders", Purpose: "A tree over a base holds only what a stage may add.", Severity: Error,
		tree: func(s *state, report reporter) {
			if !s.overlay() {
				return
			}
			for _, file := range s.tree.Files("") {
				folder, _, ok := strings.Cut(file, "/")
				if !ok || !slices.Contains(overlayFolders, folder) {
					report(shown(file), "", "a tree over a base may not hold this file", "hand over only "+strings.Join(overlayFolders, ", "))
				}
			}
		},
	},
	{
		ID: "overlay/immutable", Purpose: "What was published does not change, but for levels that rise, promotions and withdrawals.", Severity: Error,
		tree: func(s *state, report reporter) {
			if !s.overlay() {
				return
			}
			for _, file := range s.tree.Files("") {
				path := contract.RelPath(file)
				if !s.tree.Base().Has(path) || strings.HasPrefix(file, "releases/") || strings.HasPrefix(file, "reports/") {
					continue
				}
				after, err := s.tree.Read(path)
				before, baseErr := s.tree.Base().Read(path)
				if err == nil && baseErr == nil && !mayBecome(file, before, after) {
					report(file, "", "the base holds another file of this name", "leave the file out: the first accepted one stays, and evidence names its hash")
				}
			}
		},
	},
}

// mayBecome reports whether a published file may be replaced by another one.
func mayBecome(file string, before, after []byte) bool {
	if bytes.Equal(before, after) {
		return true
	}
	kind, ok := contract.KindOfPath(file)
	if !ok {
		return false
	}
	switch kind {
	case contract.KindObservation:
		return changed(kind, file, before, after, func(old, fresh *contract.Observation) bool {
			rises := contract.ValidityLevel(fresh.ValidityLevel).Rank() > contract.ValidityLevel(old.ValidityLevel).Rank()
			fresh.ValidityLevel = old.ValidityLevel
			return rises
		})
	case contract.KindShape:
		return changed(kind, file, before, after, func(old, fresh *contract.Shape) bool {
			rises := fresh.ValidityLevel.Rank() > old.ValidityLevel.Rank()
			fresh.ValidityLevel = old.ValidityLevel
			return rises
		})
	case contract.KindEvidence:
		return changed(kind, file, before, after, func(old, fresh *contract.Evidence) bool {
			appends := len(fresh.Promotions) >= len(old.Promotions) && slices.Equal(fresh.Promotions[:len(old.Promotions)], old.Promotions)
			if old.Withdrawn == nil {
				fresh.Withdrawn = nil
			}
			if old.ReproductionURL == nil {
				fresh.ReproductionURL = nil // a promotion brings it
			}
			fresh.Promotions = old.Promotions
			return appends
		})
	}
	return false
}

// changed decodes both files, lets take judge the fields that may change and set them back, and compares the rest.
func changed[T any](kind contract.Kind, file string, before, after []byte, take func(old, fresh *T) bool) bool {
	old, oldProblems := contract.Decode[T](kind, file, before)
	fresh, freshProblems := contract.Decode[T](kind, file, after)
	if len(oldProblems)+len(freshProblems) > 0 {
		return true // what is no record is reported as such
	}
	return take(&old, &fresh) && bytes.Equal(marshal(old), marshal(fresh))
}

func marshal(v any) []byte {
	data, _ := contract.Marshal(v) // what was decoded can be written
	return data
}
