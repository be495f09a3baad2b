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
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// MaxLine bounds one line of a JSONL bundle, in bytes. A longer one is an error, not an allocation.
const MaxLine = 160 << 20

// maxLine is MaxLine; the test of the bound does not write so much.
var maxLine = MaxLine

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

// EndsLines reports whether a line that is not complete yet ends here.
func (e Entry) EndsLines() bool {
	return e.Event == contract.EventExit || e.Event == contract.EventTimeout || e.Event == contract.EventKill
}

// Format keeps the bytes of an entry out of every log and message.
func (e Entry) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "transcript.Entry(%s %s%s, %d bytes)", e.Dir, e.Stream, e.Event, len(e.Data)+len(e.Frame))
}

// MarshalJSON refuses: AppendJSON is the one form of an entry, and its callers know what they hold.
func (e Entry) MarshalJSON() ([]byte, error) { return nil, ErrSecret }

// MarshalText refuses.
func (e Entry) MarshalText() ([]byte, error) { return nil, ErrSecret }

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
	Frame      jsontext.Value          `json:"frame"`
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
		text, err = br.ReadSlice('\n')
		if len(*long)+len(text) > maxLine {
			return nil, &LineError{Reason: fmt.Sprintf("longer than %d bytes", maxLine)}
		}
		*long = append(*long, text...)
	}
	return bytes.TrimSuffix(*long, []byte("\n")), err
}

var (
	signalName    = regexp.MustCompile(`^SIG[A-Z0-9+]{1,20}$`)
	processEvents = contract.ProcessEvent("").Values()
)

// maxExitCode is the largest code that an operating system gives: Windows counts in 32 bits.
const maxExitCode = 1<<32 - 1

// parseLine reads one entry strictly: a key that comes twice, or in other letters, could hide content from readers
// that look at the other one.
func parseLine(text []byte) (Entry, string) {
	var l line
	if err := json.Unmarshal(text, &l, json.RejectUnknownMembers(true)); err != nil {
		return Entry{}, "not one JSON object of a transcript entry"
	}
	if l.AtMs == nil || *l.AtMs < 0 {
		return Entry{}, "at_ms is missing or negative"
	}
	if l.Dir == contract.FromProcess {
		return l.process()
	}
	return l.chunk()
}

func (l *line) process() (Entry, string) {
	e := Entry{Dir: l.Dir, AtMs: *l.AtMs, Event: l.Event, ExitCode: l.ExitCode}
	if l.Signal != nil {
		e.Signal = *l.Signal
	}
	switch {
	case l.contents() > 0 || l.Stream != "":
		return Entry{}, "a process event has neither stream nor content"
	case !slices.Contains(processEvents, string(l.Event)):
		return Entry{}, "the process event is unknown"
	case l.Signal != nil && !signalName.MatchString(e.Signal):
		return Entry{}, "signal is not a name such as SIGTERM"
	case l.ExitCode != nil && (*l.ExitCode < -1 || int64(*l.ExitCode) > maxExitCode):
		return Entry{}, "exit_code is not one that an operating system gives"
	case l.ExitCode != nil && l.Signal != nil:
		return Entry{}, "exit_code and signal exclude each other"
	}
	return e, ""
}

func (l *line) chunk() (Entry, string) {
	e := Entry{Dir: l.Dir, Stream: l.Stream, AtMs: *l.AtMs}
	toCLI := l.Dir == contract.ServerToCLI && l.Stream == contract.Stdin
	fromCLI := l.Dir == contract.CLIToServer && (l.Stream == contract.Stdout || l.Stream == contract.Stderr)
	switch {
	case l.contents() != 1 || !toCLI && !fromCLI || l.Event != "" || l.ExitCode != nil || l.Signal != nil:
		return Entry{}, "dir, stream and content do not belong together"
	case l.Data != nil:
		e.Data = []byte(*l.Data)
	case l.DataRef != nil && *l.DataRef == "":
		return Entry{}, "data_ref is empty"
	case l.DataRef != nil:
		e.Ref = *l.DataRef
	case l.DataBase64 != nil:
		data, err := base64.StdEncoding.DecodeString(*l.DataBase64)
		if err != nil {
			return Entry{}, "data_base64 is not base64"
		}
		e.Data = data
	case l.Frame.Kind() != '{':
		return Entry{}, "frame is not a JSON object"
	default:
		e.Frame = l.Frame
	}
	return e, ""
}

// contents counts the fields that hold what crossed the boundary.
func (l *line) contents() int {
	n := 0
	for _, has := range []bool{l.Data != nil, l.DataRef != nil, l.DataBase64 != nil, l.Frame != nil} {
		if has {
			n++
		}
	}
	return n
}
