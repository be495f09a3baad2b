package replay_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/replay"
)

// scanner is shared: lines that were clean once are not scanned again.
var scanner = sync.OnceValues(func() (*scan.Scanner, error) { return scan.New(scan.Config{}) })

// open copies the checkout, lets edit change it, and opens its library.
func open(t *testing.T, edit func(registry string)) *replay.Library {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/checkout")); err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(filepath.Join(dir, "registry"))
	}
	checkout, err := registry.OpenCheckout(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = checkout.Tree.Close() })
	scanner, err := scanner()
	if err != nil {
		t.Fatal(err)
	}
	l, err := replay.OpenLibrary(checkout.Tree, checkout.Catalog, scanner, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// rewrite replaces text in all files below a folder of the tree.
func rewrite(t *testing.T, dir, from, to string) {
	t.Helper()
	changed := 0
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil || !strings.Contains(string(data), from) {
			return err
		}
		changed++
		return os.WriteFile(p, []byte(strings.ReplaceAll(string(data), from, to)), 0o644)
	})
	if err != nil || changed == 0 {
		t.Fatalf("%d files changed: %v", changed, err)
	}
}

func selector(t *testing.T, s string) registry.Selector {
	t.Helper()
	sel, err := registry.ParseSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	return sel
}

func TestReplayMatchesGoldens(t *testing.T) {
	results, err := open(t, nil).Replay(context.Background(), registry.Selector{}, replay.ReferenceParser())
	if err != nil {
		t.Fatal(err)
	}
	got := map[contract.ProbeID]contract.ReplayStatus{}
	for _, r := range results {
		got[r.Probe] = r.Status
	}
	want := map[contract.ProbeID]contract.ReplayStatus{"chat-text-success": replay.Compatible, "provider-failure": replay.Compatible, "version-probe": replay.Compatible}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReplayReportsDifferences(t *testing.T) {
	l := open(t, func(dir string) { rewrite(t, filepath.Join(dir, "goldens"), `"assistant_text"`, `"thinking"`) })
	results, err := l.Replay(context.Background(), selector(t, "sample-cli@1.2.0:chat_text_success"), replay.ReferenceParser())
	if err != nil {
		t.Fatal(err)
	}
	want := []replay.Difference{{Kind: replay.EventLost, Index: 1, Event: "thinking"}, {Kind: replay.EventExtra, Index: 1, Event: "assistant_text"}}
	if len(results) != 1 || results[0].Status != replay.Incompatible || cmp.Diff(want, results[0].Differences) != "" {
		t.Errorf("%+v", results)
	}
}

func TestReplayWithoutGoldenIsNotRun(t *testing.T) {
	l := open(t, func(dir string) { _ = os.RemoveAll(filepath.Join(dir, "goldens")) })
	results, err := l.Replay(context.Background(), selector(t, "sample"), replay.ReferenceParser())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Status != contract.ReplayNotRun || !strings.Contains(r.Problem, "no golden") {
			t.Errorf("%+v", r)
		}
	}
}

func TestFixtureFailsClosed(t *testing.T) {
	tests := []struct {
		name string
		edit func(dir string)
		want string
	}{
		{"text that the probe does not publish", func(dir string) { rewrite(t, filepath.Join(dir, "fixtures"), "Hello, sample.", "Hello, stranger.") }, "structure/"},
		{"a raw id", func(dir string) { rewrite(t, filepath.Join(dir, "fixtures"), "<id:1>", "s-4711") }, "structure/"},
		{"another spelling", func(dir string) {
			rewrite(t, filepath.Join(dir, "fixtures"), `{"dir":"process","event":"spawn","at_ms":0}`, `{"dir":"process", "event":"spawn","at_ms":0}`)
		}, "spelled"},
		{"a fixture that no run names", func(dir string) { _ = os.RemoveAll(filepath.Join(dir, "observations")) }, "no observation"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			shape := recorded(t, open(t, nil), "chat-text-success").Observation.Shape.Signature
			f, err := open(t, tt.edit).Fixture(contract.FamilyJSONEvent, shape)
			var unreadable *replay.UnreadableError
			if !errors.As(err, &unreadable) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want an error about %q", err, tt.want)
			}
			if f != nil || strings.Contains(err.Error(), "stranger") || strings.Contains(err.Error(), "4711") {
				t.Errorf("the error quotes the fixture: %v", err)
			}
		})
	}
}

func TestFixtureFailureIsARedactionFailure(t *testing.T) {
	l := open(t, func(dir string) { rewrite(t, filepath.Join(dir, "fixtures"), "Hello, sample.", "x") })
	_, err := l.Replay(context.Background(), selector(t, "sample"), replay.ReferenceParser())
	var failure *redact.Failure
	if !errors.As(err, &failure) {
		t.Errorf("got %v", err)
	}
}

// Without evidence nothing says which run made the fixture; any run of the shape may vouch for it.
func TestFixtureWithoutEvidence(t *testing.T) {
	l := open(t, func(dir string) {
		_ = filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
			if strings.HasSuffix(p, ".evidence.json") {
				_ = os.Remove(p)
			}
			return err
		})
	})
	f, err := l.Fixture(contract.FamilyJSONEvent, recorded(t, l, "chat-text-success").Observation.Shape.Signature)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
}

func recorded(t *testing.T, l *replay.Library, probe string) *registry.Record {
	t.Helper()
	r, err := l.One(registry.Selector{Probe: probe})
	if err != nil {
		t.Fatal(err)
	}
	return r.Record
}

func TestSelect(t *testing.T) {
	l := open(t, nil)
	tests := []struct {
		selector string
		want     int
		err      string
	}{
		{"sample", 3, ""},
		{"sample@1.2.0:version-probe", 1, ""},
		{"sample@9.9.9", 0, "sample@1.2.0"},
		{"sample@9.9.9:version-probe", 0, "sample@1.2.0"},
		{"sample@1.2.0:chat_txt", 0, `unknown probe "chat-txt"; known: chat-text-success, provider-failure, version-probe`},
		{"nobody", 0, "known: sample"},
		{"sample@1.2.0#sha256-" + strings.Repeat("0", 64), 0, "no observation matches"},
	}
	for _, tt := range tests {
		got, err := l.Select(selector(t, tt.selector))
		if len(got) != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %d observations, %v", tt.selector, len(got), err)
		}
	}
	if _, err := l.One(selector(t, "sample")); err == nil || !strings.Contains(err.Error(), "several behaviours") {
		t.Errorf("One of an ambiguous selector: %v", err)
	}
}

// A selector of many behaviours is answered by some of them, as selectors; one of many releases by how many there are.
func TestOne(t *testing.T) {
	l := open(t, nil)
	first := l.Records.Observations[0]
	for i := range 20 {
		r := *first
		r.Observation.Probe = contract.ProbeID(fmt.Sprintf("made-up-%02d", i))
		l.Records.Observations = append(l.Records.Observations, &r)
	}
	_, err := l.One(selector(t, "sample"))
	if err == nil || !strings.Contains(err.Error(), "sample:chat-text-success, sample:made-up-00") || !strings.Contains(err.Error(), "… and 13 more") {
		t.Errorf("got %v", err)
	}
	newer := *recorded(t, l, "version-probe")
	newer.Observation.CLIVersion, newer.At = "1.3.0", newer.At+9
	l.Records.Observations = append(l.Records.Observations, &newer)
	for text, want := range map[string]struct {
		version  contract.CLIVersion
		releases int
	}{"sample:version-probe": {"1.3.0", 2}, "sample@1.2.0:version-probe": {"1.2.0", 1}} {
		got, err := l.One(selector(t, text))
		if err != nil || got.Observation.CLIVersion != want.version || got.Releases != want.releases {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
