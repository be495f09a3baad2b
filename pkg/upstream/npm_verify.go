package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// metadata is what npm's registry says about one version.
type metadata struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`
	Integrity    string            `json:"dist.integrity"`
	Dependencies map[string]string `json:"dependencies"`
	Optional     map[string]string `json:"optionalDependencies"`
}

func (n *NPM) metadata(ctx context.Context, dir, spec string) (*metadata, error) {
	out, err := n.view(ctx, dir, spec, "name", "version", "dist.integrity", "dependencies", "optionalDependencies")
	if err != nil {
		return nil, err
	}
	meta := &metadata{}
	if err := json.Unmarshal(out, meta); err != nil {
		return nil, unreadable("npm's description of " + spec)
	}
	return meta, nil
}

// lockEntry is what npm says it installed in one folder. Name stands only where it differs from the folder's.
type lockEntry struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Integrity string `json:"integrity"`
	InBundle  bool   `json:"inBundle,omitempty"` // it came inside the tarball of the package above it
}

func (e lockEntry) spec(folder string) string {
	if e.Name != "" {
		folder = e.Name
	}
	return folder + "@" + e.Version
}

// readLock reads npm's record of the tree that it installed: folder under node_modules → entry.
func readLock(dir string) (map[string]lockEntry, error) {
	data, err := os.ReadFile(filepath.Join(dir, "node_modules", ".package-lock.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable("npm's record of the installed tree, which is absent")
	}
	if err != nil {
		return nil, fmt.Errorf("reading npm's record of the installed tree: %w", err)
	}
	var lock struct {
		Packages map[string]lockEntry `json:"packages"`
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, unreadable("npm's record of the installed tree")
	}
	folders := make(map[string]lockEntry, len(lock.Packages))
	for path, entry := range lock.Packages {
		folders[strings.TrimPrefix(path, "node_modules/")] = entry
	}
	return folders, nil
}

// treeHash is a hash over every package of an installed tree: where it lies, its name, version and integrity. npm has
// compared each tarball with that integrity; a package without one came from elsewhere than npm's registry.
func treeHash(lock map[string]lockEntry) (contract.Hash, error) {
	const above = "/node_modules/"
	sum := sha256.New()
	for _, folder := range slices.Sorted(maps.Keys(lock)) {
		entry, name := lock[folder], above+folder
		name = entry.spec(name[strings.LastIndex(name, above)+len(above):])
		if entry.Integrity == "" && !entry.InBundle {
			return "", &IntegrityError{Package: printable(name)}
		}
		fmt.Fprintf(sum, "%s %s %s\n", folder, name, entry.Integrity)
	}
	return contract.HashSum([sha256.Size]byte(sum.Sum(nil))), nil
}

// confirm compares a folder of the installed tree with what was asked for and with the registry's metadata.
func confirm(folder, spec string, lock map[string]lockEntry, meta *metadata) error {
	entry := lock[folder]
	if got := entry.spec(folder); got != spec {
		return &WrongVersionError{Asked: spec, Got: printable(got)}
	}
	if got := meta.Name + "@" + meta.Version; got != spec {
		return &WrongVersionError{Asked: spec, Got: printable(got)}
	}
	if meta.Integrity == "" || entry.Integrity != meta.Integrity || !integrity.MatchString(meta.Integrity) {
		return &IntegrityError{Package: spec, Want: printable(meta.Integrity), Got: printable(entry.Integrity)}
	}
	return nil
}

// integrity is the grammar of install.resolved.integrity in an observation.
var integrity = regexp.MustCompile(`^sha(256|384|512)-[A-Za-z0-9+/=]+$`)

// confirmManifest compares the package's own package.json with what was asked for.
func confirmManifest(dir string, want wanted) error {
	path := filepath.Join(dir, "node_modules", filepath.FromSlash(want.pkg), "package.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the installed package.json: %w", err)
	}
	var manifest struct{ Name, Version string }
	if err := json.Unmarshal(data, &manifest); err != nil {
		return unreadable("the package.json of " + want.spec())
	}
	if got := manifest.Name + "@" + manifest.Version; got != want.spec() {
		return &WrongVersionError{Asked: want.spec(), Got: printable(got)}
	}
	return nil
}

// confirmPlatform checks the package that holds the executable, and tells a release that lacks it from a download
// that npm gave up on. It returns the package's name@version and integrity.
func (n *NPM) confirmPlatform(ctx context.Context, dir string, agent contract.Agent, want wanted,
	lock map[string]lockEntry, meta *metadata) (string, string, error) {
	declared, ok, err := n.declaration(ctx, dir, want, meta)
	if err != nil {
		return "", "", err
	}
	if !ok {
		return "", "", &LayoutError{Agent: agent.ID, Version: want.version, Platform: want.platform,
			Problem: "the release does not depend on " + want.folder}
	}
	entry, present := lock[want.folder]
	spec, exact := dependencySpec(want.folder, declared)
	if !exact && present {
		spec, exact = dependencySpec(want.folder, "npm:"+entry.spec(want.folder))
	}
	if !exact {
		return "", "", &SkippedPackageError{Package: want.folder, Platform: want.platform}
	}
	own, err := n.metadata(ctx, dir, spec)
	if hasCode(err, "E404") {
		return "", "", &IncompleteReleaseError{Package: want.spec(), Platform: want.platform, Missing: spec}
	}
	if err != nil {
		return "", "", err
	}
	if !present {
		return "", "", &SkippedPackageError{Package: spec, Platform: want.platform}
	}
	if err := confirm(want.folder, spec, lock, own); err != nil {
		return "", "", err
	}
	return spec, own.Integrity, nil
}

// declaration gives what a release says of the package that holds its executable. A release may be nothing but a
// dependency on another package of its own version, which then says it.
func (n *NPM) declaration(ctx context.Context, dir string, want wanted, meta *metadata) (string, bool, error) {
	if declared, ok := meta.dependency(want.folder); ok {
		return declared, true, nil
	}
	for _, name := range slices.Sorted(maps.Keys(meta.Dependencies)) {
		spec, exact := dependencySpec(name, meta.Dependencies[name])
		if !exact || meta.Dependencies[name] != want.version {
			continue
		}
		behind, err := n.metadata(ctx, dir, spec)
		if err != nil {
			return "", false, err
		}
		if declared, ok := behind.dependency(want.folder); ok {
			return declared, true, nil
		}
	}
	return "", false, nil
}

// dependency gives what a version says of a package that it depends on.
func (m *metadata) dependency(name string) (string, bool) {
	if declared, ok := m.Optional[name]; ok {
		return declared, true
	}
	declared, ok := m.Dependencies[name]
	return declared, ok
}

// dependencySpec gives name@version for a dependency that names one exact version, perhaps of a package under
// another name ("npm:name@version"). Anything else that a release may write there, such as a range or an address,
// is not exact, and must not reach npm's command line.
func dependencySpec(folder, declared string) (spec string, exact bool) {
	name, version := folder, declared
	if alias, ok := strings.CutPrefix(declared, "npm:"); ok {
		at := strings.LastIndex(alias, "@")
		if at < 0 {
			return "", false
		}
		name, version = alias[:at], alias[at+1:]
	}
	w := wanted{pkg: name, version: version}
	return w.spec(), packageName.MatchString(name) && w.exact()
}
