// Command agent-contracts runs the stages of the registry at a terminal: discover, capture, compare and package what
// coding-agent CLIs really print.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/open-design/agent-cli-contracts/internal/stage"
	"github.com/open-design/agent-cli-contracts/pkg/capture/mcpserver"
)

func main() {
	mcpserver.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Main(ctx, os.Args[1:], stage.Env{Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now, Random: rand.Reader})
	stop()
	os.Exit(code)
}

// cli is the command line. One file per verb holds its flags, its help and its Run.
type cli struct {
	Checkout string `help:"Checkout that holds registry/ and probes/." default:"." type:"path" placeholder:"DIR"`
	Cache    string `help:"Folder for installs and listings (default: the user's cache folder)." type:"path" placeholder:"DIR" env:"AGENT_CONTRACTS_CACHE"`
	JSON     bool   `help:"Print one JSON document on standard output instead of text; redact prints its transcript, in JSON lines." name:"json"`

	Run      runCmd      `cmd:"" help:"Discover, capture, compare and package one agent, into ./out: the main job."`
	Discover discoverCmd `cmd:"" help:"List releases per channel and what is uncovered."`
	Capture  captureCmd  `cmd:"" help:"Capture probes of one release."`
	Record   recordCmd   `cmd:"" help:"Record a run of a host: stand in the agent's place, or import a recording."`
	Compare  compareCmd  `cmd:"" help:"Compare a new tree with the registry and give each observation a verdict."`
	Replay   replayCmd   `cmd:"" help:"Take fixtures through a parser, or act as the agent that printed one."`
	Publish  publishCmd  `cmd:"" help:"Build and verify the npm package of the registry."`
	Verify   verifyCmd   `cmd:"" help:"Hash a package again and hold it against its manifest, offline."`

	Status statusCmd `cmd:"" help:"What this machine can do."`
	Raw    rawCmd    `cmd:"" help:"Open and check encrypted raw bundles: for maintainers."`

	Matrix    matrixCmd    `cmd:"" help:"Regenerate the support matrix and the index of agents."`
	Validate  validateCmd  `cmd:"" help:"Check a registry tree: everything that a merge would be refused for."`
	Redact    redactCmd    `cmd:"" help:"Sanitize a raw bundle."`
	Normalize normalizeCmd `cmd:"" help:"Read a sanitized transcript and print its shape."`

	Version kong.VersionFlag `help:"Print the version of this tool." name:"version"`
}

// exitPanic carries kong's own exit (after --help and --version) to Main.
type exitPanic int

// Main runs the program and returns its exit code: 0 done, 1 found something, 2 could not tell or bad usage.
func Main(ctx context.Context, args []string, env stage.Env) (code int) {
	var c cli
	defer func() {
		if r := recover(); r != nil {
			exit, ok := r.(exitPanic)
			if !ok {
				panic(r)
			}
			code = int(exit)
		}
	}()
	parser, err := kong.New(&c,
		kong.Name("agent-contracts"),
		kong.Description("A registry of what coding-agent CLIs really print. Exit codes: 0 done, 1 found something, 2 could not tell or bad usage."),
		kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.Writers(env.Stdout, env.Stderr), kong.Exit(func(code int) { panic(exitPanic(code)) }),
		kong.Vars{"version": string(stage.ToolVersion)},
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err != nil {
		return fail(env.Stderr, err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	k, err := parser.Parse(args)
	if err != nil {
		return fail(env.Stderr, fmt.Errorf("%w; see agent-contracts --help", err))
	}
	env.Progress = progress(env.Stderr)
	a := &app{env: env, cli: &c}
	return fail(env.Stderr, k.Run(a))
}

// app is what every verb's Run gets.
type app struct {
	env stage.Env
	cli *cli
}

// open opens the checkout and the cache for a verb that writes to out.
func (a *app) open(out string) (*stage.Stage, error) {
	cache := a.cli.Cache
	if cache == "" {
		var err error
		if cache, err = stage.DefaultCache(); err != nil {
			return nil, err
		}
	}
	return stage.Open(a.env, stage.Dirs{Checkout: a.cli.Checkout, Out: out, Cache: cache})
}

func progress(w io.Writer) func(string, ...any) {
	return func(format string, args ...any) { _, _ = fmt.Fprintf(w, "· "+format+"\n", args...) }
}

func fail(w io.Writer, err error) int {
	var child childExit
	if errors.As(err, &child) {
		return int(child)
	}
	if err != nil {
		_, _ = fmt.Fprintf(w, "agent-contracts: %v\n", err)
	}
	if errors.Is(err, context.Canceled) {
		return stage.ExitUnknown
	}
	return stage.ExitCode(err)
}
