package upstream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/scratch"
)

// Installed is one exact release, ready to run.
type Installed struct {
	Dir          string            // absolute; what must be readable to run Bin: the folder that holds node_modules
	Bin          string            // absolute path of the executable, or of the script that a runtime starts
	Source       string            // install.source of an observation: npm:<package>@<version>
	Resolved     contract.Resolved // what npm installed, integrity confirmed
	BinarySHA256 contract.Hash     // of Bin, as it was installed and as it is now
	Runtime      *Runtime          // what starts Bin; nil where Bin is an executable
}

// Install gives one exact version of an agent for one platform, from the cache if it is there: then neither npm
// nor network is needed, and the executable must still have the hash that it was installed with.
//
// Otherwise npm installs it without running any script of a package. Before it enters the cache the version is
// compared with the one asked for, the integrity of the package and of its platform package with the registry's
// metadata, and the executable must be one for the platform. Where the release is a script, the tree of packages that
// came with it is hashed, and its runtime is installed in the same way. Processes that install the same release at
// once wait for each other. What an interrupted install leaves behind is removed by the next one.
//
// Errors: ErrNoNPM, ErrNoNode, *NetworkError, *UnknownPackageError, *UnknownVersionError, *LayoutError,
// *IncompleteReleaseError, *SkippedPackageError, *WrongVersionError, *IntegrityError, *BinaryError, *NPMError.
func (n *NPM) Install(ctx context.Context, agent contract.Agent, version string, platform contract.Platform) (*Installed, error) {
	pkg, err := npmPackage(agent, version)
	if err != nil {
		return nil, err
	}
	if n.CacheDir == "" {
		return nil, errors.New("installing from npm: no cache folder is set: name one")
	}
	want := wanted{pkg: pkg, version: version, platform: platform}
	if want.exact() {
		if err := want.locate(agent); err != nil {
			return nil, err
		}
	}
	installed, err := n.install(ctx, agent, want)
	if err != nil {
		return nil, fmt.Errorf("installing %s@%s for %s: %w", pkg, version, platform, err)
	}
	if want.runtime != nil {
		if installed.Runtime, err = n.Runtime(ctx, *want.runtime, platform); err != nil {
			return nil, err
		}
	}
	return installed, nil
}

// wanted is one release for one platform and where its executable must lie.
type wanted struct {
	pkg, version string
	platform     contract.Platform
	folder       string            // of the package that holds the executable, under node_modules
	bin          string            // slash-separated, relative to the folder that holds node_modules
	runtime      *contract.Runtime // what starts bin; nil where bin is an executable
}

// exact reports whether the version is one, rather than a range or a tag that npm would resolve.
func (w wanted) exact() bool {
	_, err := semver.StrictNewVersion(w.version)
	return err == nil && cliVersion.MatchString(w.version)
}

func (w wanted) spec() string { return w.pkg + "@" + w.version }

// Layout gives the first install layout of an agent whose range has the version. The error is a *LayoutError.
func Layout(agent contract.Agent, version string, platform contract.Platform) (*contract.InstallLayout, error) {
	problem := func(text string) error {
		return &LayoutError{Agent: agent.ID, Version: version, Platform: platform, Problem: text}
	}
	for _, layout := range agent.Install {
		match, err := contract.MatchReleases(layout.Releases, version)
		if err != nil {
			return nil, problem("the range " + layout.Releases + " of a layout cannot be read")
		}
		if match {
			return &layout, nil
		}
	}
	return nil, problem("no layout has this version")
}

// locate finds the executable or script by the layout of the release.
func (w *wanted) locate(agent contract.Agent) error {
	problem := func(text string) error {
		return &LayoutError{Agent: agent.ID, Version: w.version, Platform: w.platform, Problem: text}
	}
	layout, err := Layout(agent, w.version, w.platform)
	if err != nil {
		return err
	}
	rel := layout.Script
	if rel == "" {
		rel = layout.Bin[w.platform]
	}
	if rel == "" {
		return problem("the layout names no executable for this platform")
	}
	w.folder = w.pkg
	if own, ok := layout.PlatformPackage[w.platform]; ok {
		w.folder = own
	}
	if !filepath.IsLocal(filepath.FromSlash(rel)) || !packageName.MatchString(w.folder) {
		return problem("the layout leads out of the package")
	}
	w.bin, w.runtime = "node_modules/"+w.folder+"/"+rel, layout.Runtime
	return nil
}

func (n *NPM) install(ctx context.Context, agent contract.Agent, want wanted) (*Installed, error) {
	if !want.exact() {
		own, err := scratch.Dir("")
		if err != nil {
			return nil, fmt.Errorf("making a folder to run npm in: %w", err)
		}
		defer own.Remove() //nolint:errcheck // best effort on a folder of ours
		return nil, n.unknownVersion(ctx, own.Path, agent, want)
	}
	s, err := n.slot(want)
	if err != nil {
		return nil, err
	}
	if installed, err := s.load(want); installed != nil || err != nil {
		return installed, err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	// Another process may have finished the same install meanwhile.
	if installed, err := s.load(want); installed != nil || err != nil {
		return installed, err
	}
	staging, err := s.stage()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(staging) //nolint:errcheck // best effort on a folder of ours
	m, err := n.fill(ctx, staging, agent, want)
	if err != nil {
		return nil, err
	}
	if err := s.commit(staging, m); err != nil {
		return nil, err
	}
	return s.installed(m), nil
}

// fill installs into the staging folder and checks the result.
func (n *NPM) fill(ctx context.Context, staging string, agent contract.Agent, want wanted) (*marker, error) {
	meta, err := n.metadata(ctx, staging, want.spec())
	if hasCode(err, "E404") {
		return nil, n.unknownVersion(ctx, staging, agent, want)
	}
	if err != nil {
		return nil, err
	}
	if err := n.npmInstall(ctx, staging, want); err != nil {
		return nil, err
	}
	lock, err := readLock(staging)
	if err != nil {
		return nil, err
	}
	if err := confirm(want.pkg, want.spec(), lock, meta); err != nil {
		return nil, err
	}
	if err := confirmManifest(staging, want); err != nil {
		return nil, err
	}
	m := &marker{
		Package: want.pkg, Version: want.version, Platform: want.platform, Integrity: meta.Integrity, Bin: want.bin,
	}
	if want.folder != want.pkg {
		if m.PlatformPackage, m.PlatformIntegrity, err = n.confirmPlatform(ctx, staging, agent, want, lock, meta); err != nil {
			return nil, err
		}
	}
	if want.runtime != nil {
		if m.TreeSHA256, err = treeHash(lock); err != nil {
			return nil, err
		}
	}
	m.BinarySHA256, err = checkBinary(staging, want.bin, want.platform)
	return m, err
}

// npmInstall runs npm install. The layout flags say what the user's own npm settings could turn round.
func (n *NPM) npmInstall(ctx context.Context, staging string, want wanted) error {
	system, cpu, _ := strings.Cut(string(want.platform), "-")
	args := append([]string{"install"}, commonFlags(staging)...)
	args = append(args,
		"--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--no-package-lock", "--no-dry-run",
		"--include=optional", "--install-strategy=hoisted", "--os="+system, "--cpu="+cpu)
	if system == "linux" && runtime.GOOS != "linux" {
		// On another system npm knows no C library, and leaves out every package that names one.
		args = append(args, "--libc=glibc")
	}
	_, err := n.run(ctx, staging, "install "+want.spec(), append(args, want.spec()))
	if hasCode(err, "EINTEGRITY") {
		return &IntegrityError{Package: want.spec()}
	}
	return err
}

// unknownVersion says why npm does not find a version: it names the nearest ones, or finds that there is no such
// package.
func (n *NPM) unknownVersion(ctx context.Context, dir string, agent contract.Agent, want wanted) error {
	channels, err := compileChannels(agent)
	if err != nil {
		return err
	}
	list, err := n.list(ctx, dir, want.pkg)
	if err != nil {
		return err
	}
	releases := slices.DeleteFunc(list.versions, func(v listed) bool {
		return !slices.ContainsFunc(channels, func(c channel) bool { return c.takes(v.text, list.tags) })
	})
	return &UnknownVersionError{Package: want.pkg, Version: printable(want.version), Nearest: nearest(releases, want.version)}
}

// nearest gives up to five of the releases, which are in order: those around the version, or the newest ones when
// it is no version at all.
func nearest(releases []listed, version string) []string {
	const count = 5
	at := 0
	if v, err := semver.NewVersion(version); err == nil {
		at = slices.IndexFunc(releases, func(r listed) bool { return r.version.LessThan(v) })
		if at < 0 {
			at = len(releases)
		}
	}
	first := max(0, min(at-count/2, len(releases)-count))
	var texts []string
	for _, r := range releases[first:min(first+count, len(releases))] {
		texts = append(texts, r.text)
	}
	return texts
}

// printable keeps a foreign text short and on one line.
func printable(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	return clean[:min(len(clean), 120)]
}
