package registry

import (
	"maps"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// BuildIndex summarises the agent files as agents.json has it: sorted by id. The modes version and help, which every
// agent has, and their family are not listed.
func BuildIndex(c *Catalog) contract.AgentIndex {
	index := contract.AgentIndex{SchemaVersion: contract.SchemaVersion, Agents: []contract.AgentIndexEntry{}}
	for _, id := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[id]
		entry := contract.AgentIndexEntry{
			ID: a.ID, Name: a.Name, Aliases: a.Aliases, Tier: a.Tier, CredentialModel: a.CredentialModel,
			FreshnessDays: a.FreshnessDays, RangePolicy: a.RangePolicy, NotCapturable: a.NotCapturable,
		}
		families := map[contract.Family]bool{}
		for _, m := range a.Modes {
			families[m.Family] = true
			entry.Modes = append(entry.Modes, m.ID)
		}
		entry.ProtocolFamilies = inOrder[contract.Family](families)
		index.Agents = append(index.Agents, entry)
	}
	return index
}

// enum is a string type that lists its values.
type enum interface {
	~string
	Values() []string
}

// inOrder lists a set in the order of its enum.
func inOrder[E enum](set map[E]bool) []E {
	var zero E
	var out []E
	for _, v := range zero.Values() {
		if set[E(v)] {
			out = append(out, E(v))
		}
	}
	return out
}
