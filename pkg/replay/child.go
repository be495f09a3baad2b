package replay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// Child plays a fixture as the agent's process would behave: recorded lines on both output streams, a read of
// standard input where the recording read its prompt or a frame of its host, and at the end the recorded end. A host
// starts it in place of the agent.
type Child struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Speed is how many times faster than recorded it runs; 0 does not wait at all.
	Speed float64
	// Prompt, when not empty, is what standard input must hold, but for newlines at its end; anything else is an error.
	Prompt string
}

// Ending is how the recorded process ended, and what the child saw of its host.
type Ending struct {
	// Code is the recorded exit code; -1 when a signal or a time limit ended the process.
	Code int
	// Signal is the recorded signal's name such as SIGKILL, or empty.
	Signal string
	// Timeout is set when a time limit ended the recording: the CLI hung and was killed.
	Timeout bool
	// StdinBytes is how much the host wrote before the child had what it waited for.
	StdinBytes int64
	// StdinChecked says that what the host wrote was held against the prompt, or against frames of the recorded host.
	StdinChecked bool
}

// PromptError reports that the host wrote something else than the prompt. It carries sizes, not text.
type PromptError struct{ Got, Want int }

func (e *PromptError) Error() string {
	return fmt.Sprintf("standard input holds %d bytes that are not the %d bytes of the prompt", e.Got, e.Want)
}

// Play plays a fixture. A host that closes an output stream ends the play with an error, as SIGPIPE would.
func (c Child) Play(ctx context.Context, f *Fixture) (Ending, error) {
	end := Ending{Code: -1}
	var at int64
	stdin := bufio.NewReader(c.Stdin)
	var rpc conversation
	entry := 0
	err := f.Each(func(e transcript.Entry) error {
		entry++
		if err := c.pause(ctx, e.AtMs-at); err != nil {
			return err
		}
		at = e.AtMs
		switch {
		case e.Frame != nil && e.Dir == contract.ServerToCLI:
			n, err := rpc.hear(ctx, stdin, e.Frame)
			end.StdinBytes += int64(n)
			end.StdinChecked = true
			if wrong := (*FrameError)(nil); errors.As(err, &wrong) {
				wrong.Entry = entry
			}
			return err
		case e.Frame != nil:
			return write(c.Stdout, rpc.say(e.Frame))
		case e.Dir == contract.ServerToCLI:
			got, err := c.read(ctx, stdin, f.Mode.Stdin)
			end.StdinBytes += int64(len(got))
			end.StdinChecked = end.StdinChecked || c.checks(f.Mode.Stdin)
			return err
		case e.Stream == contract.Stdout:
			return write(c.Stdout, e.Data)
		case e.Stream == contract.Stderr:
			return write(c.Stderr, e.Data)
		}
		switch e.Event {
		case contract.EventExit:
			if end.Signal = e.Signal; e.ExitCode != nil {
				end.Code = *e.ExitCode
			}
		case contract.EventTimeout:
			end.Timeout = true
		}
		return nil
	})
	if err != nil {
		return end, fmt.Errorf("playing %s: %w", f.Path, err)
	}
	return end, nil
}

func write(w io.Writer, data []byte) error {
	_, err := w.Write(data)
	return err
}

func (c Child) pause(ctx context.Context, ms int64) error {
	if c.Speed <= 0 || ms <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(time.Duration(float64(ms) / c.Speed * float64(time.Millisecond)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// checks reports whether standard input is held against the prompt: not where the mode wraps it into a message.
func (c Child) checks(mode contract.StdinMode) bool {
	return c.Prompt != "" && mode != contract.StdinJSONLOpen
}

// read takes the prompt. A mode that keeps standard input open sends it as one line; the others close it. The read
// itself cannot be interrupted, so it runs beside the wait for ctx.
func (c Child) read(ctx context.Context, stdin *bufio.Reader, mode contract.StdinMode) ([]byte, error) {
	type answer struct {
		data []byte
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		if mode == contract.StdinJSONLOpen {
			if a.data, a.err = stdin.ReadBytes('\n'); errors.Is(a.err, io.EOF) {
				a.err = nil
			}
		} else {
			a.data, a.err = io.ReadAll(stdin)
		}
		done <- a
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case a := <-done:
		if a.err != nil {
			return a.data, fmt.Errorf("reading standard input: %w", a.err)
		}
		if c.checks(mode) && strings.TrimRight(string(a.data), "\n") != strings.TrimRight(c.Prompt, "\n") {
			return a.data, &PromptError{len(a.data), len(c.Prompt)}
		}
		return a.data, nil
	}
}
