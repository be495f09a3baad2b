package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
)

// Bounds of a host's parser command.
const (
	// MaxParserOutput is how much a command may print for one fixture, in bytes.
	MaxParserOutput = 64 << 20
	// ParserLimit is how long a command may run for one fixture.
	ParserLimit = 60 * time.Second
)

// External is a host's own parser as a command: it reads the recorded standard output of an agent on its standard
// input and prints events, as one JSON array or one JSON object a line: {"event": "assistant_text", "fields": {…}}.
//
// It is the only place of this package that starts a process. The command is the caller's own, like a test; nothing
// of a registry tree ever reaches its argv. It sees what the fixture is in CONTRACT_AGENT, CONTRACT_VERSION,
// CONTRACT_PROBE, CONTRACT_FAMILY and CONTRACT_SHAPE; how the recorded process ended in CONTRACT_END (exit, timeout or
// kill) and CONTRACT_EXIT_CODE (empty where there is none); in CONTRACT_STDERR a file with the recorded standard error; and
// otherwise the caller's environment.
type External struct {
	// Argv is the command; Argv[0] is looked up as usual.
	Argv []string
	// Goldens names the goldens that the events are compared with.
	Goldens string
	// Limit is the time limit for one fixture; zero means ParserLimit.
	Limit time.Duration
	// Temp is the folder for the file of recorded standard error; empty means the system's.
	Temp string
	// Stderr gets what the command says; nil drops it.
	Stderr io.Writer
}

// Parser is the command as a parser.
func (x External) Parser() Parser {
	return Parser{Name: x.Goldens, Events: x.Events, TurnsOnly: true}
}

// Events runs the command on one fixture.
func (x External) Events(ctx context.Context, f *Fixture) ([]protocol.Event, error) {
	if len(x.Argv) == 0 {
		return nil, errors.New("the parser command is empty")
	}
	limit := x.Limit
	if limit == 0 {
		limit = ParserLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var stdin, said bytes.Buffer
	if err := errors.Join(f.WriteStdout(&stdin), f.writeStream(&said, contract.Stderr)); err != nil {
		return nil, err
	}
	stderr, err := keep(x.Temp, said.Bytes())
	if err != nil {
		return nil, err
	}
	defer os.Remove(stderr) //nolint:errcheck // the folder goes with its process
	end, code, err := f.end()
	if err != nil {
		return nil, err
	}
	out := &bounded{left: MaxParserOutput, over: cancel}
	cmd := exec.CommandContext(ctx, x.Argv[0], x.Argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &stdin, out, x.Stderr
	cmd.Env = append(cmd.Environ(), "CONTRACT_AGENT="+string(f.Agent), "CONTRACT_VERSION="+string(f.Version), "CONTRACT_PROBE="+string(f.Probe),
		"CONTRACT_FAMILY="+string(f.Family()), "CONTRACT_SHAPE="+string(f.Shape),
		"CONTRACT_END="+string(end), "CONTRACT_EXIT_CODE="+code, "CONTRACT_STDERR="+stderr)
	// A grandchild that keeps the pipe must not keep the caller.
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	switch {
	case out.left < 0:
		return nil, fmt.Errorf("the parser command printed more than %d bytes", MaxParserOutput)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("the parser command did not end within %s", limit)
	case err != nil:
		return nil, fmt.Errorf("running the parser command: %w", err)
	}
	return ParseEvents(out.buf.Bytes())
}

// keep writes a file that only this user reads.
func keep(dir string, data []byte) (string, error) {
	file, err := os.CreateTemp(dir, "stderr-*")
	if err != nil {
		return "", fmt.Errorf("writing the recorded standard error: %w", err)
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("writing the recorded standard error: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return file.Name(), nil
}

// bounded collects output up to a limit and then stops the command. The buffer is a field: embedded, its ReadFrom would
// take the place of Write, and the limit with it.
type bounded struct {
	buf  bytes.Buffer
	left int
	over func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		b.over()
		return 0, errors.New("output limit")
	}
	return b.buf.Write(p)
}

// ParseEvents reads events from one JSON array or from JSON objects that follow each other. Its errors say which
// event is wrong and never quote it.
func ParseEvents(data []byte) ([]protocol.Event, error) {
	events := []protocol.Event{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	array := bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("["))
	if array {
		if _, err := dec.Token(); err != nil {
			return nil, errors.New("the parser's events are not JSON")
		}
	}
	for dec.More() {
		var e protocol.Event
		if err := dec.Decode(&e); err != nil || e.Event == "" {
			return nil, fmt.Errorf("event %d of the parser is not {\"event\": NAME, \"fields\": {…}}", len(events))
		}
		events = append(events, e)
	}
	if array {
		if _, err := dec.Token(); err != nil {
			return nil, errors.New("the parser's array of events does not end")
		}
	}
	if dec.More() {
		return nil, errors.New("the parser printed something behind its events")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the parser printed something behind its events")
	}
	return events, nil
}
