//go:build unix && integration

package capture

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/upstream"
)

// BenchmarkRealOverhead is BenchmarkOverhead of a real CLI, without its installation.
func BenchmarkRealOverhead(b *testing.B) {
	checkout, err := registry.OpenCheckout("../..")
	if err != nil {
		b.Fatal(err)
	}
	defer checkout.Tree.Close()
	agent, err := checkout.Catalog.Agent("codex")
	if err != nil {
		b.Fatal(err)
	}
	c := newCapturer(b, true)
	c.Catalog, c.Platform = checkout.Catalog, contract.PlatformOf(runtime.GOOS, runtime.GOARCH)
	c.Installer = &upstream.NPM{CacheDir: filepath.Join(b.TempDir(), "installs")}
	for _, probe := range []contract.ProbeID{"chat-text-success", "chat-tool-success"} {
		b.Run(string(probe), func(b *testing.B) {
			overhead(b, c, Target{Agent: agent, Version: "0.133.0", Probe: checkout.Catalog.Probes[probe], Repeat: 1})
		})
	}
}
