package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func TestReleases(t *testing.T) {
	world := fixtureWorld()
	releases, heads, err := newFake(t, world).Releases(t.Context(), fixtureAgent())
	if err != nil {
		t.Fatal(err)
	}
	want := []contract.ReleaseRecord{
		{Version: "2.1.0-alpha.1", Channel: "preview", Upstream: "npm"},
		{Version: "2.0.0", Channel: "stable", Upstream: "npm", PublishedAt: "2026-03-02T03:04:05Z"},
		{Version: "1.10.0", Channel: "stable", Upstream: "npm", Deprecated: true},
		{Version: "1.9.0", Channel: "stable", Upstream: "npm", PublishedAt: "2026-01-02T03:04:05Z"},
	}
	if diff := cmp.Diff(want, releases); diff != "" {
		t.Errorf("releases (-want +got):\n%s", diff)
	}
	wantHeads := []contract.ChannelHead{
		{Name: "stable", Version: "2.0.0"}, {Name: "preview", Version: "2.1.0-alpha.1"}, {Name: "latest", Version: "1.10.0"},
	}
	if diff := cmp.Diff(wantHeads, heads); diff != "" {
		t.Errorf("heads (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"view", "view"}, calls(t, world)); diff != "" {
		t.Errorf("round trips (-want +got):\n%s", diff)
	}
}

func TestHeads(t *testing.T) {
	tests := []struct {
		name     string
		channels []contract.Channel
		change   func(*fakePackage)
		want     []contract.ChannelHead
	}{
		{
			name:     "the newest is deprecated",
			channels: []contract.Channel{{Name: "one", Pattern: `1\..*`}},
			want:     []contract.ChannelHead{{Name: "one", Version: "1.9.0"}},
		},
		{
			name:     "all are deprecated",
			channels: []contract.Channel{{Name: "one", Pattern: `1\.10\..*`}},
			want:     []contract.ChannelHead{{Name: "one", Version: "1.10.0"}},
		},
		{
			name:     "a pattern must match whole",
			channels: []contract.Channel{{Name: "part", Pattern: `1\.9`}, {Name: "either", Pattern: `1\.9|1\.9\.0`}},
			want:     []contract.ChannelHead{{Name: "either", Version: "1.9.0"}},
		},
		{
			name:     "a tag that was moved back wins over the pattern",
			channels: []contract.Channel{{Name: "both", DistTag: "latest", Pattern: `\d+\.\d+\.\d+`}},
			want:     []contract.ChannelHead{{Name: "both", Version: "1.10.0"}},
		},
		{
			name:     "no such tag, and a tag on nothing",
			channels: []contract.Channel{{Name: "none", DistTag: "nightly"}, {Name: "gone", DistTag: "gone"}, {Name: "next", DistTag: "next"}},
			change:   func(p *fakePackage) { p.Tags["gone"] = "9.9.9" },
			want:     []contract.ChannelHead{{Name: "next", Version: "2.1.0-alpha.1"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			world, agent := fixtureWorld(), fixtureAgent()
			agent.Channels = tt.channels
			if pkg := world.Packages["@demo/cli"]; tt.change != nil {
				tt.change(&pkg)
			}
			_, got, err := newFake(t, world).Releases(t.Context(), agent)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReleasesOfOneVersion(t *testing.T) {
	world := fixtureWorld()
	world.Packages["@demo/cli"] = fakePackage{
		Tags:     map[string]string{"latest": "1.0.0-alpha.1"},
		Versions: map[string]fakeVersion{"1.0.0-alpha.1": {Deprecated: "yes"}},
	}
	got, _, err := newFake(t, world).Releases(t.Context(), fixtureAgent())
	if err != nil {
		t.Fatal(err)
	}
	want := []contract.ReleaseRecord{{Version: "1.0.0-alpha.1", Channel: "preview", Deprecated: true, Upstream: "npm"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReleasesErrors(t *testing.T) {
	tests := []struct {
		name   string
		change func(*fakeWorld, *NPM, *contract.Agent)
		want   string // the whole message after the wrapping
		as     any
	}{
		{"no npm", func(_ *fakeWorld, n *NPM, _ *contract.Agent) { n.Command = "no-such-npm" }, ErrNoNPM.Error(), nil},
		{"npm path is wrong", func(_ *fakeWorld, n *NPM, _ *contract.Agent) { n.Command = "/nonexistent/npm" }, ErrNoNPM.Error(), nil},
		{"no network", func(w *fakeWorld, _ *NPM, _ *contract.Agent) { w.Fail = map[string]string{"view": "EAI_AGAIN"} },
			"npm view @demo/cli: no network (EAI_AGAIN): check the connection and npm's registry and proxy settings (npm config list)", new(*NetworkError)},
		{"unknown package", func(_ *fakeWorld, _ *NPM, a *contract.Agent) { a.Upstreams.NPM.Package = "absent" },
			"npm has no package absent: correct upstreams.npm.package in the agent's file, or check npm's registry (npm config list)", new(*UnknownPackageError)},
		{"forbidden", func(w *fakeWorld, _ *NPM, _ *contract.Agent) { w.Fail = map[string]string{"view": "E403"} },
			"npm view @demo/cli failed with code E403: npm may not read this package: check npm's registry and login (npm config list)", new(*NPMError)},
		{"no latest tag", func(w *fakeWorld, _ *NPM, _ *contract.Agent) { delete(w.Packages["@demo/cli"].Tags, "latest") },
			"npm view @demo/cli failed with code no-output: npm knows the package, but it has no release tagged latest", new(*NPMError)},
		{"not JSON", func(w *fakeWorld, _ *NPM, _ *contract.Agent) { w.Junk = "hello secret" },
			"reading npm's list of versions of @demo/cli: not in the form that npm writes: install npm 10 or newer", nil},
		{"not on npm", func(_ *fakeWorld, _ *NPM, a *contract.Agent) { a.Upstreams.NPM = nil },
			"agent demo does not ship on npm: name its package under upstreams.npm in registry/agents/demo.json", nil},
		{"package name is a flag", func(_ *fakeWorld, _ *NPM, a *contract.Agent) { a.Upstreams.NPM.Package = "--userconfig=x" },
			`agent demo: "--userconfig=x" is no npm package name: correct upstreams.npm.package in registry/agents/demo.json`, nil},
		{"empty channel", func(_ *fakeWorld, _ *NPM, a *contract.Agent) { a.Channels = []contract.Channel{{Name: "c"}} },
			"agent demo: channel c takes in no version: give it a dist_tag or a pattern", nil},
		{"bad pattern", func(_ *fakeWorld, _ *NPM, a *contract.Agent) {
			a.Channels = []contract.Channel{{Name: "c", Pattern: "("}}
		},
			"agent demo: reading the pattern of channel c: error parsing regexp: missing closing ): `^(?:()$`", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			world, agent, n := fixtureWorld(), fixtureAgent(), &NPM{}
			tt.change(world, n, &agent)
			fake := newFake(t, world)
			fake.Command = n.Command
			_, _, err := fake.Releases(t.Context(), agent)
			if err == nil {
				t.Fatal("no error")
			}
			got := strings.TrimPrefix(err.Error(), "listing releases of demo: ")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if tt.as != nil && !errors.As(err, tt.as) {
				t.Errorf("%v is no %T", err, tt.as)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the message quotes npm: %v", err)
			}
		})
	}
}

func TestReleasesCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := newFake(t, fixtureWorld()).Releases(ctx, fixtureAgent()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestOrder(t *testing.T) {
	answer, err := json.Marshal(map[string]any{
		"versions": []string{"0.9.0", "0.10.0", "1.0.0-beta.2", "1.0.0", "0.0.7-gffff", "0.0.7-g0000", "0.0.8-gaaaa", "bad version", "1.0.0-beta.10"},
		"time":     map[string]any{"0.0.7-gffff": "2026-01-01T00:00:00Z", "0.0.7-g0000": "2026-01-02T00:00:00Z", "unpublished": map[string]any{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := parseListing("p", answer)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range list.versions {
		got = append(got, v.text)
	}
	want := []string{"1.0.0", "1.0.0-beta.10", "1.0.0-beta.2", "0.10.0", "0.9.0", "0.0.8-gaaaa", "0.0.7-g0000", "0.0.7-gffff"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestVersionSpecs(t *testing.T) {
	var texts []string
	for i := range 600 {
		texts = append(texts, fmt.Sprintf("1.0.0-nightly.%d", i))
	}
	answer, err := json.Marshal(map[string]any{"versions": append(slices.Clone(texts), "1.0.0")})
	if err != nil {
		t.Fatal(err)
	}
	list, err := parseListing("p", answer)
	if err != nil {
		t.Fatal(err)
	}
	specs := versionSpecs("p", list.versions)
	var got []string
	for _, spec := range specs {
		if len(spec) > maxSpec+len("p@x || ") {
			t.Errorf("a spec has %d bytes", len(spec))
		}
		got = append(got, strings.Split(strings.TrimPrefix(spec, "p@"), " || ")...)
	}
	if got[0] != "x" || len(specs) < 2 {
		t.Errorf("%d specs, the first starts with %q", len(specs), got[0])
	}
	slices.Sort(texts)
	got = got[1:]
	slices.Sort(got)
	if diff := cmp.Diff(texts, got); diff != "" {
		t.Errorf("prereleases (-want +got):\n%s", diff)
	}
	if specs := versionSpecs("p", nil); specs != nil {
		t.Errorf("specs for no version: %v", specs)
	}
}

func TestErrorCode(t *testing.T) {
	tests := []struct{ name, stdout, stderr, want string }{
		{"json", `{"error":{"code":"E404","summary":"x"}}`, "", "E404"},
		{"json wins", `{"error":{"code":"E404"}}`, "npm error code E500\n", "E404"},
		{"text", "", "npm error code ETARGET\nnpm error notarget\n", "ETARGET"},
		{"older text", "", "npm ERR! code ECONNREFUSED\r\n", "ECONNREFUSED"},
		{"not a code", `{"error":{"code":"see https://example.invalid"}}`, "npm error code of conduct", "unknown"},
		{"nothing", "", "", "unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := errorCode([]byte(tt.stdout), []byte(tt.stderr)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCappedBuffer(t *testing.T) {
	b := &cappedBuffer{}
	// As os/exec copies: it would prefer a ReadFrom to Write.
	const size = maxOutput + 2
	if n, err := io.Copy(b, struct{ io.Reader }{bytes.NewReader(make([]byte, size))}); n != size || err != nil {
		t.Fatalf("Copy = %d, %v", n, err)
	}
	if b.buf.Len() != maxOutput || !b.overflow {
		t.Errorf("kept %d bytes, overflow %v", b.buf.Len(), b.overflow)
	}
}

func FuzzNPMAnswers(f *testing.F) {
	f.Add([]byte(`{"versions":"1.0.0","time":{"1.0.0":"2026-01-01T00:00:00Z"},"dist-tags":{"latest":"1.0.0"}}`))
	f.Add([]byte(`[{"name":"p","version":"1.0.0","deprecated":false},{"version":"1.0.1","deprecated":"why"}]`))
	f.Add([]byte(`{"error":{"code":"E404"}}`))
	channels := []channel{{name: "tag", tag: "latest"}}
	f.Fuzz(func(t *testing.T, data []byte) {
		if list, err := parseListing("p", data); err == nil {
			for _, v := range list.versions {
				if !cliVersion.MatchString(v.text) {
					t.Errorf("version %q", v.text)
				}
			}
			heads(channels, list)
		}
		if err := parseDeprecated("p", data, map[string]bool{}); err != nil && len(err.Error()) > 200 {
			t.Errorf("long message: %v", err)
		}
		if code := errorCode(data, data); code != codeUnknown && !codeToken.MatchString(code) {
			t.Errorf("code %q", code)
		}
	})
}

// A package that moved to another name is one list, and each version installs from the name that holds it.
func TestFormerPackage(t *testing.T) {
	world := fixtureWorld()
	old := world.Packages["@demo/cli"]
	old.Versions = map[string]fakeVersion{
		"1.8.0": {Integrity: old.Versions["1.9.0"].Integrity, Deprecated: "moved", Files: map[string]string{"bin/demo-linux": "#!/bin/sh\necho 1.8.0\n"}},
		"1.9.0": old.Versions["1.9.0"], // published under both names
	}
	old.Tags = map[string]string{"latest": "1.8.0"}
	world.Packages["demo-cli"] = old
	agent := fixtureAgent()
	agent.Upstreams.NPM.Former = []contract.FormerPackage{{Package: "demo-cli", Releases: "<1.9.0"}}
	npm := newFake(t, world)
	releases, heads, err := npm.Releases(t.Context(), agent)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range releases {
		got = append(got, string(r.Version))
	}
	if diff := cmp.Diff([]string{"2.1.0-alpha.1", "2.0.0", "1.10.0", "1.9.0", "1.8.0"}, got); diff != "" {
		t.Errorf("releases (-want +got):\n%s", diff)
	}
	if last := releases[len(releases)-1]; !last.Deprecated {
		t.Error("the deprecation under the former name is lost")
	}
	if i := slices.IndexFunc(heads, func(h contract.ChannelHead) bool { return h.Name == "latest" }); i < 0 || heads[i].Version != "1.10.0" {
		t.Errorf("heads %v: the tags of the former name count", heads)
	}
	installed, err := npm.Install(t.Context(), agent, "1.8.0", "linux-x64")
	if err != nil {
		t.Fatal(err)
	}
	if installed.Source != "npm:demo-cli@1.8.0" {
		t.Errorf("source %s", installed.Source)
	}
}
