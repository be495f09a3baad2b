//go:build integration

package upstream

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// realAgent is the part of an agent's file that this package reads. Its ranges are the three ways in which this CLI
// has been packed: beside its script, in a vendor folder for all platforms, and in one package per platform.
func realAgent() contract.Agent {
	triples := map[contract.Platform]string{
		"linux-x64": "x86_64-unknown-linux-musl", "linux-arm64": "aarch64-unknown-linux-musl",
		"darwin-x64": "x86_64-apple-darwin", "darwin-arm64": "aarch64-apple-darwin",
		"win32-x64": "x86_64-pc-windows-msvc",
	}
	layout := func(releases, path string, own bool) contract.InstallLayout {
		l := contract.InstallLayout{Releases: releases, Bin: map[contract.Platform]string{}}
		if own {
			l.PlatformPackage = map[contract.Platform]string{}
		}
		for platform, triple := range triples {
			l.Bin[platform] = strings.ReplaceAll(path, "{triple}", triple)
			if strings.HasPrefix(string(platform), "win32") {
				l.Bin[platform] += ".exe"
			}
			if own {
				l.PlatformPackage[platform] = "@openai/codex-" + string(platform)
			}
		}
		return l
	}
	return contract.Agent{
		ID:        "codex",
		Upstreams: contract.Upstreams{NPM: &contract.NPMUpstream{Package: "@openai/codex"}},
		Channels: []contract.Channel{
			{Name: "stable", Pattern: `\d+\.\d+\.\d+`}, {Name: "alpha", Pattern: `\d+\.\d+\.\d+-alpha\.\d+`}, {Name: "latest", DistTag: "latest"},
		},
		Install: []contract.InstallLayout{
			layout("<0.42.0", "bin/codex-{triple}", false),
			layout(">=0.42.0 <0.99.0", "vendor/{triple}/codex/codex", false),
			layout(">=0.99.0 <0.133.0", "vendor/{triple}/codex/codex", true),
			layout(">=0.133.0", "vendor/{triple}/bin/codex", true),
		},
	}
}

func TestRealReleases(t *testing.T) {
	releases, heads, err := (&NPM{}).Releases(t.Context(), realAgent())
	if err != nil {
		t.Fatal(err)
	}
	if len(releases) < 100 || len(heads) < 2 {
		t.Fatalf("%d releases, heads %v", len(releases), heads)
	}
	found := map[contract.CLIVersion]contract.ReleaseRecord{}
	for _, r := range releases {
		found[r.Version] = r
	}
	if r := found["0.133.0"]; r.Channel != "stable" || r.PublishedAt == "" {
		t.Errorf("0.133.0 is %+v", r)
	}
	if _, listed := found["0.133.0-linux-x64"]; listed {
		t.Error("a platform build is listed as a release")
	}
}

func TestRealInstall(t *testing.T) {
	platform := contract.PlatformOf(runtime.GOOS, runtime.GOARCH)
	n := &NPM{CacheDir: t.TempDir()}
	// Settings with which npm would otherwise install elsewhere, in another form, in part or not at all.
	n.Env = append(os.Environ(), "npm_config_location=global", "npm_config_global=true", "npm_config_dry_run=true",
		"npm_config_omit=optional", "npm_config_install_strategy=linked")
	installed, err := n.Install(t.Context(), realAgent(), "0.133.0", platform)
	if err != nil {
		t.Fatal(err)
	}
	if want := "@openai/codex@0.133.0-" + string(platform); installed.Resolved.PlatformPackage != want {
		t.Errorf("platform package %q, want %q", installed.Resolved.PlatformPackage, want)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, installed.Bin, "--version")
	cmd.Env = []string{"HOME=" + t.TempDir()}
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "0.133.0") {
		t.Errorf("--version failed (%v) or names another version", err)
	}
	if after, err := HashFile(installed.Bin); err != nil || after != installed.BinarySHA256 {
		t.Errorf("the executable's hash after a run is %s (%v), it was %s", after, err, installed.BinarySHA256)
	}
	offline := &NPM{Command: "no-such-npm", CacheDir: n.CacheDir}
	if _, err := offline.Install(t.Context(), realAgent(), "0.133.0", platform); err != nil {
		t.Errorf("from the cache: %v", err)
	}
}
