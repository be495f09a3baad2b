package upstream

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// kindNode is the only runtime so far, as contract.Runtime names it.
const kindNode = "node"

// Runtime is what starts a script.
type Runtime struct {
	Dir, Bin string // as in Installed
	Record   contract.RuntimeInstall
}

// Runtime gives the pinned release of a runtime for one platform, installed and checked as Install does it.
func (n *NPM) Runtime(ctx context.Context, r contract.Runtime, platform contract.Platform) (*Runtime, error) {
	if r.Kind != kindNode {
		return nil, fmt.Errorf("runtime %q cannot be installed: this release knows %s", printable(r.Kind), kindNode)
	}
	pkg, bin := nodePackage(platform)
	got, err := n.Install(ctx, contract.Agent{
		ID:        kindNode,
		Upstreams: contract.Upstreams{NPM: &contract.NPMUpstream{Package: pkg}},
		Channels:  []contract.Channel{{Name: "all", Pattern: ".*"}},
		Install:   []contract.InstallLayout{{Bin: map[contract.Platform]string{platform: bin}}},
	}, string(r.Version), platform)
	if err != nil {
		return nil, err
	}
	return &Runtime{Dir: got.Dir, Bin: got.Bin, Record: contract.RuntimeInstall{
		Kind: r.Kind, Version: r.Version, Package: got.Resolved.Package, Integrity: got.Resolved.Integrity, BinarySHA256: got.BinarySHA256,
	}}, nil
}

// nodePackage names the npm package that holds Node's own build for a platform, and the executable in it. One name
// was taken, and Windows has a short one.
func nodePackage(platform contract.Platform) (pkg, bin string) {
	switch system, cpu, _ := strings.Cut(string(platform), "-"); {
	case system == "win32":
		return "node-win-" + cpu, "bin/node.exe"
	case platform == "darwin-arm64":
		return "node-bin-" + string(platform), "bin/node"
	}
	return "node-" + string(platform), "bin/node"
}

// RuntimeOf tells which kind of runtime a file asks for by its name or first line; "" for an executable and for a
// script of another kind.
func RuntimeOf(path string) (string, error) {
	head, err := readHead(path, 100)
	if err != nil {
		return "", fmt.Errorf("reading the executable: %w", err)
	}
	if binaryPlatform(head) != "" {
		return "", nil
	}
	if line, ok := bytes.CutPrefix(head, []byte("#!")); ok {
		line, _, _ = bytes.Cut(line, []byte("\n"))
		for _, word := range bytes.Fields(line) {
			if filepath.Base(string(word)) == kindNode {
				return kindNode, nil
			}
		}
		return "", nil
	}
	if slices.Contains([]string{".js", ".mjs", ".cjs"}, filepath.Ext(path)) {
		return kindNode, nil
	}
	return "", nil
}
