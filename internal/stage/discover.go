package stage

import (
	"context"
	"path/filepath"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/discover"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// Discover lists the releases of the agents (all of them without a name) and says which are not covered. An agent whose
// releases cannot be listed is part of the plan, with the reason. With Out, the lists become records of an overlay there.
// The error is a *FoundError where the plan holds drift.
func (s *Stage) Discover(ctx context.Context, agents []string) (*discover.Plan, error) {
	if len(agents) == 0 {
		for id := range s.Checkout.Catalog.Agents {
			agents = append(agents, string(id))
		}
	}
	opts := discover.Options{Now: s.Now(), Unreachable: map[contract.AgentID]string{}}
	var lists []contract.ReleaseList
	for _, name := range agents {
		agent, err := s.Checkout.Catalog.Agent(name)
		if err != nil {
			return nil, err
		}
		opts.Agents = append(opts.Agents, agent.ID)
		if agent.NotCapturable != "" {
			continue
		}
		s.Progress("listing the releases of %s", agent.ID)
		list, err := s.Releases(ctx, agent)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			opts.Unreachable[agent.ID] = err.Error()
			continue
		}
		lists = append(lists, list)
	}
	if err := s.writeReleases(lists); err != nil {
		return nil, err
	}
	plan, err := discover.Unseen(s.Checkout.Catalog, s.Checkout.Tree, lists, opts)
	if err != nil {
		return nil, err
	}
	if err := plan.Unknown(); err != nil {
		return plan, err
	}
	if plan.Drift() {
		return plan, Found("%s", plan.Summary())
	}
	return plan, nil
}

func (s *Stage) writeReleases(lists []contract.ReleaseList) error {
	if s.Out == "" {
		return nil
	}
	for _, list := range lists {
		data, err := contract.Marshal(list)
		if err != nil {
			return err
		}
		if err := registry.WriteFile(filepath.Join(s.Out, outRegistry, "releases", string(list.Agent)+".json"), data); err != nil {
			return err
		}
	}
	return nil
}
