package registry

import (
	"errors"
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

// An RPC mode has the dialect of its family, or one that extends it; its probes need a host who answers, and it needs no
// version command.
func TestResolveModeRPC(t *testing.T) {
	agent := contract.Agent{ID: "fake", VersionProbe: contract.VersionProbe{Handshake: "acp"}, Modes: []contract.Mode{
		{
			ID: "acp", Default: true, Family: contract.FamilyACP, Transport: contract.TransportJSONRPC, StdinMode: contract.StdinRPC, Client: "host", AuthWith: "key", Selects: true,
			Argv: []contract.ArgvForm{{Argv: []string{"acp"}}},
			Dialects: []contract.Dialect{
				{Name: "new", Releases: ">=2.0.0", Extends: "family", Ambient: []contract.AmbientRule{{EventType: "session/update/usage_update", Reason: "r"}}, Events: []contract.EventRule{}},
			},
		},
		{ID: "print", Family: contract.FamilyPlain, Transport: contract.TransportPlain, StdinMode: contract.StdinNone, Argv: []contract.ArgvForm{{Argv: []string{"print"}}}},
	}}
	for version, ambient := range map[contract.CLIVersion]bool{"1.0.0": false, "2.0.0": true} {
		m, err := VersionMode(agent, version)
		if err != nil {
			t.Fatal(err)
		}
		if m.ID != "acp" || m.Client != "host" || m.Authenticate != "key" || !m.SelectModel || m.Dialect.Ambient("session/update/usage_update") != ambient || !m.Dialect.Terminal("response/session/prompt") {
			t.Errorf("%s: %+v", version, m)
		}
	}
	if _, err := ResolveMode(agent, contract.ModeVersion, "1.0.0"); err == nil {
		t.Error("an agent without a version command has a mode of it")
	}
	asks := contract.Probe{ID: "permission-request", Host: &contract.HostPolicy{}}
	if m, err := ProbeMode(agent, "", "1.0.0", asks); err != nil || m.ID != "acp" {
		t.Error(m.ID, err)
	}
	if _, err := ProbeMode(agent, "print", "1.0.0", asks); err == nil {
		t.Error("a host answers in a mode without frames")
	}
	if Fits(agent, contract.Probe{Expected: &contract.MinEvents{Kind: "version"}}) {
		t.Error("the version probe fits an agent without a version command")
	}
}

// An agent without a model API is captured only in probes that need none.
func TestFitsWithoutModelAPI(t *testing.T) {
	agent := contract.Agent{Modes: []contract.Mode{{ID: "print", StdinMode: contract.StdinNone}}}
	for requests, fits := range map[string]bool{"": false, "required": false, "optional": true} {
		if got := Fits(agent, contract.Probe{Script: &contract.Script{Requests: requests}}); got != fits {
			t.Errorf("requests %q: fits %v, want %v", requests, got, fits)
		}
	}
}

// The version, help and models commands show nothing of a behaviour.
func TestImplicitModesFitTheirOwnKind(t *testing.T) {
	agent := contract.Agent{ID: "fake", VersionProbe: contract.VersionProbe{Argv: []string{"--version"}}, Models: []contract.ModelsForm{{Argv: []string{"models"}}},
		ModelAPI: []contract.ModelAPI{{Dialect: "openai-responses", Model: "m"}}}
	kind := func(k contract.ModeID) contract.Probe {
		return contract.Probe{ID: contract.ProbeID(k), Expected: &contract.MinEvents{Kind: string(k)}}
	}
	implicit := []contract.ModeID{contract.ModeVersion, contract.ModeHelp, contract.ModeModels}
	for _, mode := range implicit {
		for _, probe := range append(implicit, "run") {
			_, err := ProbeMode(agent, mode, "1.0.0", kind(probe))
			var unfit *UnfitError
			if fits := mode == probe; fits != (err == nil) || !fits && !errors.As(err, &unfit) || fits != RunsIn(kind(probe), mode) {
				t.Errorf("probe %s in mode %s: %v", probe, mode, err)
			}
		}
	}
	if RunsIn(kind(contract.ModeHelp), "exec") || !RunsIn(kind("run"), "exec") || !RunsIn(kind("host"), contract.ModeHelp) {
		t.Error("a mode of the agent's own is of the wrong kind")
	}
}
