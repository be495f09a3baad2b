package stage

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// Releases lists an agent's releases. Without a network it falls back on what an earlier listing or the checkout saw.
func (s *Stage) Releases(ctx context.Context, agent contract.Agent) (contract.ReleaseList, error) {
	cached := filepath.Join(s.Cache, "releases", string(agent.ID)+".json")
	records, heads, err := s.NPM.Releases(ctx, agent)
	if err == nil {
		list := contract.ReleaseList{SchemaVersion: contract.SchemaVersion, Agent: agent.ID, SeenAt: contract.At(s.Now()), Channels: heads, Releases: records}
		data, err := contract.Marshal(list)
		if err != nil {
			return list, err
		}
		return list, registry.WriteFile(cached, data)
	}
	if data, rerr := os.ReadFile(cached); rerr == nil {
		if list, problems := contract.Decode[contract.ReleaseList](contract.KindReleases, cached, data); len(problems) == 0 {
			s.Progress("releases of %s as seen at %s: %v", agent.ID, list.SeenAt, err)
			return list, nil
		}
	}
	path := contract.RelPath("releases/" + string(agent.ID) + ".json")
	if data, rerr := s.Checkout.Tree.Read(path); rerr == nil {
		if list, problems := contract.Decode[contract.ReleaseList](contract.KindReleases, string(path), data); len(problems) == 0 {
			s.Progress("releases of %s as the registry saw them at %s: %v", agent.ID, list.SeenAt, err)
			return list, nil
		}
	}
	return contract.ReleaseList{}, err
}

// sortProbes puts cheap probes first, so that a broken executable is seen at once.
func sortProbes(probes []contract.Probe) {
	rank := func(p contract.Probe) int {
		switch p.ImplicitMode() {
		case contract.ModeVersion:
			return 0
		case contract.ModeHelp, contract.ModeModels:
			return 1
		}
		return 2
	}
	slices.SortFunc(probes, func(a, b contract.Probe) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a.ID, b.ID)) })
}
