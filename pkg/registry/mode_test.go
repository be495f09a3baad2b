package registry

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// A mode that shares the output of another shares everything that the model server and the reader need.
func TestResolveModeOutputOf(t *testing.T) {
	agent := contract.Agent{ID: "fake", Modes: []contract.Mode{
		{
			ID: "print", Default: true, Family: contract.FamilyJSONEvent, Transport: contract.TransportJSONL, StdinMode: contract.StdinNone,
			Argv:     []contract.ArgvForm{{Argv: []string{"print"}}},
			Dialects: []contract.Dialect{{Name: "fake", EventType: []contract.EventTypeRule{{Path: "$.type"}}}},
			Tools:    map[string][]contract.Tool{"list-files": {{Name: "ls"}}},
			Side:     []contract.SideRequest{{Purpose: "a title", WithoutTools: true, Answer: "Title"}},
		},
		{
			ID: "host", Family: contract.FamilyJSONEvent, Transport: contract.TransportJSONL, StdinMode: contract.StdinTextPrompt,
			Argv: []contract.ArgvForm{{Argv: []string{"host"}}}, OutputOf: "print",
		},
	}}
	own, err := ResolveMode(agent, "", "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	shared, err := ResolveMode(agent, "host", "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if own.ID != "print" || len(own.Side) != 1 {
		t.Errorf("default mode %s with %d side requests", own.ID, len(own.Side))
	}
	if diff := cmp.Diff(own.Tools, shared.Tools) + cmp.Diff(own.Side, shared.Side) + cmp.Diff(own.Dialect.Hash, shared.Dialect.Hash); diff != "" {
		t.Errorf("output_of (-own +shared):\n%s", diff)
	}
}
