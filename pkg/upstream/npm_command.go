package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"regexp"
	"slices"
	"time"
)

// NPM lists and installs releases through the npm client.
type NPM struct {
	Command  string   // npm's client; default "npm", looked up on PATH
	CacheDir string   // where Install keeps what it installed; its layout is private to this package
	Env      []string // environment of npm, as in exec.Cmd; nil inherits that of this process
}

const (
	// codeUnknown stands where npm failed without a code of its own.
	codeUnknown = "unknown"
	// codeNoOutput stands where npm reported success and printed nothing.
	codeNoOutput = "no-output"
)

// exitNoInterpreter is how env(1), which starts npm, ends where it does not find node.
const exitNoInterpreter = 127

// maxOutput bounds what is kept of either stream of npm, in bytes. The largest listings seen have some 100 KB.
const maxOutput = 64 << 20

// npmGrace is how long npm's streams may stay open after npm was killed.
const npmGrace = 5 * time.Second

// commonFlags go with every command. The prefix keeps npm from adopting a project above the working directory; both
// flags after it are needed against a user who set npm to install globally. npm's default of 10 and then 60 seconds
// between retries would make "no network" take over a minute.
func commonFlags(dir string) []string {
	return []string{
		"--json", "--prefix", dir, "--location=project", "--no-global", "--no-update-notifier", "--loglevel=error",
		"--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000",
	}
}

// view asks npm for fields of the versions that spec selects and returns its JSON. dir must be an empty folder.
func (n *NPM) view(ctx context.Context, dir, spec string, fields ...string) ([]byte, error) {
	args := append([]string{"view"}, commonFlags(dir)...)
	args = append(args, "--tag=latest", spec)
	out, err := n.run(ctx, dir, "view "+spec, append(args, fields...))
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(out)) == 0 {
		return nil, &NPMError{Op: "view " + spec, Code: codeNoOutput}
	}
	return out, nil
}

// run starts npm in dir and returns its standard output. op names the command in errors. What npm prints goes into
// no error: it may hold addresses and credentials.
func (n *NPM) run(ctx context.Context, dir, op string, args []string) ([]byte, error) {
	command := n.Command
	if command == "" {
		command = "npm"
	}
	stdout, stderr := &cappedBuffer{}, &cappedBuffer{}
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, n.Env, stdout, stderr, npmGrace
	err := cmd.Run()
	if err == nil && stdout.overflow {
		return nil, fmt.Errorf("reading npm %s: more than %d bytes of output: narrow the request", op, maxOutput)
	}
	if err == nil {
		return stdout.buf.Bytes(), nil
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("running npm %s: %w", op, ctx.Err())
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if exit.ExitCode() == exitNoInterpreter && len(stdout.buf.Bytes()) == 0 {
			return nil, ErrNoNode
		}
		return nil, classify(op, errorCode(stdout.buf.Bytes(), stderr.buf.Bytes()))
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot) || errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoNPM
	}
	return nil, fmt.Errorf("running npm %s: %w", op, err)
}

// networkCodes are npm's codes for a registry that cannot be reached.
var networkCodes = []string{
	"ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH",
	"ENETDOWN", "ERR_SOCKET_TIMEOUT", "EIDLETIMEOUT", "ECONNECTIONTIMEOUT", "ERESPONSETIMEOUT", "ETRANSFERTIMEOUT",
	"ENOTCACHED",
}

// classify turns npm's code into an error. E404 stays an NPMError: only the caller knows what was not found.
func classify(op, code string) error {
	if slices.Contains(networkCodes, code) {
		return &NetworkError{Op: op, Code: code}
	}
	return &NPMError{Op: op, Code: code}
}

// hasCode reports whether err is an NPMError with one of the codes.
func hasCode(err error, codes ...string) bool {
	var e *NPMError
	return errors.As(err, &e) && slices.Contains(codes, e.Code)
}

var (
	codeToken   = regexp.MustCompile(`^[A-Z][A-Z0-9_]{1,40}$`)
	codeOnError = regexp.MustCompile(`(?m)^npm (?:error|ERR!) code ([A-Z][A-Z0-9_]{1,40})\r?$`)
)

// errorCode finds npm's error code: in the JSON that it prints on standard output, or else in the text on standard
// error. Only a token that looks like a code is taken.
func errorCode(stdout, stderr []byte) string {
	var report struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(stdout, &report) == nil && codeToken.MatchString(report.Error.Code) {
		return report.Error.Code
	}
	if found := codeOnError.FindSubmatch(stderr); found != nil {
		return string(found[1])
	}
	return codeUnknown
}

// cappedBuffer keeps up to maxOutput bytes and drops the rest, so that a runaway npm cannot fill the memory.
type cappedBuffer struct {
	buf      bytes.Buffer // not embedded: its ReadFrom would go past Write, and so past the limit
	overflow bool
}

// Write never fails: an error would stop the copying and block npm on a full pipe.
func (b *cappedBuffer) Write(p []byte) (int, error) {
	if room := maxOutput - b.buf.Len(); len(p) > room {
		b.overflow = true
		b.buf.Write(p[:room])
		return len(p), nil
	}
	return b.buf.Write(p)
}
