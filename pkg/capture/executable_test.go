//go:build unix

package capture

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/upstream"
)

// TestUnchanged: what ran is still what was hashed, however a change tries to look like none.
func TestUnchanged(t *testing.T) {
	other := func(t *testing.T, bin string) {
		if err := os.WriteFile(bin, []byte("two"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	defer func(before time.Duration) { settled = before }(settled)
	settled = 0
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, bin string)
		ok     bool
	}{
		{"nothing", func(*testing.T, string) {}, true},
		{"other bytes", other, false},
		{"other bytes of the same age", func(t *testing.T, bin string) {
			info, err := os.Stat(bin)
			if err != nil {
				t.Fatal(err)
			}
			other(t, bin)
			if err := os.Chtimes(bin, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"another file in its place", func(t *testing.T, bin string) {
			other(t, bin+".new")
			if err := os.Rename(bin+".new", bin); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"touched", func(t *testing.T, bin string) {
			if err := os.Chtimes(bin, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"gone", func(t *testing.T, bin string) { os.Remove(bin) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bin := filepath.Join(t.TempDir(), "cli")
			if err := os.WriteFile(bin, []byte("one"), 0o755); err != nil {
				t.Fatal(err)
			}
			hash, err := upstream.HashFile(bin)
			if err != nil {
				t.Fatal(err)
			}
			exe := executable{bin: bin, hash: hash}.stamped()
			time.Sleep(20 * time.Millisecond) // some ticks of any file system's clock
			tt.change(t, bin)
			if err := exe.unchanged(); (err == nil) != tt.ok {
				t.Errorf("got %v", err)
			}
			if tt.ok && !exe.stamps.known(bin, stamp(bin)) {
				t.Error("the next run hashes the file again")
			}
			other(t, bin)
			if exe.unchanged() == nil {
				t.Error("a later change is not seen")
			}
		})
	}
}

// Some CLIs print another version than their release has. Only the release asked for can be told by it.
func TestReleaseOf(t *testing.T) {
	probe := contract.VersionProbe{Reports: map[contract.CLIVersion]contract.CLIVersion{"0.0.34": "1.0.1"}}
	for _, c := range []struct{ asked, got, want contract.CLIVersion }{
		{"0.0.34", "1.0.1", "0.0.34"},
		{"0.0.34", "0.0.34", "0.0.34"},
		{"0.0.34", "1.0.2", "1.0.2"},
		{"0.0.35", "1.0.1", "1.0.1"},
		{"0.0.35", "", ""},
		{"", "1.0.1", ""},
		{"", "1.0.2", "1.0.2"},
	} {
		if got := releaseOf(probe, c.asked, c.got); got != c.want {
			t.Errorf("asked for %q, reported %q: release %q, want %q", c.asked, c.got, got, c.want)
		}
	}
}
