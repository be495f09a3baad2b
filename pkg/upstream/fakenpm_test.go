package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// fakeWorld is what the fake npm knows and how it misbehaves. It reaches the fake as a file.
type fakeWorld struct {
	Packages map[string]fakePackage
	Log      string            // file that gets one line per call
	Fail     map[string]string // npm command → error code
	Hang     bool              // install writes half and then waits until its parent is gone
	Junk     string            // printed instead of an answer to view
	Skip     bool              // install leaves optional packages out, as npm does after a failed download
	NoTree   bool              // install writes nothing
	Deliver  string            // version that install delivers in place of the one asked for
	Tamper   string            // integrity that install records in place of the true one
}

type fakePackage struct {
	Tags     map[string]string
	Time     map[string]string
	Versions map[string]fakeVersion
}

type fakeVersion struct {
	Integrity  string
	Deprecated string            `json:",omitempty"`
	Depends    map[string]string `json:",omitempty"`
	Optional   map[string]string `json:",omitempty"`
	OS, CPU    string            `json:",omitempty"`
	Nested     map[string]string `json:",omitempty"` // folder under node_modules → integrity of a further package; "bundled" for one without
	Files      map[string]string
}

const fakeEnv = "FAKE_NPM_WORLD"

// fakeBin is a folder with the fake npm.
var fakeBin string

// TestMain makes this test binary answer to other names too.
func TestMain(m *testing.M) {
	switch strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") {
	case "npm":
		os.Exit(fakeNPM(os.Args[1:]))
	case "install-once":
		os.Exit(installOnce(os.Args[1]))
	}
	dir, err := os.MkdirTemp("", "fake-npm-")
	if err == nil {
		err = linkSelf(dir, "npm", "install-once")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "making the fake npm:", err)
		os.Exit(1)
	}
	fakeBin = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// linkSelf gives the running executable further names in dir. Windows gets hard links: symbolic ones need a right.
func linkSelf(dir string, names ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, name := range names {
		if runtime.GOOS == "windows" {
			err = os.Link(self, filepath.Join(dir, name+".exe"))
		} else {
			err = os.Symlink(self, filepath.Join(dir, name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// newFake puts the fake npm first on PATH and gives an NPM that talks to it in the given world. The cache is a folder
// of its own.
func newFake(t *testing.T, world *fakeWorld) *NPM {
	t.Helper()
	t.Setenv("PATH", fakeBin+string(os.PathListSeparator)+os.Getenv("PATH"))
	dir := t.TempDir()
	world.Log = filepath.Join(dir, "log")
	path := filepath.Join(dir, "world.json")
	data, err := json.Marshal(world)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	// Under the race detector every process would wait for a second before it ends.
	env := append(os.Environ(), fakeEnv+"="+path, "GORACE=atexit_sleep_ms=0")
	return &NPM{CacheDir: filepath.Join(dir, "cache"), Env: env}
}

// calls lists the npm commands that ran so far.
func calls(t *testing.T, world *fakeWorld) []string {
	t.Helper()
	data, err := os.ReadFile(world.Log)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

// installOnce is a process of its own that installs the fixture into a cache; the test kills it half-way.
func installOnce(cache string) int {
	if _, err := (&NPM{CacheDir: cache}).Install(context.Background(), fixtureAgent(), "2.0.0", "linux-x64"); err != nil {
		return 1
	}
	return 0
}

func fakeNPM(args []string) int {
	data, err := os.ReadFile(os.Getenv(fakeEnv))
	world := &fakeWorld{}
	if err != nil || json.Unmarshal(data, world) != nil {
		return 99
	}
	log, err := os.OpenFile(world.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 99
	}
	fmt.Fprintln(log, args[0])
	log.Close()
	if code := world.Fail[args[0]]; code != "" {
		return fakeError(code, "secret-detail https://user:pass@mirror.invalid/")
	}
	if args[0] == "install" {
		return world.install(args[1:])
	}
	if world.Junk != "" {
		fmt.Println(world.Junk)
		return 0
	}
	return world.view(slices.DeleteFunc(args[1:], func(a string) bool { return strings.HasPrefix(a, "--") && a != "--prefix" })[2:])
}

func fakeError(code, detail string) int {
	json.NewEncoder(os.Stdout).Encode(map[string]any{"error": map[string]string{"code": code, "summary": detail}})
	fmt.Fprintf(os.Stderr, "npm error code %s\nnpm error %s\n", code, detail)
	return 1
}

func splitSpec(spec string) (name, version string) {
	if at := strings.LastIndex(spec, "@"); at > 0 {
		return spec[:at], spec[at+1:]
	}
	return spec, ""
}

// view mimics npm's own reduction of its answer: an object for one version, a list for more, and bare strings for
// all when the first has a single field.
func (w *fakeWorld) view(args []string) int {
	name, selector := splitSpec(args[0])
	pkg, ok := w.Packages[name]
	if !ok {
		return fakeError("E404", "Not Found")
	}
	all := slices.Sorted(maps.Keys(pkg.Versions))
	selected := []string{pkg.Tags["latest"]}
	if selector != "" {
		wanted := strings.Split(selector, " || ")
		selected = slices.DeleteFunc(slices.Clone(all), func(v string) bool {
			return !slices.Contains(wanted, v) && (!slices.Contains(wanted, "x") || strings.Contains(v, "-"))
		})
		if len(selected) == 0 {
			return fakeError("E404", "No match found for version")
		}
	}
	var answers []map[string]any
	for _, v := range selected {
		release, ok := pkg.Versions[v]
		if !ok {
			continue
		}
		fields := map[string]any{
			"name": name, "version": v, "versions": all, "time": pkg.Time, "dist-tags": pkg.Tags,
			"dist.integrity": release.Integrity,
		}
		if release.Deprecated != "" {
			fields["deprecated"] = release.Deprecated
		}
		if release.Depends != nil {
			fields["dependencies"] = release.Depends
		}
		if release.Optional != nil {
			fields["optionalDependencies"] = release.Optional
		}
		answer := map[string]any{}
		for _, field := range args[1:] {
			if value, ok := fields[field]; ok {
				answer[field] = value
			}
		}
		answers = append(answers, answer)
	}
	if len(answers) == 0 {
		return 0
	}
	var result any = answers
	if len(answers) == 1 {
		result = answers[0]
	} else if len(answers[0]) == 1 {
		var bare []any
		for key := range answers[0] {
			for _, a := range answers {
				bare = append(bare, a[key])
			}
		}
		result = bare
	}
	json.NewEncoder(os.Stdout).Encode(result)
	return 0
}

func (w *fakeWorld) install(args []string) int {
	flags := map[string]string{}
	for i, a := range args {
		if a == "--prefix" {
			flags[a] = args[i+1]
		} else if key, value, ok := strings.Cut(a, "="); ok {
			flags[key] = value
		} else {
			flags[a] = "true"
		}
	}
	if flags["--ignore-scripts"] == "" {
		return fakeError("ESCRIPTS", "scripts would run")
	}
	name, version := splitSpec(args[len(args)-1])
	release, ok := w.Packages[name].Versions[version]
	if !ok {
		return fakeError("ETARGET", "No matching version found")
	}
	if w.NoTree {
		return 0
	}
	if w.Deliver != "" {
		version = w.Deliver
	}
	root := filepath.Join(flags["--prefix"], "node_modules")
	lock := map[string]lockEntry{}
	put := func(folder, name, version string, release fakeVersion) {
		for path, content := range release.Files {
			full := filepath.Join(root, filepath.FromSlash(folder), filepath.FromSlash(path))
			os.MkdirAll(filepath.Dir(full), 0o755)
			os.WriteFile(full, []byte(content), 0o644)
		}
		manifest, _ := json.Marshal(map[string]string{"name": name, "version": version})
		os.WriteFile(filepath.Join(root, filepath.FromSlash(folder), "package.json"), manifest, 0o644)
		entry := lockEntry{Version: version, Integrity: release.Integrity}
		if name != folder {
			entry.Name = name
		}
		if w.Tamper != "" {
			entry.Integrity = w.Tamper
		}
		lock["node_modules/"+folder] = entry
	}
	put(name, name, version, release)
	optional := maps.Clone(release.Optional)
	for folder, version := range release.Depends {
		dep := w.Packages[folder].Versions[version]
		put(folder, folder, version, dep)
		optional = dep.Optional
	}
	for folder, sum := range release.Nested {
		lock["node_modules/"+folder] = lockEntry{Version: "1.0.0", Integrity: strings.TrimPrefix(sum, "bundled"), InBundle: sum == "bundled"}
	}
	if parent := os.Getppid(); w.Hang {
		for os.Getppid() == parent {
			time.Sleep(10 * time.Millisecond)
		}
		return 1
	}
	for folder, declared := range optional {
		name, version := folder, declared
		if alias, ok := strings.CutPrefix(declared, "npm:"); ok {
			name, version = splitSpec(alias)
		}
		dep, ok := w.Packages[name].Versions[version]
		if !ok || w.Skip || dep.OS != flags["--os"] || dep.CPU != flags["--cpu"] {
			continue
		}
		put(folder, name, version, dep)
	}
	data, _ := json.Marshal(map[string]any{"packages": lock})
	os.WriteFile(filepath.Join(root, ".package-lock.json"), data, 0o644)
	fmt.Println("{}")
	return 0
}

// fixtureAgent is an agent whose executable lies in the package before 2.0.0, and in a platform package since.
func fixtureAgent() contract.Agent {
	return contract.Agent{
		ID:        "demo",
		Upstreams: contract.Upstreams{NPM: &contract.NPMUpstream{Package: "@demo/cli"}},
		Channels: []contract.Channel{
			{Name: "stable", Pattern: `\d+\.\d+\.\d+`},
			{Name: "preview", Pattern: `\d+\.\d+\.\d+-alpha\.\d+`},
			{Name: "latest", DistTag: "latest"},
		},
		Install: []contract.InstallLayout{
			{Releases: "<2.0.0", Bin: map[contract.Platform]string{"linux-x64": "bin/demo-linux"}},
			{
				Bin:             map[contract.Platform]string{"linux-x64": "vendor/demo", "linux-arm64": "vendor/demo"},
				PlatformPackage: map[contract.Platform]string{"linux-x64": "@demo/cli-linux-x64", "linux-arm64": "@demo/cli-linux-arm64"},
			},
		},
	}
}

// fixtureWorld has releases, a deprecated one, a prerelease and platform builds published as versions.
func fixtureWorld() *fakeWorld {
	integrity := func(c string) string { return "sha512-" + strings.Repeat(c, 86) + "==" }
	platforms := map[string]string{
		"@demo/cli-linux-x64":   "npm:@demo/cli@2.0.0-linux-x64",
		"@demo/cli-linux-arm64": "npm:@demo/cli@2.0.0-linux-arm64",
	}
	return &fakeWorld{Packages: map[string]fakePackage{"@demo/cli": {
		Tags: map[string]string{"latest": "1.10.0", "next": "2.1.0-alpha.1"},
		Time: map[string]string{"1.9.0": "2026-01-02T03:04:05.678Z", "2.0.0": "2026-03-02T03:04:05.678000+00:00", "created": "2025-01-01T00:00:00Z"},
		Versions: map[string]fakeVersion{
			"1.9.0":           {Integrity: integrity("a"), Files: map[string]string{"bin/demo-linux": "#!/bin/sh\necho 1.9.0\n"}},
			"1.10.0":          {Integrity: integrity("b"), Deprecated: "broken", Files: map[string]string{"bin/demo-linux": "#!/bin/sh\n"}},
			"2.0.0":           {Integrity: integrity("c"), Optional: platforms, Files: map[string]string{"bin/demo.js": "x"}},
			"2.0.0-linux-x64": {Integrity: integrity("d"), OS: "linux", CPU: "x64", Files: map[string]string{"vendor/demo": "#!/bin/sh\necho 2.0.0\n"}},
			"2.1.0-alpha.1":   {Integrity: integrity("e"), Files: map[string]string{"bin/demo.js": "x"}},
		},
	}}}
}
