package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

var claimRules = []Rule{
	{
		ID: "claim/resolves", Purpose: "Every public claim leads to stored observations, and its evidence exists.", Severity: Error,
		tree: func(s *state, report reporter) {
			judged := s.backing()
			s.eachClaim(func(at string, e contract.MatrixEntry) {
				for i, shape := range e.ObservedShapes {
					backed := slices.ContainsFunc(judged[shape.Shape], func(o contract.Observation) bool {
						return o.Agent == e.Agent && registry.Covers(e, o.CLIVersion, o.Platform)
					})
					if !backed {
						report(string(registry.MatrixPath), fmt.Sprintf("%s/observed_shapes/%d", at, i), "no observation of the agent in these ranges and platforms has the shape", generateRemedy)
					}
					exists := slices.ContainsFunc(contract.Family("").Values(), func(f string) bool {
						return s.tree.Has(registry.ShapePath(contract.Family(f), s.records.Resolve(shape.Shape)))
					})
					if !exists {
						report(string(registry.MatrixPath), fmt.Sprintf("%s/observed_shapes/%d/shape", at, i), "the shape is not in the tree", "add the shape, or withdraw its observations and generate the matrix again")
					}
				}
				for i, breaking := range e.KnownBreakingShapes {
					for _, link := range breaking.Evidence {
						if !strings.HasPrefix(link, "https://") && !s.tree.Has(contract.RelPath(link)) {
							report(string(registry.MatrixPath), fmt.Sprintf("%s/known_breaking_shapes/%d/evidence", at, i), "the path is not in the tree", "name a file of the registry, or an https address")
						}
					}
				}
			})
		},
	},
	{
		ID: "claim/level", Purpose: "What was only derived, documented or built by hand backs no claim.", Severity: Error,
		tree: func(s *state, report reporter) {
			s.eachClaim(func(at string, e contract.MatrixEntry) {
				for i, shape := range e.ObservedShapes {
					f := s.bySignature[s.records.Resolve(shape.Shape)]
					if f != nil && f.shape.ValidityLevel.Rank() < contract.ServerVariant.Rank() {
						report(string(registry.MatrixPath), fmt.Sprintf("%s/observed_shapes/%d/shape", at, i), "the level of the shape backs no claim", "claim only what an observation shows")
					}
				}
			})
		},
	},
	{
		ID: "claim/range", Purpose: "A range spans no release that was seen and is not covered.", Severity: Warning,
		tree: func(s *state, report reporter) {
			covered := map[contract.AgentID]map[contract.CLIVersion]bool{}
			for _, list := range s.backing() {
				for _, o := range list {
					if covered[o.Agent] == nil {
						covered[o.Agent] = map[contract.CLIVersion]bool{}
					}
					covered[o.Agent][o.CLIVersion] = true
				}
			}
			s.eachClaim(func(at string, e contract.MatrixEntry) {
				for i, rng := range e.VersionRanges {
					for _, release := range s.records.Releases[e.Agent].Releases {
						if ok, err := contract.MatchRange(rng, string(release.Version)); err == nil && ok && !covered[e.Agent][release.Version] {
							report(string(registry.MatrixPath), fmt.Sprintf("%s/version_ranges/%d", at, i), "the range spans a release that was seen and is not covered", "end the range before it, or capture the release")
							break
						}
					}
				}
			})
		},
	},
}

func (s *state) eachClaim(visit func(at string, e contract.MatrixEntry)) {
	m, ok := s.matrix()
	if !ok || s.catalog == nil {
		return
	}
	for i, e := range m.Agents {
		visit(fmt.Sprintf("/agents/%d", i), e)
	}
}

// backing lists the observations that may stand behind a claim, by shape; variants may stand behind one of theirs.
func (s *state) backing() map[contract.Hash][]contract.Observation {
	backing := map[contract.Hash][]contract.Observation{}
	if s.catalog == nil {
		return backing
	}
	for _, j := range s.records.Judge(s.catalog) {
		if j.Reason == "" || contract.ValidityLevel(j.Observation.ValidityLevel) == contract.ServerVariant {
			backing[j.Shape] = append(backing[j.Shape], j.Observation)
		}
	}
	return backing
}
