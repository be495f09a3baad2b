// Package step is what the main programs of actions/ share: inputs, paths, the stage, and how an outcome is reported.
//
// A step's exit code is the stage's: 0 done, 1 found something, 2 could not tell. Standard output carries nothing but
// workflow commands and progress in our own words; no byte of a CLI.
package step

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/open-design/agent-cli-contracts/internal/stage"
	"github.com/open-design/agent-cli-contracts/pkg/workflow"
)

// Step is one run of an action.
type Step struct {
	*workflow.Action
	w   io.Writer
	env stage.Env
}

// Main runs an action in this process and returns its exit code.
func Main(run func(context.Context, *Step) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := workflow.New(workflow.WithWriter(os.Stdout), workflow.WithGetenv(os.Getenv))
	env := stage.Env{Stdout: io.Discard, Stderr: io.Discard, Getenv: os.Getenv, Now: time.Now, Random: rand.Reader, Progress: a.Infof}
	return finish(a, run(ctx, &Step{Action: a, w: os.Stdout, env: env}))
}

// finish turns the outcome into an annotation and an exit code.
func finish(a *workflow.Action, err error) int {
	// An output that could not be written would make a later step read the run as one that found nothing.
	lost := a.Err()
	switch code := stage.ExitCode(err); {
	case lost != nil:
		a.Errorf("%v", errors.Join(err, lost))
		return stage.ExitUnknown
	case code == stage.ExitFound:
		a.Warningf("%v", err)
		return code
	case err != nil:
		a.Errorf("%v", err)
		return code
	}
	return stage.ExitDone
}

// Required returns an input that must not be empty.
func (s *Step) Required(input string) (string, error) {
	value := s.GetInput(input)
	if value == "" {
		return "", fmt.Errorf("input %s is required", input)
	}
	return value, nil
}

// List splits an input at commas and white space.
func (s *Step) List(input string) []string {
	return strings.FieldsFunc(s.GetInput(input), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
}

// Int reads a whole number of at least 1; empty is the fallback.
func (s *Step) Int(input string, fallback int) (int, error) {
	text := s.GetInput(input)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("input %s: write a whole number of at least 1", input)
	}
	return n, nil
}

// Enum reads an input that has one of the values given; empty is the first.
func (s *Step) Enum(input string, values ...string) (string, error) {
	value := s.GetInput(input)
	if value == "" {
		return values[0], nil
	}
	if !slices.Contains(values, value) {
		return "", fmt.Errorf("input %s: write one of: %s", input, strings.Join(values, ", "))
	}
	return value, nil
}

// Path reads an input that names a file or folder, relative to the workspace; empty is the fallback, and an empty
// fallback gives an empty path.
func (s *Step) Path(input, fallback string) string {
	path := s.GetInput(input)
	if path == "" {
		path = fallback
	}
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.Getenv("GITHUB_WORKSPACE"), path)
}

// Open opens the checkout that the input checkout names, for a stage that writes to out.
func (s *Step) Open(out string) (*stage.Stage, error) {
	cache := s.Path("cache", "")
	if cache == "" {
		var err error
		if cache, err = stage.DefaultCache(); err != nil {
			return nil, err
		}
	}
	return stage.Open(s.env, stage.Dirs{Checkout: s.Path("checkout", "."), Out: out, Cache: cache})
}

// Annotations prints commands that a package of ours has rendered and escaped.
func (s *Step) Annotations(commands []byte) error {
	_, err := s.w.Write(commands)
	return err
}

// SetJSON sets an output to a JSON value, for fromJSON.
func (s *Step) SetJSON(output string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("output %s: %w", output, err)
	}
	s.SetOutput(output, string(data))
	return nil
}
