// Package transcript holds the bytes that crossed a process boundary: what a host wrote to a CLI, what the CLI
// wrote back, and what became of the process, in order, with offsets in milliseconds.
//
// Raw is the unredacted form. It lives in a spool file that has no name, refuses to print and refuses to marshal;
// package redact is the only way from it to something that may be shown.
package transcript

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// MaxLine bounds one line of a JSONL bundle, in bytes. A longer one is an error, not an allocation.
const MaxLine = 160 << 20

// Entry is one line of a transcript: a stream chunk, an RPC frame or a process event.
type Entry struct {
	Dir    contract.FrameDirection
	Stream contract.StreamName
	// AtMs is the monotonic offset since the spawn, in milliseconds.
	AtMs int64
	// Data is the chunk; Ref stands in its place for content that is kept elsewhere ("prompt").
	Data []byte
	Ref  string
	// Frame is one JSON object of an RPC family.
	Frame []byte
	// Event, ExitCode and Signal belong to process entries. Signal is a name such as SIGKILL.
	Event    contract.ProcessEvent
	ExitCode *int
	Signal   string
}

// Format keeps the bytes of an entry out of every log and message.
func (e Entry) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "transcript.Entry(%s %s%s, %d bytes)", e.Dir, e.Stream, e.Event, len(e.Data)+len(e.Frame))
}

// AppendJSON appends the entry as one JSON object, without a newline. Chunks that are not UTF-8 go to
// "data_base64", which only a raw bundle may hold.
func (e Entry) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"dir":"`...)
	dst = append(dst, e.Dir...)
	if e.Dir == contract.FromProcess {
		dst = append(dst, `","event":"`...)
		dst = append(dst, e.Event...)
		dst = append(dst, `","at_ms":`...)
		dst = strconv.AppendInt(dst, e.AtMs, 10)
		if e.ExitCode != nil || e.Signal != "" {
			dst = append(dst, `,"exit_code":`...)
			if e.ExitCode != nil {
				dst = strconv.AppendInt(dst, int64(*e.ExitCode), 10)
			} else {
				dst = append(dst, "null"...)
			}
			dst = append(dst, `,"signal":`...)
			if e.Signal != "" {
				dst = appendQuoted(dst, []byte(e.Signal))
			} else {
				dst = append(dst, "null"...)
			}
		}
		return append(dst, '}')
	}
	dst = append(dst, `","stream":"`...)
	dst = append(dst, e.Stream...)
	dst = append(dst, `","at_ms":`...)
	dst = strconv.AppendInt(dst, e.AtMs, 10)
	switch {
	case e.Frame != nil:
		dst = append(dst, `,"frame":`...)
		dst = append(dst, e.Frame...)
	case e.Ref != "":
		dst = append(dst, `,"data_ref":`...)
		dst = appendQuoted(dst, []byte(e.Ref))
	case utf8.Valid(e.Data):
		dst = append(dst, `,"data":`...)
		dst = appendQuoted(dst, e.Data)
	default:
		dst = append(dst, `,"data_base64":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, e.Data)
		dst = append(dst, '"')
	}
	return append(dst, '}')
}

// appendQuoted quotes valid UTF-8; jsontext cannot fail on it.
func appendQuoted(dst, src []byte) []byte {
	out, err := jsontext.AppendQuote(dst, src)
	if err != nil {
		panic("transcript: quote of checked UTF-8 failed") // unreachable: callers check
	}
	return out
}

// line is the decoding form of an entry.
type line struct {
	Dir        contract.FrameDirection `json:"dir"`
	Stream     contract.StreamName     `json:"stream"`
	AtMs       *int64                  `json:"at_ms"`
	Data       *string                 `json:"data"`
	DataBase64 *string                 `json:"data_base64"`
	DataRef    *string                 `json:"data_ref"`
	Frame      json.RawMessage         `json:"frame"`
	Event      contract.ProcessEvent   `json:"event"`
	ExitCode   *int                    `json:"exit_code"`
	Signal     *string                 `json:"signal"`
}

// LineError says which line of a JSONL file is not a transcript entry. It never quotes the line.
type LineError struct {
	Line   int // counted from 1
	Reason string
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// ReadLines reads a JSONL transcript or raw bundle and hands each entry to fn. Entries are valid only until fn
// returns. It stops at the first line that is not an entry, with a *LineError, or at fn's first error.
func ReadLines(r io.Reader, fn func(Entry) error) error {
	br := bufio.NewReaderSize(r, 1<<16)
	var long []byte
	for n := 1; ; n++ {
		text, err := readLine(br, &long)
		if errors.Is(err, io.EOF) && len(text) == 0 {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			var tooLong *LineError
			if errors.As(err, &tooLong) {
				tooLong.Line = n
			}
			return err
		}
		entry, reason := parseLine(text)
		if reason != "" {
			return &LineError{Line: n, Reason: reason}
		}
		if err := fn(entry); err != nil {
			return err
		}
	}
}

func readLine(br *bufio.Reader, long *[]byte) ([]byte, error) {
	text, err := br.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return bytes.TrimSuffix(text, []byte("\n")), err
	}
	*long = append((*long)[:0], text...)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(*long) > MaxLine {
			return nil, &LineError{Reason: fmt.Sprintf("longer than %d bytes", MaxLine)}
		}
		text, err = br.ReadSlice('\n')
		*long = append(*long, text...)
	}
	return bytes.TrimSuffix(*long, []byte("\n")), err
}

func parseLine(text []byte) (Entry, string) {
	var l line
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return Entry{}, "not a JSON object of a transcript entry"
	}
	if dec.More() {
		return Entry{}, "more than one JSON value"
	}
	if l.AtMs == nil || *l.AtMs < 0 {
		return Entry{}, "at_ms is missing or negative"
	}
	e := Entry{Dir: l.Dir, Stream: l.Stream, AtMs: *l.AtMs, Event: l.Event, ExitCode: l.ExitCode, Frame: l.Frame}
	if l.Signal != nil {
		e.Signal = *l.Signal
	}
	contents := 0
	if l.Data != nil {
		e.Data = []byte(*l.Data)
		contents++
	}
	if l.DataRef != nil {
		e.Ref = *l.DataRef
		contents++
	}
	if l.DataBase64 != nil {
		data, err := base64.StdEncoding.DecodeString(*l.DataBase64)
		if err != nil {
			return Entry{}, "data_base64 is not base64"
		}
		e.Data = data
		contents++
	}
	if l.Frame != nil {
		contents++
	}
	switch {
	case l.Dir == contract.FromProcess && contents == 0 && l.Stream == "" && l.Event != "":
	case l.Dir == contract.ServerToCLI && contents == 1 && l.Stream == contract.Stdin && l.Event == "":
	case l.Dir == contract.CLIToServer && contents == 1 && (l.Stream == contract.Stdout || l.Stream == contract.Stderr) && l.Event == "":
	default:
		return Entry{}, "dir, stream and content do not belong together"
	}
	return e, ""
}
