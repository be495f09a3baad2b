package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func TestCachedInstallChanged(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, i *Installed)
		want   string
	}{
		{"executable changed", func(t *testing.T, i *Installed) { write(t, i.Bin, "#!/bin/sh\nother\n") },
			"the executable of this cached install was changed since: remove the folder"},
		{"executable gone", func(t *testing.T, i *Installed) { os.Remove(i.Bin) },
			"the executable of this cached install is gone: remove the folder"},
		{"marker damaged", func(t *testing.T, i *Installed) { write(t, filepath.Join(i.Dir, markerName), "{") },
			"the marker of this cached install cannot be read: remove the folder"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newFake(t, fixtureWorld())
			installed, err := n.Install(t.Context(), fixtureAgent(), "2.0.0", "linux-x64")
			if err != nil {
				t.Fatal(err)
			}
			tt.change(t, installed)
			_, err = n.Install(t.Context(), fixtureAgent(), "2.0.0", "linux-x64")
			var wrong *BinaryError
			if !errors.As(err, &wrong) || wrong.Path != installed.Dir || wrong.Problem+": "+wrong.Remedy != tt.want {
				t.Fatalf("got %v", err)
			}
			// The remedy works.
			if err := os.RemoveAll(installed.Dir); err != nil {
				t.Fatal(err)
			}
			if _, err := n.Install(t.Context(), fixtureAgent(), "2.0.0", "linux-x64"); err != nil {
				t.Error(err)
			}
		})
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestCorrectedLayoutReplacesInstall(t *testing.T) {
	world, agent := fixtureWorld(), fixtureAgent()
	world.Packages["@demo/cli"].Versions["1.9.0"].Files["bin/other"] = "#!/bin/sh\necho other\n"
	n := newFake(t, world)
	if _, err := n.Install(t.Context(), agent, "1.9.0", "linux-x64"); err != nil {
		t.Fatal(err)
	}
	agent.Install[0].Bin["linux-x64"] = "bin/other"
	got, err := n.Install(t.Context(), agent, "1.9.0", "linux-x64")
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(got.Bin) != "other" || got.BinarySHA256 != contract.HashBytes([]byte("#!/bin/sh\necho other\n")) {
		t.Errorf("got %+v", got)
	}
	assertNothingPartial(t, n)
}

func TestMarker(t *testing.T) {
	n := newFake(t, fixtureWorld())
	installed, err := n.Install(t.Context(), fixtureAgent(), "2.0.0", "linux-x64")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(installed.Dir, markerName))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"package": "@demo/cli", "version": "2.0.0", "platform": "linux-x64",
		"integrity":          "sha512-" + strings.Repeat("c", 86) + "==",
		"platform_package":   "@demo/cli@2.0.0-linux-x64",
		"platform_integrity": "sha512-" + strings.Repeat("d", 86) + "==",
		"bin":                "node_modules/@demo/cli-linux-x64/vendor/demo",
		"binary_sha256":      string(installed.BinarySHA256),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConcurrentInstalls(t *testing.T) {
	world := fixtureWorld()
	n := newFake(t, world)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			own := *n
			if _, err := own.Install(t.Context(), fixtureAgent(), "2.0.0", "linux-x64"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff([]string{"view", "install", "view"}, calls(t, world)); diff != "" {
		t.Errorf("npm was called more than for one install (-want +got):\n%s", diff)
	}
	assertNothingPartial(t, n)
}

func TestKilledInstall(t *testing.T) {
	world := fixtureWorld()
	world.Hang = true
	n := newFake(t, world)
	child := exec.Command("install-once", n.CacheDir)
	child.Env = n.Env
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	partial := filepath.Join(n.CacheDir, "npm", "*", "*", "*.partial-*", "node_modules", "@demo", "cli", "package.json")
	await(t, func() bool { found, _ := filepath.Glob(partial); return len(found) == 1 })

	// While the other process lives, an install waits for it, for as long as its context lasts.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := n.Install(ctx, fixtureAgent(), "2.0.0", "linux-x64"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("beside a living install: %v", err)
	}

	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	child.Wait()
	if found, _ := filepath.Glob(partial); len(found) != 1 {
		t.Fatalf("the killed install left %v", found)
	}
	world.Hang = false
	whole := newFake(t, world)
	whole.CacheDir = n.CacheDir
	if _, err := whole.Install(t.Context(), fixtureAgent(), "2.0.0", "linux-x64"); err != nil {
		t.Error(err)
	}
	assertNothingPartial(t, n)
}

// await polls until a condition holds.
func await(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited 30 s in vain")
		}
	}
}

func TestCancelledInstall(t *testing.T) {
	world := fixtureWorld()
	world.Hang = true
	n := newFake(t, world)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		await(t, func() bool { data, _ := os.ReadFile(world.Log); return strings.Contains(string(data), "install") })
		cancel()
	}()
	if _, err := n.Install(ctx, fixtureAgent(), "2.0.0", "linux-x64"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	assertNothingPartial(t, n)
}
