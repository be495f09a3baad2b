package registry_test

import (
	"slices"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// A CLI may join the names of server and tool as no word of a protocol is; a host tells the call by that name.
func TestPolicyKeepsTheNameOfTheMCPTool(t *testing.T) {
	mode := registry.Mode{Family: contract.FamilyJSONEvent, Tools: map[string][]contract.Tool{
		contract.MCPIntent: {{Name: "contracts___lookup"}}, "list-files": {{Name: "secret___tool"}},
	}}
	probe := contract.Probe{Prompt: "x", Expected: &contract.MinEvents{Run: &contract.RunConditions{MCPServer: true}}}
	var c registry.Catalog
	policy, err := c.Policy(contract.Agent{}, mode, "1.0.0", probe)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(policy.Vocabulary, "contracts___lookup") || slices.Contains(policy.Vocabulary, "secret___tool") {
		t.Errorf("vocabulary %q", policy.Vocabulary)
	}
	if policy, err = c.Policy(contract.Agent{}, mode, "1.0.0", contract.Probe{Prompt: "x"}); err != nil || slices.Contains(policy.Vocabulary, "contracts___lookup") {
		t.Errorf("without the server: vocabulary %q, %v", policy.Vocabulary, err)
	}
}
