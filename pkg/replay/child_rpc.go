package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrHostGone says that the host closed standard input while the recording has more frames of it.
var ErrHostGone = errors.New("the host closed standard input before it had sent all frames of the recording")

// FrameError says that the host of a played RPC recording said something else than the recorded host. It carries what
// was recorded, and nothing of what this host wrote.
type FrameError struct {
	Entry int // of the fixture, counted from 1
	Want  string
}

func (e *FrameError) Error() string {
	return fmt.Sprintf("entry %d: the recorded host sends %s here, and this one something else", e.Entry, e.Want)
}

// conversation plays a recording of an RPC family: each recorded frame of the host stands for one line that the live
// host writes. Hosts choose the ids of their requests themselves, so the answers get those of the live host.
type conversation struct {
	ids map[string]json.RawMessage // recorded → live
}

// hear takes the line that stands for a recorded frame of the host.
func (c *conversation) hear(ctx context.Context, stdin *bufio.Reader, recorded []byte) (int, error) {
	line, err := readLine(ctx, stdin)
	for err == nil && len(bytes.TrimSpace(line)) == 0 {
		line, err = readLine(ctx, stdin)
	}
	if err != nil {
		return len(line), err
	}
	was, now := headOf(recorded), headOf(line)
	if was.kind() != now.kind() || (was.id == nil) != (now.id == nil) {
		return len(line), &FrameError{Want: was.kind()}
	}
	if was.id != nil && now.id != nil && !was.answers {
		if c.ids == nil {
			c.ids = map[string]json.RawMessage{}
		}
		c.ids[string(was.id)] = now.id
	}
	return len(line), nil
}

// say is the line for a recorded frame of the CLI.
func (c *conversation) say(recorded []byte) []byte {
	line := recorded
	if h := headOf(recorded); h.id != nil && !h.asks {
		if live, ok := c.ids[string(h.id)]; ok {
			line = bytes.Join([][]byte{recorded[:h.start], live, recorded[h.end:]}, nil)
		}
	}
	return append(bytes.Clone(line), '\n')
}

// readLine reads a line beside the wait for ctx, since a read cannot be interrupted.
func readLine(ctx context.Context, r *bufio.Reader) ([]byte, error) {
	type answer struct {
		line []byte
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		line, err := r.ReadBytes('\n')
		done <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case a := <-done:
		switch {
		case errors.Is(a.err, io.EOF) && len(bytes.TrimSpace(a.line)) == 0:
			return a.line, ErrHostGone
		case a.err != nil && !errors.Is(a.err, io.EOF):
			return a.line, fmt.Errorf("reading standard input: %w", a.err)
		}
		return a.line, nil
	}
}

// head is what the top of a frame says: its id and where that stands, and whether the frame is a request or an answer.
type head struct {
	id            json.RawMessage
	start, end    int
	asks, answers bool
	method, name  string // name is the type of a command
}

// kind names a frame of a host: a method, a command, or that it answers.
func (h head) kind() string {
	switch {
	case h.method != "":
		return h.method
	case h.answers:
		return "an answer"
	}
	return h.name
}

func headOf(frame []byte) (h head) {
	dec := jsontext.NewDecoder(bytes.NewReader(frame))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return h
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			break
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			break
		}
		switch key {
		case "id":
			h.end = int(dec.InputOffset())
			h.id, h.start = bytes.Clone(value), h.end-len(value)
		case "method":
			h.asks = true
			_ = json.Unmarshal(value, &h.method) // what is no string names nothing
		case "type":
			_ = json.Unmarshal(value, &h.name)
		case "result", "error":
			h.answers = true
		}
	}
	return h
}
