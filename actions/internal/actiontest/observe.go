package actiontest

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/open-design/agent-cli-contracts/internal/stage"
)

// Observe is the main function of "observe OUT": it captures the fake agent of the checkout in the working directory
// into the folder OUT, for scripts that need observations. With OUT checkout they become part of the registry, and the
// generated files follow.
func Observe() {
	bin, err := exec.LookPath("fake-agent")
	if err == nil {
		err = observe(bin, os.Args[1])
	}
	if err != nil {
		_, _ = io.WriteString(os.Stderr, err.Error()+"\n")
		os.Exit(1)
	}
}

func observe(bin, out string) error {
	if err := inStage(out, func(s *stage.Stage) error {
		_, err := s.Capture(context.Background(), stage.CaptureRequest{Selector: "fake@1.2.3", Bin: bin, NoIsolation: true})
		return err
	}); err != nil || out != "checkout" {
		return err
	}
	return inStage(out, func(s *stage.Stage) error {
		_, err := s.Matrix(false)
		return err
	})
}

func inStage(out string, do func(*stage.Stage) error) error {
	env := stage.Env{Stdout: io.Discard, Stderr: io.Discard, Getenv: os.Getenv, Now: time.Now, Random: rand.Reader, Progress: func(string, ...any) {}}
	s, err := stage.Open(env, stage.Dirs{Checkout: "checkout", Out: out, Cache: "cache"})
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}
