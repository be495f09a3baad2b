package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/capture/isolation"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/modelserver"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

const (
	// maxOutput bounds what a CLI may print in one run.
	maxOutput = 256 << 20
	// drain is how long the pipes may stay open after the child itself has ended: a daemon may hold them.
	drain = 2 * time.Second
	// think is how long the scripted model takes to answer a tool's result. CLIs report that a command has ended some
	// 100 ms after they tell the model; before a faster answer than any real model's they may end without reporting it.
	think = 500 * time.Millisecond
	// patience is how long a host waits for the answer of a request of a probe's script.
	patience = 10 * time.Second
)

// driven is what a finished process leaves behind.
type driven struct {
	raw       *transcript.Raw
	stop      protocol.Stop
	exit      contract.ExitClass
	took      int64 // milliseconds
	isolation contract.Isolation
	report    modelserver.Report
	findings  []string // about what a live run wanted of its allow-list
}

// runLimits are far above what any known CLI needs, and far below what hurts a machine.
var runLimits = isolation.Limits{Disk: 2 << 30, Memory: 6 << 30, Processes: 4096}

type spawnOptions struct {
	limits protocol.Limits
	server *modelserver.Server // nil where nothing may ask a model
}

// nowhere is the model server of a run that has none: a port on loopback that nothing listens on.
const nowhere = "http://127.0.0.1:1"

// drive runs the probe against the scripted model server.
func (c *Capturer) drive(ctx context.Context, f *folder, t Target, mode registry.Mode, exe executable) (*driven, error) {
	o := spawnOptions{limits: limits(t.Probe)}
	if mode.ID == contract.ModeModels && t.Probe.Script == nil {
		t.Probe.Script = &idle
	}
	if mode.ID != contract.ModeVersion && mode.Live == nil {
		if t.Probe.Script == nil {
			return nil, fmt.Errorf("probe %s has no script.json: a scripted capture needs one", t.Probe.ID)
		}
		server, err := c.modelServer(f, t, mode)
		if err != nil {
			return nil, err
		}
		o.server = server
	}
	return c.spawn(ctx, f, t, mode, exe, o)
}

// modelServer plays the probe's script. A CLI that talks to its vendor alone has no model API: it can still show what it
// does before it asks a model, in a probe that needs no request, and nil stands for its server.
func (c *Capturer) modelServer(f *folder, t Target, mode registry.Mode) (*modelserver.Server, error) {
	api, ok := registry.ModelAPI(t.Agent, t.Version)
	if !ok && !t.Probe.NeedsModel() {
		return nil, nil
	}
	if !ok {
		return nil, fmt.Errorf("%s has no model_api for release %s: add a range to registry/agents/%s.json", t.Agent.ID, t.Version, t.Agent.ID)
	}
	server, err := modelserver.New(modelserver.Config{
		Script: *t.Probe.Script, Tools: mode.Tools, Side: mode.Side, Vars: map[string]string{"cwd": f.cwd, "home": f.home}, Dialect: api.Dialect, Model: api.Model,
		Created: c.Now().Unix(), Prefix: f.prefix, Canary: f.canaries[canaryModelServer], Think: think,
	})
	if err != nil {
		return nil, fmt.Errorf("the scripted model server: %w", err)
	}
	return server, nil
}

func limits(p contract.Probe) protocol.Limits {
	l := contract.TimeLimits{}
	if p.Expected != nil && p.Expected.TimeLimits != nil {
		l = *p.Expected.TimeLimits
	}
	seconds := func(n, fallback int) time.Duration {
		if n == 0 {
			n = fallback
		}
		return time.Duration(n) * time.Second
	}
	return protocol.Limits{Total: seconds(l.Total, 120), FirstByte: seconds(l.FirstByte, 60), Inactivity: seconds(l.Inactivity, 60), MaxOutput: maxOutput}
}

// checkRequests refuses a run whose output cannot be about the script. It names what the CLI offered, so the names must
// have passed vetNames.
func checkRequests(t Target, mode registry.Mode, exe executable, d *driven) error {
	if mode.ID.Implicit() || mode.Live != nil {
		return nil // nothing was scripted
	}
	for _, f := range d.report.Findings {
		if f.Kind == modelserver.FindingNotOffered {
			return &ToolError{Probe: t.Probe.ID, Intent: f.Intent, Offered: d.report.Offered}
		}
	}
	if d.report.Requests == 0 && t.Probe.NeedsModel() {
		_, stderr := d.raw.StreamHash(contract.Stderr)
		return &NoRequestError{Probe: t.Probe.ID, Exit: d.exit, Stderr: stderr, Script: exe.runtime != nil}
	}
	if t.Probe.NeedsModel() && t.Probe.Script.Expects == "image" && d.report.Images == 0 && !mode.Images.LinkOnly {
		return &NoImageError{Probe: t.Probe.ID, Mode: mode.ID, Requests: d.report.Requests}
	}
	return nil
}

// spawn starts the executable in a box of its own, drives it, and ends everything that is left of it.
func (c *Capturer) spawn(ctx context.Context, f *folder, t Target, mode registry.Mode, exe executable, o spawnOptions) (d *driven, err error) {
	files, readable := homeFiles(t, mode), exe.readable
	if t.Probe.Conditions().MCPServer {
		files = append(files, mode.MCP.HomeFiles...)
		self, err := f.serveMCP()
		if err != nil {
			return nil, err
		}
		readable = append(slices.Clone(readable), self)
	}
	api, _ := registry.ModelAPI(t.Agent, t.Version) // a release without one only reports its version
	if err := errors.Join(f.plant(t.Probe), f.attach(t.Probe), f.reserve(files)); err != nil {
		return nil, err
	}
	out, err := c.wayOut(mode)
	if err != nil {
		return nil, err
	}
	var outside *isolation.Outside
	if out != nil {
		outside = out.outside
	}
	box, err := isolation.Open(ctx, isolation.Options{
		Outside: outside, Enabled: c.Isolate, Readable: readable, Writable: []string{f.home, f.tmp, f.cwd}, Private: c.privateFolders(), Limits: runLimits,
		OwnSandbox: mode.OwnSandbox, HostName: f.canaries[canaryHostName],
	})
	if err != nil {
		return nil, isolationHint(err, mode.Live != nil)
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	baseURL, proxy := nowhere, ""
	if out != nil {
		out.serve(box)
		proxy = out.url
		defer func() { err = errors.Join(err, out.close(box)) }()
	}
	if o.server != nil {
		baseURL = o.server.BaseURL(box.Listener().Addr())
		served := make(chan error, 1)
		go func() { served <- o.server.Serve(box.Listener()) }()
		defer func() { err = errors.Join(err, boxed(o.server.Close()), boxed(<-served)) }()
	}
	vars := f.vars(baseURL, api.Model, mode.PromptOf(t.Probe), mode.Live)
	if image := t.Probe.Image(); image != nil {
		vars["image"], vars["image_base64"], vars["image_type"] = image.Name, image.Base64, image.MIMEType
	}
	if err := f.fill(files, vars, t.Probe.BreaksHome()); err != nil {
		return nil, err
	}
	prompt, err := stdinPrompt(mode, vars)
	if err != nil {
		return nil, err
	}
	client, err := c.host(t, mode, vars)
	if err != nil {
		return nil, err
	}
	path, args, search := exe.command(expandAll(mode.Argv, vars))
	command := isolation.Command{Path: path, Args: args, Env: f.environment(t, mode, vars, search, proxy, c.Getenv), Dir: f.cwd}
	d, err = c.runChild(ctx, f, box, command, client, protocol.Stream{Mode: mode.Stdin, Prompt: prompt, Limits: o.limits, KeepOpen: t.Probe.Conditions().StdinOpen}, mode, t.Probe.Conditions().Signal)
	if err != nil {
		return nil, err
	}
	d.isolation = isolationRecord(box.Isolation())
	if out != nil {
		err = out.close(box)
	}
	if err = errors.Join(err, c.recordEgress(d, box, out, f)); err != nil {
		return nil, errors.Join(err, d.raw.Close())
	}
	if o.server != nil {
		if err := boxed(o.server.Close()); err != nil {
			return nil, errors.Join(err, d.raw.Close())
		}
		d.report = o.server.Report()
	}
	return d, nil
}

// isolationRecord is what an evidence record says of a box.
func isolationRecord(i isolation.Info) contract.Isolation {
	r := contract.Isolation{Kind: i.Kind, Namespaces: i.Namespaces, Network: i.Network, User: i.User, Filesystem: i.Filesystem}
	if i.Landlock != nil {
		r.Landlock = &contract.Landlock{ABI: i.Landlock.ABI, Files: i.Landlock.Files}
	}
	if g := i.Cgroup; g != nil {
		r.Cgroup = &contract.Cgroup{Version: g.Version, Limits: g.Limits}
	}
	if l := i.Limits; l != (isolation.Limits{}) {
		r.Limits = &contract.Limits{DiskBytes: l.Disk, MemoryBytes: l.Memory, Processes: l.Processes}
	}
	return r
}

func expandAll(argv []string, vars map[string]string) []string {
	out := make([]string, len(argv))
	for i, arg := range argv {
		out[i] = expand(arg, vars)
	}
	return out
}

// stdinPrompt is what the child reads: the prompt, or the message of the mode around it as one line.
func stdinPrompt(mode registry.Mode, vars map[string]string) ([]byte, error) {
	if mode.Stdin != contract.StdinJSONLOpen {
		return []byte(vars["prompt"]), nil
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false) // as hosts write it
	if err := enc.Encode(contract.FillJSON(mode.Message, contract.Placeholders(vars))); err != nil {
		return nil, fmt.Errorf("stdin_message of mode %s: %w", mode.ID, err)
	}
	return line.Bytes(), nil
}

func (c *Capturer) runChild(ctx context.Context, f *folder, box *isolation.Box, command isolation.Command, client protocol.Client, s protocol.Stream, mode registry.Mode, silence contract.RunSignal) (*driven, error) {
	rec, err := transcript.NewRecorder(f.private)
	if err != nil {
		return nil, err
	}
	if s.Mode == contract.StdinJSONLOpen {
		if s.Turn, err = protocol.NewReader(mode.Family, mode.Dialect); err != nil {
			return nil, err
		}
	}
	s.Start, s.Rec = time.Now(), rec
	rec.Record(transcript.Entry{Dir: contract.FromProcess, Event: contract.EventSpawn})
	child, err := box.Start(command)
	if err != nil {
		return nil, startError(command, err)
	}
	defer func() {
		for _, pipe := range []*os.File{child.Stdin, child.Stdout, child.Stderr} {
			_ = pipe.Close() // the drive closed what it owned
		}
	}()
	if silence != "" {
		s.Silent = func() {
			rec.Record(transcript.Entry{Dir: contract.FromProcess, Event: contract.EventKill, AtMs: time.Since(s.Start).Milliseconds(), Signal: string(silence)})
			_ = child.Signal(hostSignals[silence]) // a child that has just ended needs none
		}
	}
	exited := make(chan struct{})
	go func() {
		_, _ = child.Wait() // end reports it
		close(exited)
	}()
	s.Exited, s.Limits.Drain = exited, drain
	drive := s.Drive
	if client != nil {
		s.Limits.Linger = linger
		drive = (&protocol.RPC{Family: mode.Family, Client: client, Limits: s.Limits, Patience: patience, Start: s.Start, Rec: rec, Exited: exited}).Drive
	}
	stop, err := drive(ctx, protocol.Pipes{Stdin: child.Stdin, Stdout: child.Stdout, Stderr: child.Stderr})
	if err != nil {
		return nil, err
	}
	exit, err := end(ctx, box, child, &stop, s)
	if err != nil {
		return nil, err
	}
	at := time.Since(s.Start).Milliseconds()
	d := &driven{stop: stop, exit: exitClass(stop, exit), took: at}
	switch {
	case stop == protocol.StopCancelled:
		return nil, ctx.Err()
	case stop == protocol.StopOutput:
		return nil, &OutputError{Limit: s.Limits.MaxOutput}
	case stop.Timeout():
		rec.Record(transcript.Entry{Dir: contract.FromProcess, Event: contract.EventTimeout, AtMs: at})
	}
	end := transcript.Entry{Dir: contract.FromProcess, Event: contract.EventExit, AtMs: at, Signal: exit.Signal}
	if exit.Signal == "" {
		end.ExitCode = &exit.Code
	}
	rec.Record(end)
	d.raw, err = rec.Finish()
	return d, err
}

// hostSignals are the signals by which hosts end a run.
var hostSignals = map[contract.RunSignal]os.Signal{"SIGINT": os.Interrupt, "SIGTERM": syscall.SIGTERM}

// end waits for the process after its output ended, or kills it where a limit was hit.
func end(ctx context.Context, box *isolation.Box, child *isolation.Child, stop *protocol.Stop, s protocol.Stream) (isolation.Exit, error) {
	if *stop == protocol.StopEOF {
		select {
		case <-s.Exited:
		case <-time.After(max(s.Limits.Total-time.Since(s.Start), 0)):
			*stop = protocol.StopTotal
		case <-ctx.Done():
			*stop = protocol.StopCancelled
		}
	}
	if *stop == protocol.StopEOF || *stop == protocol.StopHeld {
		return child.Wait()
	}
	if *stop == protocol.StopLingers {
		return dismiss(ctx, box, child, s)
	}
	return kill(box, child)
}

// kill ends everything in the box.
func kill(box *isolation.Box, child *isolation.Child) (isolation.Exit, error) {
	closeErr := box.Close()
	exit, err := child.Wait()
	var limit *isolation.LimitError
	if errors.As(err, &limit) {
		return exit, errors.Join(err, closeErr)
	}
	if errors.Is(err, isolation.ErrClosed) {
		return isolation.Exit{Code: -1, Signal: "SIGKILL"}, closeErr
	}
	return exit, errors.Join(err, closeErr)
}

func exitClass(stop protocol.Stop, exit isolation.Exit) contract.ExitClass {
	switch {
	case stop.Timeout():
		return contract.ExitTimeout
	case exit.Signal != "":
		return contract.ExitSignal
	case exit.Code == 0:
		return contract.ExitSuccess
	}
	return contract.ExitNonzero
}

func startError(command isolation.Command, err error) error {
	name := filepath.Base(command.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("starting %s: the file, or the interpreter that it names, does not exist for the child", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("starting %s: the child's user may not execute it: make it readable and executable for others (chmod o+rx)", name)
	}
	if no := syscall.Errno(0); errors.As(err, &no) {
		err = no // paths may name a person
	}
	return fmt.Errorf("starting %s: it is not a program for this machine: %w", name, err)
}
