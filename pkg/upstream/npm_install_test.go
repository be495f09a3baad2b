package upstream

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func TestInstall(t *testing.T) {
	tests := []struct {
		name, version string
		bin           string // under Dir
		content       string
		resolved      contract.Resolved
	}{
		{
			name: "executable in the package", version: "1.9.0",
			bin: "node_modules/@demo/cli/bin/demo-linux", content: "#!/bin/sh\necho 1.9.0\n",
			resolved: contract.Resolved{Package: "@demo/cli@1.9.0", Integrity: "sha512-" + strings.Repeat("a", 86) + "=="},
		},
		{
			name: "executable in a platform package", version: "2.0.0",
			bin: "node_modules/@demo/cli-linux-x64/vendor/demo", content: "#!/bin/sh\necho 2.0.0\n",
			resolved: contract.Resolved{
				Package: "@demo/cli@2.0.0", Integrity: "sha512-" + strings.Repeat("c", 86) + "==",
				PlatformPackage: "@demo/cli@2.0.0-linux-x64",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			world := fixtureWorld()
			n := newFake(t, world)
			got, err := n.Install(t.Context(), fixtureAgent(), tt.version, "linux-x64")
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(n.CacheDir, "npm", "@demo+cli", tt.version, "linux-x64")
			want := &Installed{
				Dir: dir, Bin: filepath.Join(dir, filepath.FromSlash(tt.bin)), Source: "npm:@demo/cli@" + tt.version,
				Resolved: tt.resolved, BinarySHA256: contract.HashBytes([]byte(tt.content)),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if info, err := os.Stat(got.Bin); err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o755) {
				t.Errorf("executable: %v %v", info, err)
			}

			// The second time needs no npm at all.
			before := len(calls(t, world))
			n.Command = "no-such-npm"
			again, err := n.Install(t.Context(), fixtureAgent(), tt.version, "linux-x64")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, again); diff != "" {
				t.Errorf("from the cache (-want +got):\n%s", diff)
			}
			if after := len(calls(t, world)); after != before {
				t.Errorf("%d calls of npm for a cached install", after-before)
			}
			assertNothingPartial(t, n)
		})
	}
}

// assertNothingPartial checks that no install is left half-made.
func assertNothingPartial(t *testing.T, n *NPM) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(n.CacheDir, "npm", "*", "*", "*.partial-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestInstallErrors(t *testing.T) {
	const prefix = "installing @demo/cli@2.0.0 for linux-x64: "
	release := func(w *fakeWorld, version string, change func(*fakeVersion)) {
		v := w.Packages["@demo/cli"].Versions[version]
		change(&v)
		w.Packages["@demo/cli"].Versions[version] = v
	}
	tests := []struct {
		name    string
		version string // default 2.0.0
		change  func(*fakeWorld, *contract.Agent)
		command string
		as      any
		want    string
	}{
		{
			name: "no npm", command: "no-such-npm", want: prefix + ErrNoNPM.Error(),
		},
		{
			name: "unknown package", as: new(*UnknownPackageError),
			change: func(w *fakeWorld, _ *contract.Agent) { delete(w.Packages, "@demo/cli") },
			want:   prefix + "npm has no package @demo/cli: correct upstreams.npm.package in the agent's file, or check npm's registry (npm config list)",
		},
		{
			name: "unknown version", version: "1.9.5", as: new(*UnknownVersionError),
			want: "installing @demo/cli@1.9.5 for linux-x64: @demo/cli has no version 1.9.5: nearest are 2.1.0-alpha.1, 2.0.0, 1.10.0, 1.9.0",
		},
		{
			name: "a tag is no version", version: "latest", as: new(*UnknownVersionError),
			want: "installing @demo/cli@latest for linux-x64: @demo/cli has no version latest: nearest are 2.1.0-alpha.1, 2.0.0, 1.10.0, 1.9.0",
		},
		{
			name: "a path is no version", version: "1.0.0-../../x", as: new(*UnknownVersionError),
			want: "installing @demo/cli@1.0.0-../../x for linux-x64: @demo/cli has no version 1.0.0-../../x: nearest are 2.1.0-alpha.1, 2.0.0, 1.10.0, 1.9.0",
		},
		{
			name: "no network", as: new(*NetworkError),
			change: func(w *fakeWorld, _ *contract.Agent) { w.Fail = map[string]string{"install": "ECONNRESET"} },
			want:   prefix + "npm install @demo/cli@2.0.0: no network (ECONNRESET): check the connection and npm's registry and proxy settings (npm config list)",
		},
		{
			name: "npm rules the version out", as: new(*NPMError),
			change: func(w *fakeWorld, _ *contract.Agent) { w.Fail = map[string]string{"install": "ETARGET"} },
			want:   prefix + "npm install @demo/cli@2.0.0 failed with code ETARGET: npm refuses a version that is listed: its settings before or min-release-age may rule it out, or a package that it depends on is missing",
		},
		{
			name: "npm finds the download damaged", as: new(*IntegrityError),
			change: func(w *fakeWorld, _ *contract.Agent) { w.Fail = map[string]string{"install": "EINTEGRITY"} },
			want:   prefix + "integrity of @demo/cli@2.0.0 cannot be confirmed: run npm cache clean --force and try again; if it stays, do not trust the mirror",
		},
		{
			name: "integrity differs", as: new(*IntegrityError),
			change: func(w *fakeWorld, _ *contract.Agent) { w.Tamper = "sha512-AAAA" },
			want: prefix + `integrity of @demo/cli@2.0.0 is "sha512-AAAA", but npm's registry says "sha512-` + strings.Repeat("c", 86) +
				`==": run npm cache clean --force and try again; if it stays, do not trust the mirror`,
		},
		{
			name: "no integrity at all", as: new(*IntegrityError),
			change: func(w *fakeWorld, _ *contract.Agent) {
				release(w, "2.0.0", func(v *fakeVersion) { v.Integrity = "" })
			},
			want: prefix + "integrity of @demo/cli@2.0.0 cannot be confirmed: run npm cache clean --force and try again; if it stays, do not trust the mirror",
		},
		{
			name: "another version arrives", as: new(*WrongVersionError),
			change: func(w *fakeWorld, _ *contract.Agent) { w.Deliver = "1.9.0" },
			want:   prefix + "asked npm for @demo/cli@2.0.0 and got @demo/cli@1.9.0: check npm's overrides and mirror (npm config list)",
		},
		{
			name:   "npm installs nothing",
			change: func(w *fakeWorld, _ *contract.Agent) { w.NoTree = true },
			want:   prefix + "reading npm's record of the installed tree, which is absent: not in the form that npm writes: install npm 10 or newer",
		},
		{
			name: "platform package was never published", as: new(*IncompleteReleaseError),
			change: func(w *fakeWorld, _ *contract.Agent) { delete(w.Packages["@demo/cli"].Versions, "2.0.0-linux-x64") },
			want:   prefix + "@demo/cli@2.0.0 is incomplete: npm has no @demo/cli@2.0.0-linux-x64, which holds the executable for linux-x64; take another version or try again later",
		},
		{
			name: "platform package was left out", as: new(*SkippedPackageError),
			change: func(w *fakeWorld, _ *contract.Agent) { w.Skip = true },
			want:   prefix + "npm left out @demo/cli@2.0.0-linux-x64, which holds the executable for linux-x64: try again, and check that npm is version 10 or newer and that its settings before and min-release-age allow the package",
		},
		{
			name: "platform package from an address", as: new(*SkippedPackageError),
			change: func(w *fakeWorld, _ *contract.Agent) {
				release(w, "2.0.0", func(v *fakeVersion) {
					v.Optional = map[string]string{"@demo/cli-linux-x64": "git+https://host.invalid/x.git"}
				})
			},
			want: prefix + "npm left out @demo/cli-linux-x64, which holds the executable for linux-x64: try again, and check that npm is version 10 or newer and that its settings before and min-release-age allow the package",
		},
		{
			name: "release names no such platform package", as: new(*LayoutError),
			change: func(w *fakeWorld, _ *contract.Agent) {
				release(w, "2.0.0", func(v *fakeVersion) { v.Optional = nil })
			},
			want: prefix + "demo 2.0.0 on linux-x64: the release does not depend on @demo/cli-linux-x64: correct install in registry/agents/demo.json",
		},
		{
			name: "release depends on other versions alone", as: new(*LayoutError),
			change: func(w *fakeWorld, _ *contract.Agent) {
				behind(w, "1.0.0")
			},
			want: prefix + "demo 2.0.0 on linux-x64: the release does not depend on @demo/cli-linux-x64: correct install in registry/agents/demo.json",
		},
		{
			name: "platform package of another package was left out", as: new(*SkippedPackageError),
			change: func(w *fakeWorld, _ *contract.Agent) {
				behind(w, "2.0.0")
				w.Skip = true
			},
			want: prefix + "npm left out @demo/cli@2.0.0-linux-x64, which holds the executable for linux-x64: try again, and check that npm is version 10 or newer and that its settings before and min-release-age allow the package",
		},
		{
			name: "no layout", as: new(*LayoutError),
			change: func(_ *fakeWorld, a *contract.Agent) { a.Install = a.Install[:1] },
			want:   "demo 2.0.0 on linux-x64: no layout has this version: correct install in registry/agents/demo.json",
		},
		{
			name: "no executable for the platform", as: new(*LayoutError),
			change: func(_ *fakeWorld, a *contract.Agent) {
				a.Install = []contract.InstallLayout{{Bin: map[contract.Platform]string{"darwin-x64": "x"}}}
			},
			want: "demo 2.0.0 on linux-x64: the layout names no executable for this platform: correct install in registry/agents/demo.json",
		},
		{
			name: "layout leads out", as: new(*LayoutError),
			change: func(_ *fakeWorld, a *contract.Agent) {
				a.Install = []contract.InstallLayout{{Bin: map[contract.Platform]string{"linux-x64": "../../../sh"}}}
			},
			want: "demo 2.0.0 on linux-x64: the layout leads out of the package: correct install in registry/agents/demo.json",
		},
		{
			name: "layout with a broken range", as: new(*LayoutError),
			change: func(_ *fakeWorld, a *contract.Agent) { a.Install[0].Releases = ">>1" },
			want:   "demo 2.0.0 on linux-x64: the range >>1 of a layout cannot be read: correct install in registry/agents/demo.json",
		},
		{
			name: "executable is absent", as: new(*BinaryError),
			change: func(w *fakeWorld, _ *contract.Agent) {
				release(w, "2.0.0-linux-x64", func(v *fakeVersion) { v.Files = map[string]string{"readme": "x"} })
			},
			want: "node_modules/@demo/cli-linux-x64/vendor/demo: npm installed no such file: correct install in the agent's file, or take another version",
		},
		{
			name: "executable of another system", as: new(*BinaryError),
			change: func(w *fakeWorld, _ *contract.Agent) {
				release(w, "2.0.0-linux-x64", func(v *fakeVersion) { v.Files = map[string]string{"vendor/demo": "MZ\x90"} })
			},
			want: "node_modules/@demo/cli-linux-x64/vendor/demo: an executable for win32, not for linux-x64: correct install in the agent's file, or take another version",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			world, agent := fixtureWorld(), fixtureAgent()
			if tt.change != nil {
				tt.change(world, &agent)
			}
			n := newFake(t, world)
			n.Command = tt.command
			version := tt.version
			if version == "" {
				version = "2.0.0"
			}
			got, err := n.Install(t.Context(), agent, version, "linux-x64")
			if err == nil {
				t.Fatalf("no error: %+v", got)
			}
			text := err.Error()
			if e := (*BinaryError)(nil); errors.As(err, &e) {
				text = e.Path + ": " + e.Problem + ": " + e.Remedy
			}
			if diff := cmp.Diff(tt.want, text); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if tt.as != nil && !errors.As(err, tt.as) {
				t.Errorf("%v is no %T", err, tt.as)
			}
			assertNothingPartial(t, n)
		})
	}
}

func TestInstallForAnotherPlatform(t *testing.T) {
	world := fixtureWorld()
	world.Packages["@demo/cli"].Versions["2.0.0-linux-arm64"] = fakeVersion{
		Integrity: "sha512-AA==", OS: "linux", CPU: "arm64", Files: map[string]string{"vendor/demo": "#!/bin/sh\n"},
	}
	n := newFake(t, world)
	for _, platform := range []contract.Platform{"linux-arm64", "linux-x64"} {
		got, err := n.Install(t.Context(), fixtureAgent(), "2.0.0", platform)
		if err != nil {
			t.Fatal(err)
		}
		if want := "@demo/cli@2.0.0-" + string(platform); got.Resolved.PlatformPackage != want {
			t.Errorf("platform package %s, want %s", got.Resolved.PlatformPackage, want)
		}
	}
}

// behind makes 2.0.0 a package that only depends on another one, which has the platform packages.
func behind(w *fakeWorld, version string) {
	release := w.Packages["@demo/cli"].Versions["2.0.0"]
	w.Packages["@demo/real"] = fakePackage{Versions: map[string]fakeVersion{
		version: {Integrity: "sha512-AA==", Optional: release.Optional},
	}}
	release.Optional, release.Depends = nil, map[string]string{"@demo/real": version}
	w.Packages["@demo/cli"].Versions["2.0.0"] = release
}

func TestInstallOfPackageBehindAnother(t *testing.T) {
	world := fixtureWorld()
	behind(world, "2.0.0")
	got, err := newFake(t, world).Install(t.Context(), fixtureAgent(), "2.0.0", "linux-x64")
	if err != nil {
		t.Fatal(err)
	}
	if want := "@demo/cli@2.0.0-linux-x64"; got.Resolved.PlatformPackage != want || got.Resolved.Package != "@demo/cli@2.0.0" {
		t.Errorf("resolved %+v, want platform package %s", got.Resolved, want)
	}
}

func TestInstallNeedsCache(t *testing.T) {
	n := newFake(t, fixtureWorld())
	n.CacheDir = ""
	if _, err := n.Install(t.Context(), fixtureAgent(), "2.0.0", "linux-x64"); err == nil {
		t.Error("no error")
	}
}

func TestNearest(t *testing.T) {
	list, err := parseListing("p", []byte(`{"versions":["1.0.0","1.1.0","1.2.0","1.3.0","1.4.0","1.5.0","1.6.0","1.7.0"]}`))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ version, want string }{
		{"1.3.5", "1.5.0 1.4.0 1.3.0 1.2.0 1.1.0"},
		{"9.0.0", "1.7.0 1.6.0 1.5.0 1.4.0 1.3.0"},
		{"0.1.0", "1.4.0 1.3.0 1.2.0 1.1.0 1.0.0"},
		{"rubbish", "1.7.0 1.6.0 1.5.0 1.4.0 1.3.0"},
	}
	for _, tt := range tests {
		if got := strings.Join(nearest(list.versions, tt.version), " "); got != tt.want {
			t.Errorf("nearest to %s: %s, want %s", tt.version, got, tt.want)
		}
	}
	if got := nearest(nil, "1.0.0"); got != nil {
		t.Errorf("nearest of nothing: %v", got)
	}
}

func TestDependencySpec(t *testing.T) {
	tests := []struct {
		declared, want string
		exact          bool
	}{
		{"1.2.3", "dep@1.2.3", true},
		{"npm:@a/b@1.2.3-linux-x64", "@a/b@1.2.3-linux-x64", true},
		{"^1.2.3", "dep@^1.2.3", false},
		{"npm:b@^1.2.3", "b@^1.2.3", false},
		{"npm:b", "", false},
		{"npm:--registry=x@1.2.3", "--registry=x@1.2.3", false},
		{"git+ssh://git@host.invalid/x.git", "dep@git+ssh://git@host.invalid/x.git", false},
		{"", "dep@", false},
	}
	for _, tt := range tests {
		if got, exact := dependencySpec("dep", tt.declared); got != tt.want || exact != tt.exact {
			t.Errorf("%q: %q %v, want %q %v", tt.declared, got, exact, tt.want, tt.exact)
		}
	}
}
