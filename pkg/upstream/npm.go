package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/scratch"
)

// packageName is the grammar of npm package names that an agent's file may hold.
var packageName = regexp.MustCompile(`^(@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*$`)

// cliVersion is what may stand as a version in a record and as one segment of a path.
var cliVersion = regexp.MustCompile(contract.CLIVersion("").Pattern())

// Releases lists the releases of an agent, newest first, and the head of each of its channels in the channels'
// order. A version that no channel takes in is no release: some packages publish their platform builds as versions
// of their own. A release carries the first channel that takes it in.
//
// The head of a channel with a dist-tag is the tagged version, which a vendor may move back. The head of any other
// is its newest version that is not deprecated, or its newest one if all are. A channel without versions has none.
//
// Errors: ErrNoNPM, ErrNoNode, *NetworkError, *UnknownPackageError, *NPMError.
func (n *NPM) Releases(ctx context.Context, agent contract.Agent) ([]contract.ReleaseRecord, []contract.ChannelHead, error) {
	packages, err := npmPackages(agent)
	if err != nil {
		return nil, nil, err
	}
	channels, err := compileChannels(agent)
	if err != nil {
		return nil, nil, err
	}
	own, err := scratch.Dir("")
	if err != nil {
		return nil, nil, fmt.Errorf("making a folder to run npm in: %w", err)
	}
	defer own.Remove() //nolint:errcheck // best effort on a folder of ours
	dir := own.Path
	var all listing
	for i, pkg := range packages {
		list, err := n.list(ctx, dir, pkg)
		if err != nil {
			return nil, nil, fmt.Errorf("listing releases of %s: %w", agent.ID, err)
		}
		if i == 0 {
			all.tags = list.tags // those of a former name stand still
		}
		list.versions = slices.DeleteFunc(list.versions, func(v listed) bool {
			holder, err := npmPackage(agent, v.text)
			return err != nil || holder != pkg || !slices.ContainsFunc(channels, func(c channel) bool { return c.takes(v.text, all.tags) })
		})
		if err := n.markDeprecated(ctx, dir, pkg, list.versions); err != nil {
			return nil, nil, fmt.Errorf("listing deprecations of %s: %w", agent.ID, err)
		}
		all.versions = append(all.versions, list.versions...)
	}
	slices.SortStableFunc(all.versions, newerFirst)
	return records(channels, &all), heads(channels, &all), nil
}

// npmPackages are the names of an agent's package, the current one first.
func npmPackages(agent contract.Agent) ([]string, error) {
	if agent.Upstreams.NPM == nil {
		return nil, fmt.Errorf("agent %s does not ship on npm: name its package under upstreams.npm in registry/agents/%s.json", agent.ID, agent.ID)
	}
	names := []string{agent.Upstreams.NPM.Package}
	for _, former := range agent.Upstreams.NPM.Former {
		if !slices.Contains(names, former.Package) {
			names = append(names, former.Package)
		}
	}
	for _, name := range names {
		if !packageName.MatchString(name) {
			return nil, fmt.Errorf("agent %s: %q is no npm package name: correct upstreams.npm.package in registry/agents/%s.json", agent.ID, name, agent.ID)
		}
	}
	return names, nil
}

// npmPackage is the name under which a version was published.
func npmPackage(agent contract.Agent, version string) (string, error) {
	names, err := npmPackages(agent)
	if err != nil {
		return "", err
	}
	for _, former := range agent.Upstreams.NPM.Former {
		in, err := contract.MatchReleases(former.Releases, version)
		if err != nil {
			return "", fmt.Errorf("agent %s: upstreams.npm.former: %w", agent.ID, err)
		}
		if in {
			return former.Package, nil
		}
	}
	return names[0], nil
}

// channel is a contract.Channel with its pattern compiled; pattern is nil where the channel has only a dist-tag.
type channel struct {
	name, tag string
	pattern   *regexp.Regexp
}

func compileChannels(agent contract.Agent) ([]channel, error) {
	channels := make([]channel, 0, len(agent.Channels))
	for _, c := range agent.Channels {
		compiled := channel{name: c.Name, tag: c.DistTag}
		if c.Pattern == "" && c.DistTag == "" {
			return nil, fmt.Errorf("agent %s: channel %s takes in no version: give it a dist_tag or a pattern", agent.ID, c.Name)
		}
		if c.Pattern != "" {
			pattern, err := regexp.Compile(`^(?:` + c.Pattern + `)$`)
			if err != nil {
				return nil, fmt.Errorf("agent %s: reading the pattern of channel %s: %w", agent.ID, c.Name, err)
			}
			compiled.pattern = pattern
		}
		channels = append(channels, compiled)
	}
	return channels, nil
}

// takes reports whether a version belongs to the channel. The version that the channel's tag points at always does.
func (c channel) takes(version string, tags map[string]string) bool {
	if c.tag != "" && tags[c.tag] == version {
		return true
	}
	return c.pattern != nil && c.pattern.MatchString(version)
}

// listing is what npm knows about a package. The versions are in order, newest first.
type listing struct {
	versions []listed
	tags     map[string]string
}

type listed struct {
	text       string
	version    *semver.Version
	published  time.Time // zero when the registry does not say
	deprecated bool
}

// list asks for all versions, their dates and the tags: one round trip.
func (n *NPM) list(ctx context.Context, dir, pkg string) (*listing, error) {
	out, err := n.view(ctx, dir, pkg, "name", "versions", "time", "dist-tags")
	if hasCode(err, "E404") {
		return nil, &UnknownPackageError{Package: pkg}
	}
	if err != nil {
		return nil, err
	}
	return parseListing(pkg, out)
}

// parseListing reads the answer to list. Versions that could not stand in a record are left out.
func parseListing(pkg string, out []byte) (*listing, error) {
	var answer struct {
		Versions contract.OneMany  `json:"versions"`
		Time     map[string]any    `json:"time"`
		Tags     map[string]string `json:"dist-tags"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, unreadable("npm's list of versions of " + pkg)
	}
	list := &listing{tags: answer.Tags}
	for _, text := range answer.Versions {
		version, err := semver.NewVersion(text)
		if err != nil || !cliVersion.MatchString(text) {
			continue
		}
		stamp, _ := answer.Time[text].(string)
		published, _ := time.Parse(time.RFC3339Nano, stamp)
		list.versions = append(list.versions, listed{text: text, version: version, published: published})
	}
	slices.SortFunc(list.versions, newerFirst)
	return list, nil
}

// unreadable reports JSON of npm that has another form than expected. The decoder's own error may quote the text.
func unreadable(what string) error { return fmt.Errorf("reading %s: %w", what, errForm) }

var errForm = errors.New("not in the form that npm writes: install npm 10 or newer")

// newerFirst orders by number, a release before its own prereleases. Builds with equal numbers go by publication:
// their suffix may be a commit's hash, whose order means nothing.
func newerFirst(a, b listed) int {
	release := func(v listed) int {
		if v.version.Prerelease() == "" {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(b.version.Major(), a.version.Major()),
		cmp.Compare(b.version.Minor(), a.version.Minor()),
		cmp.Compare(b.version.Patch(), a.version.Patch()),
		cmp.Compare(release(b), release(a)),
		b.published.Compare(a.published),
		b.version.Compare(a.version),
		strings.Compare(a.text, b.text),
	)
}

// maxSpec bounds the length of a package spec in bytes; Windows allows 8191 for the whole command.
const maxSpec = 4000

// markDeprecated asks npm which of the versions are deprecated. npm answers such a question only for versions that
// a range selects, and a range selects prereleases only by name.
func (n *NPM) markDeprecated(ctx context.Context, dir, pkg string, versions []listed) error {
	deprecated := map[string]bool{}
	for _, spec := range versionSpecs(pkg, versions) {
		out, err := n.view(ctx, dir, spec, "name", "version", "deprecated")
		if err != nil {
			return err
		}
		if err := parseDeprecated(pkg, out, deprecated); err != nil {
			return err
		}
	}
	for i := range versions {
		versions[i].deprecated = deprecated[versions[i].text]
	}
	return nil
}

// versionSpecs gives package specs that together select the versions: all releases in one, prereleases by name.
func versionSpecs(pkg string, versions []listed) []string {
	var specs, alternatives []string
	length := 0
	flush := func() {
		if len(alternatives) > 0 {
			specs = append(specs, pkg+"@"+strings.Join(alternatives, " || "))
		}
		alternatives, length = nil, 0
	}
	// "x" selects what "*" would; npm takes "*" for the latest release alone.
	if slices.ContainsFunc(versions, func(v listed) bool { return v.version.Prerelease() == "" }) {
		alternatives = append(alternatives, "x")
	}
	for _, v := range versions {
		if v.version.Prerelease() == "" {
			continue
		}
		if length += len(v.text) + len(" || "); length > maxSpec {
			flush()
			length = len(v.text)
		}
		alternatives = append(alternatives, v.text)
	}
	flush()
	return specs
}

// parseDeprecated adds the deprecated ones among the versions of an answer. npm prints an object when one version
// was selected and a list otherwise. Each element has a name because npm reduces all to bare strings when the first
// has only one field, and would lose the deprecations of the rest.
func parseDeprecated(pkg string, out []byte, deprecated map[string]bool) error {
	type element struct {
		Version    string `json:"version"`
		Deprecated any    `json:"deprecated"`
	}
	var elements []element
	if err := json.Unmarshal(out, &elements); err != nil {
		var one element
		if err := json.Unmarshal(out, &one); err != nil {
			return unreadable("npm's list of versions of " + pkg)
		}
		elements = []element{one}
	}
	for _, e := range elements {
		// Lifting a deprecation leaves an empty message behind, or false.
		if e.Deprecated != nil && e.Deprecated != "" && e.Deprecated != false {
			deprecated[e.Version] = true
		}
	}
	return nil
}

func records(channels []channel, list *listing) []contract.ReleaseRecord {
	releases := make([]contract.ReleaseRecord, 0, len(list.versions))
	for _, v := range list.versions {
		i := slices.IndexFunc(channels, func(c channel) bool { return c.takes(v.text, list.tags) })
		release := contract.ReleaseRecord{
			Version: contract.CLIVersion(v.text), Channel: channels[i].name, Deprecated: v.deprecated, Upstream: "npm",
		}
		if !v.published.IsZero() {
			release.PublishedAt = contract.At(v.published)
		}
		releases = append(releases, release)
	}
	return releases
}

func heads(channels []channel, list *listing) []contract.ChannelHead {
	var found []contract.ChannelHead
	for _, c := range channels {
		head := ""
		for _, v := range list.versions {
			if c.tag != "" && list.tags[c.tag] == v.text {
				head = v.text
				break
			}
			if c.tag == "" && c.takes(v.text, nil) {
				if !v.deprecated {
					head = v.text
					break
				}
				if head == "" {
					head = v.text
				}
			}
		}
		if head != "" {
			found = append(found, contract.ChannelHead{Name: c.name, Version: contract.CLIVersion(head)})
		}
	}
	return found
}
