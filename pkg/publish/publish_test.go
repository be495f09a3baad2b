package publish_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/publish"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// canary stands for a value that must never be published.
const canary = "canary-3f9a1c7be2"

func library() fstest.MapFS {
	return fstest.MapFS{
		"package.json": {Data: []byte(`{"name":"library","version":"0.0.0","private":true,"type":"module","scripts":{"test":"node --test"},"exports":"./index.js"}`)},
		"index.js":     {Data: []byte("export {}\n")}, "index.d.ts": {Data: []byte("export {}\n")}, "types/index.d.ts": {Data: []byte("export {}\n")},
		"test/index.test.js": {Data: []byte("test\n")}, "node_modules/x/index.js": {Data: []byte("x\n")}, ".npmrc": {Data: []byte("x\n")},
	}
}

// build copies the checkout that package replay tests against, lets edit change its registry, and builds its package.
func build(t *testing.T, edit func(dir string), opts func(*publish.Options), out string) (*publish.Package, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../replay/testdata/checkout")); err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(filepath.Join(dir, "registry"))
	}
	checkout, err := registry.OpenCheckout(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer checkout.Tree.Close() //nolint:errcheck // read only
	return publish.Build(checkout.Tree, checkout.Catalog, options(t, opts), out)
}

// scanner is shared: lines that were clean once are not scanned again.
var scanner = sync.OnceValues(func() (*scan.Scanner, error) { return scan.New(scan.Config{Canaries: []string{canary}}) })

func options(t *testing.T, edit func(*publish.Options)) publish.Options {
	t.Helper()
	scanner, err := scanner()
	if err != nil {
		t.Fatal(err)
	}
	o := publish.Options{Name: "@example/contracts", Version: "1.2.3", Readme: []byte("# Contracts\n"), License: []byte("A license\n"), Library: library(), Scanner: scanner, Temp: t.TempDir()}
	if edit != nil {
		edit(&o)
	}
	return o
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := registry.WriteFile(file, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// one gives the only file of a tree that matches a pattern.
func one(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
	if err != nil || len(found) == 0 {
		t.Fatalf("no file matches %s: %v", pattern, err)
	}
	return found[0]
}

func TestBuildRepeats(t *testing.T) {
	var tarballs []string
	for range 2 {
		out := filepath.Join(t.TempDir(), "deep", "out")
		p, err := build(t, nil, nil, out)
		if err != nil {
			t.Fatal(err)
		}
		tarballs = append(tarballs, read(t, p.Tarball))
		if filepath.Base(p.Tarball) != "example-contracts-1.2.3.tgz" {
			t.Error(p.Tarball)
		}
		for _, path := range []string{p.Tarball, p.Folder, out} {
			if m, err := publish.Verify(path); err != nil || len(m.Files) != p.Files-1 {
				t.Errorf("verifying %s: %v", path, err)
			}
		}
	}
	if tarballs[0] != tarballs[1] {
		t.Error("two builds of one tree differ")
	}
}

func TestContents(t *testing.T) {
	p, err := build(t, func(dir string) { write(t, filepath.Join(dir, "reports/diffs/sample/x.md"), "a report\n") }, nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for path := range p.Manifest.Files {
		parts := strings.Split(path, "/")
		kinds[strings.Join(parts[:min(2, len(parts))], "/")]++
	}
	want := map[string]int{
		"package.json": 1, "README.md": 1, "LICENSE": 1, "index.js": 1, "index.d.ts": 1, "types/index.d.ts": 1,
		"data/agents.json": 1, "data/support-matrix.json": 1, "data/agents": 1, "data/diagnostics": 1, "data/probes": 3,
		"data/observations": 6, "data/shapes": 3, "data/fixtures": 3, "data/goldens": 3,
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	// The newest capture dates the package.
	if p.Manifest.GeneratedAt != "2026-06-27T10:02:00Z" {
		t.Error(p.Manifest.GeneratedAt)
	}
	var manifest map[string]any
	if err := json.Unmarshal([]byte(read(t, filepath.Join(p.Folder, "package.json"))), &manifest); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"name": "@example/contracts", "version": "1.2.3", "type": "module", "exports": "./index.js"}, manifest); diff != "" {
		t.Error(diff)
	}
}

// Nothing of the machine gets into the tarball, and npm finds what it expects.
func TestTarball(t *testing.T) {
	p, err := build(t, nil, nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	gz, err := gzip.NewReader(strings.NewReader(read(t, p.Tarball)))
	if err != nil {
		t.Fatal(err)
	}
	if gz.Name != "" || !gz.ModTime.IsZero() {
		t.Errorf("gzip header %+v", gz.Header)
	}
	last := ""
	for tr := tar.NewReader(gz); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Name <= last || !strings.HasPrefix(h.Name, "package/") || h.Mode != 0o644 || h.ModTime.Year() != 1985 || h.Uid+h.Gid != 0 || h.Uname+h.Gname != "" {
			t.Errorf("%+v", h)
		}
		last = h.Name
	}
}

func TestBuildRefuses(t *testing.T) {
	replaceIn := func(pattern, from, to string) func(string) {
		return func(dir string) {
			file := one(t, dir, pattern)
			text := read(t, file)
			if !strings.Contains(text, from) {
				t.Fatalf("%s lacks %q", file, from)
			}
			write(t, file, strings.ReplaceAll(text, from, to))
		}
	}
	add := func(path, text string) func(string) {
		return func(dir string) { write(t, filepath.Join(dir, filepath.FromSlash(path)), text) }
	}
	const observation = "observations/sample/1.2.0/linux-x64/*.chat-text-success.observation.json"
	const evidence = "observations/sample/1.2.0/linux-x64/*.chat-text-success.evidence.json"
	tests := []struct {
		name string
		edit func(dir string)
		opts func(*publish.Options)
		want string
	}{
		{"a fixture that was edited", replaceIn("fixtures/plain/*", "sample-cli 0.0.0", "something else"), nil, "not the one that its evidence names"},
		{"a raw transcript", add("fixtures/plain/raw.jsonl", "{}\n"), nil, "no file of this name"},
		{"a raw bundle by another name", add("raw/run.jsonl", "{}\n"), nil, "no file of this name"},
		{"a dot file", add(".env", "x"), nil, "dot files"},
		{"a dot file below", add("goldens/.cache/x.json", "{}"), nil, "dot files"},
		{"a canary in a record", replaceIn(observation, `"runner": "test"`, `"runner": "`+canary+`"`), nil, "canary/0"},
		{"a canary in a golden", replaceIn("goldens/reference/plain/*", `"done"`, `"`+canary+`"`), nil, "canary/0"},
		{"a canary in the library", nil, func(o *publish.Options) {
			l := library()
			l["index.js"] = &fstest.MapFile{Data: []byte("// " + canary)}
			o.Library = l
		}, "canary/0"},
		{"a canary in the readme", nil, func(o *publish.Options) { o.Readme = []byte(canary) }, "canary/0"},
		{"a link", func(dir string) {
			if err := os.Symlink("agents", filepath.Join(dir, "link.json")); err != nil {
				t.Skip("no links here")
			}
		}, nil, "no regular file"},
		{"no evidence", func(dir string) { _ = os.Remove(one(t, dir, evidence)) }, nil, "no evidence record"},
		{"another fixture", func(dir string) {
			file := one(t, dir, evidence)
			var e map[string]any
			if err := json.Unmarshal([]byte(read(t, file)), &e); err != nil {
				t.Fatal(err)
			}
			e["fixture_sha256"] = "sha256:" + strings.Repeat("0", 64)
			data, _ := json.Marshal(e)
			write(t, file, string(data))
		}, nil, "not the one that its evidence names"},
		{"redaction failed", replaceIn(observation, `"status": "passed"`, `"status": "manual_review_required"`), nil, "redaction did not pass"},
		{"an invalid record", replaceIn(observation, `"platform"`, `"plattform"`), nil, "plattform"},
		{"a golden of another shape", func(dir string) {
			file := one(t, dir, "goldens/reference/plain/*")
			write(t, file, strings.Replace(read(t, file), "sha256:", "sha256:0", 1))
		}, nil, "another shape"},
		{"no attestation", nil, func(o *publish.Options) { o.RequireAttestation = true }, "attested"},
		{"lint says no", nil, func(o *publish.Options) { o.Check = func() error { return errors.New("finding") } }, "cannot be published: finding"},
		{"a bad version", nil, func(o *publish.Options) { o.Version = "latest" }, "no semantic version"},
		{"a bad name", nil, func(o *publish.Options) { o.Name = "../x" }, "no npm package name"},
		{"a dependency", nil, func(o *publish.Options) {
			l := library()
			l["package.json"] = &fstest.MapFile{Data: []byte(`{"dependencies":{"x":"1"}}`)}
			o.Library = l
		}, "has dependencies"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out := t.TempDir()
			_, err := build(t, tt.edit, tt.opts, out)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), "something else") {
				t.Errorf("got %v, want an error about %q", err, tt.want)
			}
			if entries, _ := os.ReadDir(out); len(entries) > 0 {
				t.Errorf("the refused build left %v behind", entries)
			}
		})
	}
}

// A fixture that vouches for itself, with a hash that fits, still has to pass the redaction gate.
func TestBuildReadsFixturesThroughTheGate(t *testing.T) {
	for from, to := range map[string]string{"<id:1>": "s-4711", "Hello, sample.": "something private"} {
		_, err := build(t, func(dir string) {
			evidence := one(t, dir, "observations/sample/1.2.0/linux-x64/*.chat-text-success.evidence.json")
			var e struct {
				Fixture string `json:"fixture_sha256"`
			}
			if err := json.Unmarshal([]byte(read(t, evidence)), &e); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(dir, "fixtures/json-event-stream/*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				text := read(t, file)
				if string(contract.HashBytes([]byte(text))) == e.Fixture {
					text = strings.ReplaceAll(text, from, to)
					write(t, file, text)
					write(t, evidence, strings.ReplaceAll(read(t, evidence), e.Fixture, string(contract.HashBytes([]byte(text)))))
				}
			}
		}, nil, t.TempDir())
		var failure *redact.Failure
		if !errors.As(err, &failure) || strings.Contains(err.Error(), to) {
			t.Errorf("%s: got %v", from, err)
		}
	}
}

// A failed build leaves the package of before alone; a good one replaces it whole.
func TestReplace(t *testing.T) {
	out := t.TempDir()
	first, err := build(t, nil, nil, out)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(first.Folder, "stray.txt"), "x")
	if _, err := build(t, nil, func(o *publish.Options) { o.Check = func() error { return errors.New("no") } }, out); err == nil {
		t.Fatal("built")
	}
	if read(t, filepath.Join(first.Folder, "stray.txt")) != "x" {
		t.Error("a refused build touched the package")
	}
	if _, err := build(t, nil, func(o *publish.Options) { o.Version = "1.2.4" }, out); err != nil {
		t.Fatal(err)
	}
	if m, err := publish.Verify(first.Folder); err != nil || m.Version != "1.2.4" {
		t.Errorf("%v", err)
	}
	entries, err := os.ReadDir(out)
	if err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
}

// What an overlay holds and what lies below it make one package.
func TestOverlay(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../replay/testdata/checkout")); err != nil {
		t.Fatal(err)
	}
	upper := filepath.Join(t.TempDir(), "registry")
	for _, folder := range []string{"observations", "fixtures", "shapes", "goldens"} {
		if err := os.MkdirAll(upper, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "registry", folder), filepath.Join(upper, folder)); err != nil {
			t.Fatal(err)
		}
	}
	checkout, err := registry.OpenCheckout(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer checkout.Tree.Close() //nolint:errcheck // read only
	tree, err := registry.OpenTree(upper)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close() //nolint:errcheck // read only
	split, err := publish.Build(tree.Overlay(checkout.Tree), checkout.Catalog, options(t, nil), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	whole, err := build(t, nil, nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if split.TarballSHA256 != whole.TarballSHA256 {
		t.Error("an overlay and the merged tree give different packages")
	}
}

func TestVerifyNamesTheFirstDifference(t *testing.T) {
	tests := []struct {
		name string
		edit func(t *testing.T, dir string)
		want publish.MismatchError
	}{
		{"changed", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "index.js"), strings.Replace(read(t, filepath.Join(dir, "index.js")), "export", "EXPORT", 1))
		}, publish.MismatchError{File: "index.js", Reason: "the file's hash is not the manifest's"}},
		{"longer", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "LICENSE"), "A longer license\n") },
			publish.MismatchError{File: "LICENSE", Reason: "the file has 17 bytes, the manifest says 10"}},
		{"missing", func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, "README.md")) },
			publish.MismatchError{File: "README.md", Reason: "the file is missing"}},
		{"stray", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "data/x.json"), "{}") },
			publish.MismatchError{File: "data/x.json", Reason: "the file is not in the manifest"}},
		{"no manifest", func(t *testing.T, dir string) {
			_ = os.Rename(filepath.Join(dir, publish.ManifestFile), filepath.Join(filepath.Dir(dir), "moved"))
			_ = os.Mkdir(filepath.Join(dir, "package"), 0o755)
		}, publish.MismatchError{File: publish.ManifestFile, Reason: "the file is missing: this is no package of this tool"}},
	}
	p, err := build(t, nil, nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "p")
			if err := os.CopyFS(dir, os.DirFS(p.Folder)); err != nil {
				t.Fatal(err)
			}
			tt.edit(t, dir)
			_, err := publish.Verify(dir)
			var got *publish.MismatchError
			if !errors.As(err, &got) || *got != tt.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

// tarball packs entries as a foreign tool might.
func tarball(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	tw := tar.NewWriter(gz)
	for _, h := range headers {
		h.Mode = 0o644
		if err := tw.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tw.Close(), gz.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestVerifyHostileTarball(t *testing.T) {
	tests := []struct {
		name    string
		entries []tar.Header
		want    string
	}{
		{"a link", []tar.Header{{Name: "package/x", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}}, "no regular file"},
		{"out of the folder", []tar.Header{{Name: "package/../x", Typeflag: tar.TypeReg}}, "no path of a package"},
		{"beside the folder", []tar.Header{{Name: "other/x", Typeflag: tar.TypeReg}}, "no path of a package"},
		{"a dot file", []tar.Header{{Name: "package/.npmrc", Typeflag: tar.TypeReg}}, "no path of a package"},
		{"twice", []tar.Header{{Name: "package/a", Typeflag: tar.TypeReg}, {Name: "package/A", Typeflag: tar.TypeReg}}, "twice"},
		{"nothing", nil, "no package of this tool"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "p.tgz")
			write(t, file, string(tarball(t, tt.entries...)))
			if _, err := publish.Verify(file); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "cut.tgz")
	write(t, file, "not gzip")
	if _, err := publish.Verify(file); err == nil {
		t.Error("verified what is no package")
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(`{"schema_version":1,"name":"a","version":"1.0.0","generated_at":"2026-01-01T00:00:00Z","files":{"a":{"sha256":"sha256:` + strings.Repeat("0", 64) + `","size":1}}}`))
	f.Add([]byte(`{"schema_version":1,"files":{"../a":{}}}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := publish.ParseManifest(data)
		if err != nil {
			return
		}
		for p := range m.Files {
			if strings.HasPrefix(p, "/") || strings.Contains(p, "..") && strings.Contains(p, "../") {
				t.Errorf("accepted %q", p)
			}
		}
	})
}

func FuzzVerifyTarball(f *testing.F) {
	f.Add(tarball(f, tar.Header{Name: "package/a", Typeflag: tar.TypeReg}))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "p.tgz")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = publish.Verify(file) // it must end, whatever the bytes are
	})
}
