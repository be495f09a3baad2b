package capture

import (
	"fmt"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/modelserver"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
)

// vetNames puts the names that a CLI told the model server through the second gate, and leaves out what does not read like a
// name: they become vocabulary, which is public, and messages quote them.
func vetNames(report *modelserver.Report, scanner *scan.Scanner) error {
	odd := 0
	for _, list := range []struct {
		what  string
		names *[]string
	}{{"tools", &report.Offered}, {"models", &report.Models}} {
		for i, name := range *list.names {
			if hits := scanner.Scan([]byte(name)); len(hits) > 0 {
				return &redact.Failure{
					Rule: "scan/" + hits[0].Rule, Path: fmt.Sprintf("$.shape.vocabulary.%s[%d]", list.what, i),
					Remedy: "a name that the CLI told the model server matches a secret rule: the run cannot be published",
				}
			}
		}
		all := len(*list.names)
		*list.names = slices.DeleteFunc(*list.names, func(name string) bool { return !protocol.IsName(name) })
		odd += all - len(*list.names)
	}
	if odd > 0 {
		report.Findings = append(report.Findings, modelserver.Finding{Kind: modelserver.FindingOddName, Count: odd})
	}
	return nil
}
