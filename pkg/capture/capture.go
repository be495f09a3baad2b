package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"filippo.io/age"

	"github.com/open-design/agent-cli-contracts/pkg/capture/rawbundle"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
	"github.com/open-design/agent-cli-contracts/pkg/upstream"
)

// Installer gives one exact release of an agent, and of what starts it.
type Installer interface {
	Install(ctx context.Context, agent contract.Agent, version string, platform contract.Platform) (*upstream.Installed, error)
	Runtime(ctx context.Context, runtime contract.Runtime, platform contract.Platform) (*upstream.Runtime, error)
}

// Capturer holds what all captures of a process share. Required are all fields but Progress, Raw, Recipients and Failed. Its methods may be
// called from several goroutines; Now, Getenv, Progress and Failed are then too.
type Capturer struct {
	Catalog *registry.Catalog
	// Base is the tree that new records will join: shapes and fixtures that it holds are not written again. May be nil.
	Base      *registry.Tree
	Installer Installer
	Platform  contract.Platform
	// Runner names the kind of machine; WorkflowRunURL is set in automated captures.
	Runner         string
	WorkflowRunURL *contract.HTTPSURL
	ToolVersion    contract.ToolVersion
	// Derive makes the generated files of a tree. It is used where Out/registry is a whole registry and not an overlay.
	Derive func(*registry.Tree) (map[contract.RelPath][]byte, error)
	// Known are values of this machine that must never be published: user, host, home.
	Known []scan.Known
	// Now and Random are the clock and the source of canaries, keys and path prefixes.
	Now    func() time.Time
	Random io.Reader
	// Temp is where run folders are made; Out holds registry/ (public) and private/.
	Temp, Out string
	// Raw, when set, is a folder that keeps the raw bundle in the clear, because somebody asked for it by name.
	Raw string
	// Recipients can open raw bundles. Every kept run is encrypted to them; without any, raw transcripts are discarded.
	Recipients []age.Recipient
	// Failed is told of a run that redaction stopped.
	Failed func(FailureRecord)
	// Getenv reads this process's environment, for the names that an agent passes through.
	Getenv func(string) string
	// Lookup and Dial lead out of this machine for live captures; nil is the system's own way.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial   func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// Isolate puts the child into namespaces of its own.
	Isolate bool
	// Progress is told what happens; it never hears bytes of the CLI.
	Progress func(format string, args ...any)

	preparing sync.Mutex // guards checked: each release is installed and asked once
	drawing   sync.Mutex // guards Random
	writing   sync.Mutex // each writer sees what the others wrote
	// checked holds the executables that have reported the version asked for.
	checked map[release]executable
}

// release is what an executable was checked for.
type release struct {
	agent   contract.AgentID
	version contract.CLIVersion
	bin     string
}

// Target says what to capture.
type Target struct {
	Agent   contract.Agent
	Version contract.CLIVersion
	Mode    contract.ModeID
	Probe   contract.Probe
	// Bin is an executable to run instead of installing one. It must report Version.
	Bin string
	// Backend answers the model requests; the zero value is the scripted one.
	Backend contract.Backend
	// Repeat is how often the probe runs; all runs must give one signature. At least 1.
	Repeat int
}

// Result is a finished capture.
type Result struct {
	Observation contract.Observation
	Evidence    contract.Evidence
	Shape       *shape.Result
	Events      []protocol.Event
	// Path is where the observation was written, relative to the public tree.
	Path contract.RelPath
	// Findings are remarks for the person who reads the run: no failure, but not expected either.
	Findings []string
}

// run is one execution on its way from the process to the records.
type run struct {
	target    Target
	mode      registry.Mode
	exe       executable
	at        time.Time
	backend   contract.Backend
	route     contract.Route
	argv      []string // the template of what was passed
	driven    *driven
	sanitized *redact.Sanitized
	shape     *shape.Result
	events    []protocol.Event
	help      []contract.HelpPage
	listed    []string // ids of the mode models
	findings  []string
	place     place
	bundle    string // file name of the encrypted raw bundle, empty without
}

func (r *run) close() {
	if r.driven != nil && r.driven.raw != nil {
		_ = r.driven.raw.Close()
	}
	if r.sanitized != nil {
		_ = r.sanitized.Close()
	}
}

// Capture observes one probe of one release and writes the observation. On any error nothing public is written.
// Errors of interest: *redact.Failure, *ExpectationError, *UnstableError, *NoRequestError, *VersionError and those of
// package upstream.
func (c *Capturer) Capture(ctx context.Context, t Target) (*Result, error) {
	o, err := c.Observe(ctx, t)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	return o.Write()
}

// An Observed is an observation that is made and not yet written, so that the caller may choose the order of what is written.
type Observed struct {
	c    *Capturer
	run  *run
	runs int
}

// Observe runs one probe of one release, as often as asked, and judges what came of it.
func (c *Capturer) Observe(ctx context.Context, t Target) (*Observed, error) {
	t.Backend = cmp.Or(t.Backend, contract.BackendScripted)
	mode, err := c.resolve(t)
	if err == nil && t.Backend == contract.BackendLive {
		err = c.MayRunLive(t.Agent, mode, t.Version)
	}
	if err != nil {
		return nil, err
	}
	if err := c.Prepare(ctx, t); err != nil {
		return nil, err
	}
	exe, err := c.ready(ctx, t)
	if err != nil {
		return nil, err
	}
	first, runs, err := c.repeat(ctx, t, mode, exe)
	if err == nil {
		err = exe.unchanged()
	}
	if err != nil {
		if first != nil {
			first.close()
		}
		return nil, err
	}
	return &Observed{c: c, run: first, runs: runs}, nil
}

// Write makes the observation public.
func (o *Observed) Write() (*Result, error) {
	o.c.writing.Lock()
	defer o.c.writing.Unlock()
	if err := o.c.encryptRaw(o.run); err != nil {
		return nil, err
	}
	return o.c.write(o.run, o.runs)
}

// Close frees the transcript. It must be called, after Write too.
func (o *Observed) Close() { o.run.close() }

// Prepare installs and checks the executable of a target ahead of its captures, so that what is wrong with it is said once.
func (c *Capturer) Prepare(ctx context.Context, t Target) error {
	if t.Agent.NotCapturable != "" && t.Bin == "" {
		return fmt.Errorf("%s cannot be captured: %s", t.Agent.ID, t.Agent.NotCapturable)
	}
	_, err := c.ready(ctx, t)
	return err
}

// ready gives the executable of a target, installed and asked for its version once per Capturer.
func (c *Capturer) ready(ctx context.Context, t Target) (executable, error) {
	c.preparing.Lock()
	defer c.preparing.Unlock()
	key := release{t.Agent.ID, t.Version, t.Bin}
	if exe, ok := c.checked[key]; ok {
		return exe, nil
	}
	exe, err := c.executable(ctx, t)
	exe = exe.stamped()
	go scan.Warm() // while the CLI runs
	if err == nil {
		err = c.checkVersion(ctx, t, exe)
	}
	if err != nil {
		return exe, err
	}
	if c.checked == nil {
		c.checked = map[release]executable{}
	}
	c.checked[key] = exe
	return exe, nil
}

func (c *Capturer) resolve(t Target) (registry.Mode, error) {
	mode, err := registry.ProbeMode(t.Agent, t.Mode, t.Version, t.Probe)
	if err != nil {
		return mode, err
	}
	if t.Backend == contract.BackendLive {
		if mode, err = registry.LiveMode(t.Agent, mode, t.Version, t.Probe); err != nil {
			return mode, err
		}
	}
	mode.Argv = t.Probe.Argv(mode.Argv, mode.Trust)
	if t.Probe.Conditions().MCPServer {
		mode.Argv = append(mode.Argv, mode.MCP.Argv...)
		env := map[string]string{}
		maps.Copy(env, mode.Env)
		maps.Copy(env, mode.MCP.Env)
		mode.Env = env
	}
	if form := mode.Images; t.Probe.Image() != nil && form != nil {
		mode.Argv = append(mode.Argv, form.Argv...)
		if len(form.Stdin) > 0 {
			mode.Message = form.Stdin
		}
	}
	return mode, nil
}

// repeat runs the probe as often as asked and keeps the first run.
func (c *Capturer) repeat(ctx context.Context, t Target, mode registry.Mode, exe executable) (*run, int, error) {
	var first *run
	unstable := &UnstableError{}
	for i := range max(t.Repeat, 1) {
		if t.Repeat > 1 {
			c.progress("%s: run %d of %d", t.Probe.ID, i+1, t.Repeat)
		}
		r, err := c.once(ctx, t, mode, exe)
		if err != nil {
			return first, 0, err
		}
		unstable.add(r.shape.Shape)
		if first == nil {
			first = r
		} else {
			r.close()
		}
	}
	if len(unstable.Shapes) > 1 {
		return first, 0, unstable
	}
	return first, max(t.Repeat, 1), nil
}

// once takes one run from spawn to reference events.
func (c *Capturer) once(ctx context.Context, t Target, mode registry.Mode, exe executable) (_ *run, err error) {
	folder, err := c.newFolder()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.remove()) }()
	r := &run{target: t, mode: mode, exe: exe, at: c.Now(), backend: t.Backend, argv: mode.Argv}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if mode.Live != nil {
		if folder.live, err = c.liveSecrets(mode.Live); err != nil {
			return nil, err
		}
	}
	c.progress("%s: running %s %s, mode %s", t.Probe.ID, t.Agent.ID, t.Version, mode.ID)
	switch {
	case mode.ID == contract.ModeHelp:
		r.driven, r.help, err = c.driveHelp(ctx, folder, t, mode, exe)
	case t.Probe.Conditions().Resume:
		if len(mode.Resume.Argv) > 0 {
			r.argv = t.Probe.Argv(mode.Resume.Argv, mode.Trust)
		}
		r.driven, err = c.driveResumed(ctx, folder, t, mode, exe)
	default:
		r.driven, err = c.drive(ctx, folder, t, mode, exe)
	}
	if err != nil {
		return nil, err
	}
	if err := c.keepRaw(r); err != nil {
		return nil, err
	}
	scanner, err := c.scanner(folder)
	if err != nil {
		return nil, err
	}
	r.place = place{cwd: folder.cwd, home: folder.home, scanner: scanner}
	err = vetNames(&r.driven.report, scanner)
	if err == nil {
		err = checkRequests(t, mode, exe, r.driven)
	}
	if err == nil {
		err = checkEchoes(r, folder, mode)
	}
	if err == nil {
		err = c.judge(r)
	}
	if err != nil {
		return nil, c.private(r, err)
	}
	return r, nil
}

func (c *Capturer) progress(format string, args ...any) {
	if c.Progress != nil {
		c.Progress(format, args...)
	}
}

// keepRaw writes the raw bundle in the clear where somebody asked for that.
func (c *Capturer) keepRaw(r *run) error {
	if c.Raw == "" {
		return nil
	}
	name, err := KeepRaw(c.Raw, r.driven.raw)
	if err == nil {
		c.progress("%s: raw bundle kept in %s: it is not redacted; do not share it", r.target.Probe.ID, name)
	}
	return err
}

// retentionDays is how long a raw bundle is kept: the workflow's artifacts end then.
const retentionDays = 30

// encryptRaw keeps the raw transcript for the maintainers, who alone can read it.
func (c *Capturer) encryptRaw(r *run) error {
	if len(c.Recipients) == 0 {
		if r.backend == contract.BackendLive {
			c.progress("%s: no copy of the raw transcript is kept for an audit: %s names no recipient", r.target.Probe.ID, rawbundle.RecipientsFile)
		}
		return nil
	}
	h := rawbundle.Header{
		Agent: r.target.Agent.ID, Version: r.target.Version, Platform: c.Platform, Mode: r.mode.ID, Probe: r.target.Probe.ID, At: contract.At(r.at),
		Cwd: r.place.cwd, Home: r.place.home, Offered: r.driven.report.Offered,
	}
	name, err := rawbundle.Write(filepath.Join(c.Out, "private"), h, r.driven.raw, c.Recipients)
	if err != nil {
		return err
	}
	r.bundle = filepath.Base(name)
	c.progress("%s: raw transcript encrypted to %d recipients: %s", r.target.Probe.ID, len(c.Recipients), name)
	return nil
}

// KeepRaw writes a raw bundle into a folder, under its hash, for somebody who asked for that by name.
func KeepRaw(dir string, raw *transcript.Raw) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("keeping the raw bundle: %w", err)
	}
	name := filepath.Join(dir, raw.Hash().FileStem()+".raw.jsonl")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return "", fmt.Errorf("keeping the raw bundle: %w", err)
	}
	if err := errors.Join(raw.WriteBundle(f), f.Close()); err != nil {
		return "", fmt.Errorf("keeping the raw bundle: %w", err)
	}
	return name, nil
}
