package contract

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// maxTranscriptProblems bounds what is reported of a file that may be hostile.
const maxTranscriptProblems = 200

// ValidateTranscript checks a sanitized transcript line by line: the three kinds of line, what each holds, the
// order of time, and the frames of RPC families. An empty family leaves out what depends on it. It reads a stream,
// holds one line at a time, and reports an error of the reader as a problem. The lines are what transcript.schema.json
// describes; a test holds the two together.
func ValidateTranscript(file string, family Family, r io.Reader) Problems {
	t := transcriptCheck{file: file, family: family, lastMs: -1}
	reader := bufio.NewReaderSize(r, 64<<10)
	for !t.full() {
		line, err := readLine(reader, MaxRecordBytes)
		if errors.Is(err, io.EOF) {
			break
		}
		t.line++
		if err != nil {
			rule, remedy := "transcript/read", "make the file readable"
			if errors.Is(err, errLongLine) {
				rule, remedy = "json/size", fmt.Sprintf("keep lines below %d bytes", MaxRecordBytes)
			}
			t.report(rule, "", "the line cannot be read", remedy)
			break
		}
		t.check(line)
	}
	if t.line == 0 {
		t.report("transcript/empty", "", "the transcript has no lines", "record at least the process event")
	}
	return t.problems.Sort()
}

var errLongLine = errors.New("the line is too long")

// readLine returns the next line without its end; the slice is valid until the next call. A last line without a
// line end counts. The error is io.EOF after the last line.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return trimLine(line, err)
	}
	long := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(long) > limit {
			return nil, errLongLine
		}
		line, err = r.ReadSlice('\n')
		long = append(long, line...)
	}
	return trimLine(long, err)
}

func trimLine(line []byte, err error) ([]byte, error) {
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		return nil, err
	}
	return bytes.TrimSuffix(line, []byte("\n")), nil
}

// transcriptCheck holds what is known from the lines so far.
type transcriptCheck struct {
	file     string
	family   Family
	line     int
	lastMs   float64
	exited   bool
	problems Problems
}

func (t *transcriptCheck) full() bool { return len(t.problems) >= maxTranscriptProblems }

func (t *transcriptCheck) report(rule, at, message, remedy string) {
	t.problems = append(t.problems, Problem{t.file, t.line, at, rule, message, remedy})
}

// lineKinds are the three kinds of line with their fields; required ones first.
var lineKinds = map[string]struct {
	fields   []string
	required int
}{
	"chunk":   {[]string{"dir", "stream", "at_ms", "data", "data_ref"}, 3},
	"frame":   {[]string{"dir", "stream", "at_ms", "frame"}, 4},
	"process": {[]string{"dir", "event", "at_ms", "exit_code", "signal"}, 3},
}

func (t *transcriptCheck) check(data []byte) {
	value, problem := parseRecord(t.file, data)
	if problem != nil {
		problem.Line = t.line
		t.problems = append(t.problems, *problem)
		return
	}
	line, ok := value.(map[string]any)
	if !ok {
		t.report("transcript/kind", "", "the line is no JSON object", "write a stream chunk, an RPC frame or a process event")
		return
	}
	kind := "chunk"
	if _, framed := line["frame"]; framed {
		kind = "frame"
	}
	if line["dir"] == string(FromProcess) {
		kind = "process"
	}
	if !t.fields(kind, line) {
		return
	}
	t.time(line)
	switch kind {
	case "chunk":
		t.stream(line)
		t.chunk(line)
	case "frame":
		t.stream(line)
		t.frame(line)
	case "process":
		t.process(line)
	}
}

// fields checks that a line has the fields of its kind and no others, each of its type.
func (t *transcriptCheck) fields(kind string, line map[string]any) bool {
	before := len(t.problems)
	k := lineKinds[kind]
	for _, name := range k.fields[:k.required] {
		if _, ok := line[name]; !ok {
			t.report("transcript/required", pointer(name), "the field is required and missing", "a "+kind+" line has "+strings.Join(k.fields[:k.required], ", "))
		}
	}
	for name, value := range line {
		if !slices.Contains(k.fields, name) {
			t.report("transcript/kind", pointer(name), "the line is no "+kind+" with this field", "a "+kind+" line has only "+strings.Join(k.fields, ", "))
			continue
		}
		t.field(name, value)
	}
	return len(t.problems) == before
}

var (
	dataRef    = regexp.MustCompile(`^(prompt|prompt-file|redacted|fixture:[A-Za-z0-9._-]{1,100})$`)
	signalName = regexp.MustCompile(`^SIG[A-Z0-9+]{1,20}$`)
)

func (t *transcriptCheck) field(name string, value any) {
	text, isText := value.(string)
	number, isNumber := value.(float64)
	whole := isNumber && number == float64(int64(number))
	enum := func(values []string) {
		if !isText || !slices.Contains(values, text) {
			t.report("transcript/enum", pointer(name), "the value is not one of the legal ones", oneOf(values))
		}
	}
	typed := func(ok bool, remedy string) {
		if !ok {
			t.report("transcript/type", pointer(name), "the value is not what the field holds", remedy)
		}
	}
	switch name {
	case "dir":
		enum(FrameDirection("").Values())
	case "stream":
		enum(StreamName("").Values())
	case "event":
		enum(ProcessEvent("").Values())
	case "at_ms":
		typed(whole && number >= 0, "write whole milliseconds since the spawn")
	case "data":
		typed(isText, "write text")
	case "data_ref":
		typed(isText && dataRef.MatchString(text), "write prompt, prompt-file, redacted or fixture:<name>")
	case "frame":
		_, object := value.(map[string]any)
		typed(object, "write the frame as a JSON object")
	case "exit_code":
		typed(value == nil || (whole && number >= -1 && number <= 4294967295), "write the exit code, or null")
	case "signal":
		typed(value == nil || (isText && signalName.MatchString(text)), "write the signal's name such as SIGTERM, or null")
	}
}

func (t *transcriptCheck) time(line map[string]any) {
	ms := line["at_ms"].(float64)
	if ms < t.lastMs {
		t.report("transcript/time", "/at_ms", "the offset is smaller than that of the line before", "write lines in the order of a monotonic clock")
	}
	t.lastMs = max(t.lastMs, ms)
}

// stream checks that direction and stream pair.
func (t *transcriptCheck) stream(line map[string]any) {
	toCLI, stdin := line["dir"] == string(ServerToCLI), line["stream"] == string(Stdin)
	switch {
	case toCLI && !stdin:
		t.report("transcript/stream", "/stream", "the stream does not belong to the direction", "write stdin for server->cli")
	case !toCLI && stdin:
		t.report("transcript/stream", "/stream", "the stream does not belong to the direction", "write stdout or stderr for cli->server")
	}
}

func (t *transcriptCheck) chunk(line map[string]any) {
	_, data := line["data"]
	_, ref := line["data_ref"]
	if data == ref {
		t.report("transcript/data", "", "the chunk has neither or both of data and data_ref", "give exactly one of data and data_ref")
	}
}

func (t *transcriptCheck) process(line map[string]any) {
	code, signal := line["exit_code"] != nil, line["signal"] != nil
	switch event := line["event"].(string); ProcessEvent(event) {
	case EventExit:
		if code == signal {
			t.report("transcript/exit", "", "the exit has neither or both of exit_code and signal", "give exactly one of exit_code and signal; the other may be null")
		}
		if t.exited {
			t.report("transcript/exit", "", "the process has exited already", "record one exit")
		}
		t.exited = true
	case EventSpawn:
		if code || signal {
			t.report("transcript/exit", "", "a spawn has neither exit_code nor signal", "leave both out")
		}
		t.exited = false // pages of help come from one process each
	default:
		if code && signal {
			t.report("transcript/exit", "", "the event has both exit_code and signal", "give at most one of them")
		}
	}
}
