//go:build integration

package main

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/internal/stage"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/upstream"
)

// The main job with a real CLI: what it makes is whole, and prints what the registry says that this release prints. Then
// the same without a network, from the cache, and with the executable named by hand.
func TestRealRun(t *testing.T) {
	out := t.TempDir()
	var report stage.RunReport
	contracts(t, nil, &report, "run", "codex@0.133.0", "--out", out)
	if report.Plan == nil {
		t.Error("the report holds no plan")
	}
	whole(t, out)
	got := signatures(t, filepath.Join(out, "registry"), "0.133.0")
	agree(t, committed(t, "0.133.0", contract.ModeVersion, contract.ModeHelp, "exec-json"), got)
	for key, signature := range committed(t, "0.133.0") { // a probe may ask for a mode of its own
		if have, ok := got[key]; ok && have != signature {
			t.Errorf("%s: captured %s, the registry has %s", key, have, signature)
		}
	}

	t.Run("offline", func(t *testing.T) {
		out := t.TempDir()
		contracts(t, []string{"npm_config_registry=http://" + closedPort(t) + "/"}, nil, "run", "codex@0.133.0", "--out", out)
		whole(t, out)
		if diff := cmp.Diff(got, signatures(t, filepath.Join(out, "registry"), "0.133.0")); diff != "" {
			t.Errorf("-online +offline\n%s", diff)
		}
	})

	t.Run("bin", func(t *testing.T) {
		out := t.TempDir()
		contracts(t, nil, nil, "capture", "codex@0.133.0", "--bin", cached(t, "codex", "0.133.0"), "--out", out)
		for _, r := range records(t, filepath.Join(out, "registry")) {
			if r.Observation.Install.Source != "manual" || r.Observation.Install.Resolved != nil {
				t.Errorf("%s: install is %+v", r.Path, r.Observation.Install)
			}
		}
		if diff := cmp.Diff(got, signatures(t, filepath.Join(out, "registry"), "0.133.0")); diff != "" {
			t.Errorf("-installed +by hand\n%s", diff)
		}
	})
}

// Every mode of the release prints what the registry says.
func TestRealCaptureOfAMode(t *testing.T) {
	out := t.TempDir()
	contracts(t, nil, nil, "capture", "codex@0.133.0", "--mode", "open-design", "--out", out)
	agree(t, committed(t, "0.133.0", contract.ModeVersion, contract.ModeHelp, "open-design"), signatures(t, filepath.Join(out, "registry"), "0.133.0"))
}

func TestRealCaptureRepeats(t *testing.T) {
	out := t.TempDir()
	var report stage.CaptureReport
	contracts(t, nil, &report, "capture", "codex@0.153.4", "--probe", "chat-tool-success", "--repeat", "3", "--out", out)
	if len(report.Probes) != 1 || report.Probes[0].Runs != 3 {
		t.Fatalf("the report is %+v", report)
	}
	want := committed(t, "0.153.4", "exec-json")["chat-tool-success exec-json"]
	if got := report.Probes[0].Signature; got != want {
		t.Errorf("three runs gave %s, the registry has %s", got, want)
	}
}

// An old release speaks another envelope: no event type of the turn is left in the new one.
func TestRealReleasesDiffer(t *testing.T) {
	out := t.TempDir()
	contracts(t, nil, nil, "capture", "codex@0.42.0", "--probe", "chat-tool-success", "--out", out)
	before := signatures(t, filepath.Join(out, "registry"), "0.42.0")
	if diff := cmp.Diff(committed(t, "0.42.0", "exec-json")["chat-tool-success exec-json"], before["chat-tool-success exec-json"]); diff != "" {
		t.Errorf("-committed +captured\n%s", diff)
	}
	after := committed(t, "0.133.0", "exec-json")
	old, now := eventTypes(t, before["chat-tool-success exec-json"]), eventTypes(t, after["chat-tool-success exec-json"])
	for _, name := range old {
		if slices.Contains(now, name) {
			t.Errorf("both envelopes have %s", name)
		}
	}
}

const checkout = "../.."

// contracts runs the program, which must find nothing amiss, and decodes the one JSON document that it prints.
func contracts(t *testing.T, env []string, into any, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "agent-contracts", append([]string{"--checkout", checkout, "--json"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatalf("agent-contracts %v: %v\n%s", args, err, stderr.String())
	}
	if into == nil {
		into = &json.RawMessage{}
	}
	if err := json.Unmarshal(stdout, into); err != nil {
		t.Fatalf("agent-contracts %v: standard output is not one JSON document: %v", args, err)
	}
}

// whole proves that a run left all of its parts, and that each of them holds.
func whole(t *testing.T, out string) {
	t.Helper()
	contracts(t, nil, nil, "validate", filepath.Join(out, "registry"))
	contracts(t, nil, nil, "validate", filepath.Join(out, "tree"))
	contracts(t, nil, nil, "verify", filepath.Join(out, "package"))
	if text, err := os.ReadFile(filepath.Join(out, "report.md")); err != nil || !strings.Contains(string(text), "0.133.0") {
		t.Errorf("report.md: %v, %d bytes", err, len(text))
	}
}

func records(t *testing.T, dir string) []*registry.Record {
	t.Helper()
	tree, err := registry.OpenTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	all, err := registry.LoadRecords(tree, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Problems) > 0 || len(all.Observations) == 0 {
		t.Fatalf("%s holds %d observations; problems: %v", dir, len(all.Observations), all.Problems)
	}
	return all.Observations
}

// signatures gives the shape of each probe and mode of a release. All observations of the same must agree.
func signatures(t *testing.T, dir string, version contract.CLIVersion, modes ...contract.ModeID) map[string]contract.Hash {
	t.Helper()
	got := map[string]contract.Hash{}
	for _, r := range records(t, dir) {
		o := r.Observation
		if o.Agent != "codex" || o.CLIVersion != version || (len(modes) > 0 && !slices.Contains(modes, o.Command.Mode)) {
			continue
		}
		key := string(o.Probe) + " " + string(o.Command.Mode)
		if have, seen := got[key]; seen && have != r.Shape {
			t.Errorf("%s has two shapes: %s and %s", key, have, r.Shape)
		}
		got[key] = r.Shape
	}
	return got
}

// committed gives what the registry says about modes of a release.
func committed(t *testing.T, version contract.CLIVersion, modes ...contract.ModeID) map[string]contract.Hash {
	t.Helper()
	got := signatures(t, filepath.Join(checkout, "registry"), version, modes...)
	if len(got) == 0 {
		t.Fatalf("the registry has no observation of %s", version)
	}
	return got
}

// agree proves that what the registry says was captured again. Probes that it lacks in a mode are no fault.
func agree(t *testing.T, want, got map[string]contract.Hash) {
	t.Helper()
	for key, signature := range want {
		if got[key] != signature {
			t.Errorf("%s: captured %q, the registry has %s", key, got[key], signature)
		}
	}
}

func eventTypes(t *testing.T, signature contract.Hash) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(checkout, "registry", "shapes", "json-event-stream", strings.Replace(string(signature), ":", "-", 1)+".shape.json"))
	if err != nil {
		t.Fatal(err)
	}
	var shape struct {
		EventTypes []string `json:"event_types"`
	}
	if err := json.Unmarshal(data, &shape); err != nil || len(shape.EventTypes) == 0 {
		t.Fatalf("%s: %v, event types %v", signature, err, shape.EventTypes)
	}
	return shape.EventTypes
}

// cached gives the executable of a release that was installed before.
func cached(t *testing.T, agent, version string) string {
	t.Helper()
	c, err := registry.OpenCheckout(checkout)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Tree.Close()
	a, err := c.Catalog.Agent(agent)
	if err != nil {
		t.Fatal(err)
	}
	dir := os.Getenv("AGENT_CONTRACTS_CACHE")
	if dir == "" {
		if dir, err = stage.DefaultCache(); err != nil {
			t.Fatal(err)
		}
	}
	npm := &upstream.NPM{Command: "no-such-npm", CacheDir: filepath.Join(dir, "installs")}
	got, err := npm.Install(t.Context(), a, version, contract.PlatformOf(runtime.GOOS, runtime.GOARCH))
	if err != nil {
		t.Fatal(err)
	}
	return got.Bin
}

// closedPort gives an address on loopback where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Both sides of an RPC mode: what the host asks, what a real agent asks back, and how its process ends.
func TestRealRPC(t *testing.T) {
	out := t.TempDir()
	contracts(t, nil, nil, "capture", "codex-acp@0.16.0", "--probe", "permission-request", "--out", out)
	got := records(t, filepath.Join(out, "registry"))
	if len(got) != 1 {
		t.Fatalf("%d observations", len(got))
	}
	for _, r := range records(t, filepath.Join(checkout, "registry")) {
		o, have := r.Observation, got[0].Observation
		if o.Agent == have.Agent && o.CLIVersion == have.CLIVersion && o.Probe == have.Probe && o.Command.Mode == have.Command.Mode && o.Platform == have.Platform {
			if o.Shape.Signature != have.Shape.Signature {
				t.Errorf("captured %s, the registry has %s", have.Shape.Signature, o.Shape.Signature)
			}
			return
		}
	}
	t.Error("the registry has no such observation")
}
