package capture

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/capture/isolation"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
	"github.com/open-design/agent-cli-contracts/pkg/upstream"
)

// executable is what will run: where it lies, what the child must be able to read, and its hash before the run.
type executable struct {
	bin      string
	runtime  *upstream.Runtime // starts bin, where that is a script
	readable []string
	hash     contract.Hash
	install  contract.Install
	stamps   *stamps // of the files that run, when their hashes were known
}

// stamps are shared by the runs of an executable.
type stamps struct {
	mu sync.Mutex
	of map[string]string
}

// know notes the state that a file had when its hash was known.
func (s *stamps) know(path, stamp string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[path] = stamp
}

// known reports whether that is the state of the file, whose hash is known then.
func (s *stamps) known(path, stamp string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return stamp != "" && s.of[path] == stamp
}

// settled is how old the last change of a file must be for a stamp: two changes within one tick of the file system's
// clock look like one. A variable for the test.
var settled = time.Second

// stamped notes the state of the files before they run.
func (e executable) stamped() executable {
	e.stamps = &stamps{of: map[string]string{e.bin: stamp(e.bin)}}
	if e.runtime != nil {
		e.stamps.know(e.runtime.Bin, stamp(e.runtime.Bin))
	}
	return e
}

// with adds what starts a script; nil leaves an executable as it is.
func (e executable) with(r *upstream.Runtime) executable {
	if r != nil {
		e.runtime, e.install.Runtime, e.readable = r, &r.Record, append(e.readable, r.Dir)
	}
	return e
}

// command gives what to start with the CLI's own arguments, and the search path of the child. A script's runtime is
// first on that path: the CLI may start itself again, or its tools, by name.
func (e executable) command(args []string) (path string, argv []string, search string) {
	const system = "/usr/local/bin:/usr/bin:/bin"
	if e.runtime == nil {
		return e.bin, args, system
	}
	return e.runtime.Bin, append([]string{e.bin}, args...), filepath.Dir(e.runtime.Bin) + ":" + system
}

// executable installs the release, or takes the one given by hand.
func (c *Capturer) executable(ctx context.Context, t Target) (executable, error) {
	if t.Bin == "" {
		c.progress("installing %s %s", t.Agent.ID, t.Version)
		got, err := c.Installer.Install(ctx, t.Agent, string(t.Version), c.Platform)
		if err != nil {
			return executable{}, fmt.Errorf("installing %s %s: %w", t.Agent.ID, t.Version, err)
		}
		return executable{
			bin: got.Bin, readable: []string{got.Dir}, hash: got.BinarySHA256,
			install: contract.Install{Source: got.Source, BinarySHA256: &got.BinarySHA256, Resolved: &got.Resolved},
		}.with(got.Runtime), nil
	}
	exe, err := c.byHand(ctx, t)
	if err != nil {
		return executable{}, fmt.Errorf("--bin: %w", err)
	}
	return exe, nil
}

// byHand takes the executable or script of a target that names one.
func (c *Capturer) byHand(ctx context.Context, t Target) (executable, error) {
	bin, err := filepath.Abs(t.Bin)
	if err == nil {
		bin, err = filepath.EvalSymlinks(bin)
	}
	if err != nil {
		return executable{}, err
	}
	info, err := os.Stat(bin)
	if err != nil {
		return executable{}, err
	}
	if !info.Mode().IsRegular() {
		return executable{}, fmt.Errorf("%s is not a file: name the executable itself", t.Bin)
	}
	hash, err := upstream.HashFile(bin)
	if err != nil {
		return executable{}, err
	}
	exe := executable{bin: bin, readable: []string{bin}, hash: hash, install: contract.Install{Source: "manual", BinarySHA256: &hash}}
	kind, err := upstream.RuntimeOf(bin)
	if err != nil || kind == "" {
		return exe, err
	}
	exe.readable = []string{packageRoot(bin)}
	layout, err := upstream.Layout(t.Agent, string(t.Version), c.Platform)
	if err != nil {
		return executable{}, err
	}
	if layout.Runtime == nil || layout.Runtime.Kind != kind {
		return exe, nil // it runs by its own first line, if at all
	}
	c.progress("installing %s %s, which starts the script", kind, layout.Runtime.Version)
	runtime, err := c.Installer.Runtime(ctx, *layout.Runtime, c.Platform)
	if err != nil {
		return executable{}, err
	}
	return exe.with(runtime), nil
}

// packageRoot is the folder that a script may load its own files and its dependencies from: the package manager's
// topmost one, or else the nearest with a package.json.
func packageRoot(script string) string {
	for i := range len(script) {
		if above, rest := script[:i], script[i:]; strings.HasPrefix(rest, string(filepath.Separator)) {
			name, _, deeper := strings.Cut(rest[1:], string(filepath.Separator))
			if deeper && (name == "node_modules" || name == ".pnpm") {
				return filepath.Join(above, string(filepath.Separator), name)
			}
		}
	}
	for dir := filepath.Dir(script); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "package.json")); err == nil {
			return dir
		}
	}
	return script
}

// unchanged proves that what ran is still what was asked for: a CLI may update itself.
func (e executable) unchanged() error {
	before := map[string]contract.Hash{e.bin: e.hash}
	if e.runtime != nil {
		before[e.runtime.Bin] = e.runtime.Record.BinarySHA256
	}
	for path, want := range before {
		now := stamp(path)
		if e.stamps.known(path, now) {
			continue
		}
		hash, err := upstream.HashFile(path)
		if err != nil {
			return fmt.Errorf("hashing the executable after the run: %w", err)
		}
		if hash != want {
			return errors.New("the executable changed during the run: switch the CLI's self-update off in the agent's file; nothing was recorded")
		}
		e.stamps.know(path, now) // it was too young to have one
	}
	return nil
}

const versionOutput = 64 << 10

// checkVersion asks the executable for its version and compares it with the release asked for.
func (c *Capturer) checkVersion(ctx context.Context, t Target, exe executable) error {
	got, err := c.askVersion(ctx, t, exe)
	if err != nil {
		return err
	}
	if got != t.Version {
		return &VersionError{Asked: t.Version, Got: got}
	}
	return nil
}

// askVersion runs the version probe. The version is empty where the output has none.
func (c *Capturer) askVersion(ctx context.Context, t Target, exe executable) (_ contract.CLIVersion, err error) {
	c.progress("asking %s for its version", t.Agent.ID)
	t.Probe = contract.Probe{} // what it changes about a run is not for this one
	f, err := c.newFolder()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.remove()) }()
	mode, err := registry.VersionMode(t.Agent, t.Version)
	if err != nil {
		return "", err
	}
	d, err := c.spawn(ctx, f, t, mode, exe, spawnOptions{limits: protocol.Limits{Total: 60 * time.Second, MaxOutput: versionOutput}})
	var tooMuch *OutputError
	if errors.As(err, &tooMuch) {
		return "", &VersionError{Asked: t.Version}
	}
	if err != nil {
		return "", fmt.Errorf("asking for the version: %w", err)
	}
	defer d.raw.Close() //nolint:errcheck // an unlinked spool
	if d.stop.Timeout() {
		return "", fmt.Errorf("asking for the version: no end within 60 seconds: %w", &VersionError{Asked: t.Version})
	}
	got, err := reportedVersion(d.raw, t.Agent.VersionProbe.Pattern)
	if err != nil {
		return "", err
	}
	scanner, err := c.scanner(f)
	if err != nil || len(scanner.Scan([]byte(got))) > 0 {
		return "", err // messages quote a version: one that holds more than that is none
	}
	return releaseOf(t.Agent.VersionProbe, t.Version, got), nil
}

// releaseOf is the release that a reported version stands for. Where releases are known to report another version than their own,
// the one asked for can be confirmed; where none was asked for, it cannot be told, since the next release may report the same.
func releaseOf(p contract.VersionProbe, asked, got contract.CLIVersion) contract.CLIVersion {
	if reported, ok := p.Reports[asked]; ok && reported == got {
		return asked
	}
	if asked == "" && slices.Contains(slices.Collect(maps.Values(p.Reports)), got) {
		return ""
	}
	return got
}

// reportedVersion finds the version token in the output: standard output first, then error, as some CLIs print it there.
func reportedVersion(raw *transcript.Raw, pattern string) (contract.CLIVersion, error) {
	re, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		return "", fmt.Errorf("version_probe.pattern: %w", err)
	}
	var text [2][]byte
	err = raw.Each(func(e transcript.Entry) error {
		switch {
		case e.Frame != nil && e.Dir == contract.CLIToServer:
			text[0] = append(text[0], handshakeVersion(e.Frame)...)
		case e.Stream == contract.Stdout:
			text[0] = append(text[0], e.Data...)
		case e.Stream == contract.Stderr:
			text[1] = append(text[1], e.Data...)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	legal := regexp.MustCompile(contract.CLIVersion("").Pattern())
	for _, t := range text {
		if m := re.FindSubmatch(t); len(m) > 1 && legal.Match(m[1]) {
			return contract.CLIVersion(m[1]), nil
		}
	}
	return "", nil
}

// isolationHint turns a refusal of the kernel into something to do.
func isolationHint(err error, live bool) error {
	if errors.Is(err, isolation.ErrRefused) && !live {
		return fmt.Errorf("%w; or run with --no-isolation on a machine that holds nothing of value", err)
	}
	return err
}
