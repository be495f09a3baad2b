package lint

import (
	"regexp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

var hashForm = regexp.MustCompile(contract.Hash("").Pattern())

var aliasRules = []Rule{{
	ID: "alias/resolves", Purpose: "An alias leads from a signature that is gone to a shape of the tree.", Severity: Error,
	tree: func(s *state, report reporter) {
		file := string(registry.AliasesPath)
		for old, fresh := range s.records.Aliases {
			switch {
			case !hashForm.MatchString(string(old)) || !hashForm.MatchString(string(fresh)):
				report(file, "", "an entry is no pair of signatures", "write old signature → new signature, both as sha256:<hex>")
			case s.bySignature[old] != nil:
				report(file, "/"+string(old), "the old signature is still that of a shape", "remove the shape that was migrated, or the alias")
			case s.bySignature[s.records.Resolve(old)] == nil:
				report(file, "/"+string(old), "the alias does not lead to a shape of the tree", "name the signature that the shape has now")
			}
		}
	},
}}
