//go:build integration

package stage_test

import (
	"slices"
	"testing"

	"github.com/open-design/agent-cli-contracts/internal/stage"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// This release looks its vendor's host up although it is pointed at the model server. The record says so, and the run is an
// observation all the same.
func TestRealEgressAttempt(t *testing.T) {
	s := openReal(t)
	if _, err := s.Capture(t.Context(), stage.CaptureRequest{Selector: "codex@0.98.0:chat-text-success", Repeat: 1}); err != nil {
		t.Fatal(err)
	}
	if got := evidence(t, s).Isolation.EgressAttempts; !slices.Equal(got, []string{"api.openai.com"}) {
		t.Errorf("attempts %q", got)
	}
}

// evidence is the record of the one run that a stage has captured.
func evidence(t *testing.T, s *stage.Stage) contract.Evidence {
	t.Helper()
	tree, err := registry.OpenTree(s.Out + "/registry")
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close() //nolint:errcheck // read only
	for _, p := range tree.Files("observations/") {
		if kind, _ := contract.KindOfPath(p); kind != contract.KindEvidence {
			continue
		}
		data, err := tree.Read(contract.RelPath(p))
		if err != nil {
			t.Fatal(err)
		}
		e, problems := contract.Decode[contract.Evidence](contract.KindEvidence, p, data)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return e
	}
	t.Fatal("no evidence")
	return contract.Evidence{}
}
