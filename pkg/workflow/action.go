package workflow

import (
	"crypto/rand"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// GetenvFunc reads one environment variable; an unset one is empty.
type GetenvFunc func(name string) string

// Action is one step's side of the protocol. Its methods may be called from several goroutines.
type Action struct {
	w          io.Writer
	getenv     GetenvFunc
	httpClient *http.Client
	random     io.Reader
	exit       func(int)
	fields     CommandProperties
	state      *state // shared by all that WithFieldsMap derives
}

type state struct {
	mu  sync.Mutex
	err error
}

// Option changes an Action that New makes.
type Option func(*Action) *Action

// WithWriter sets where commands go, which is the step's standard output. Without it they go nowhere.
func WithWriter(w io.Writer) Option { return func(a *Action) *Action { a.w = w; return a } }

// WithGetenv sets the environment. Without it every variable is unset.
func WithGetenv(getenv GetenvFunc) Option {
	return func(a *Action) *Action { a.getenv = getenv; return a }
}

// WithHTTPClient sets the client of GetIDToken. Default: one with a limit of 10 seconds.
func WithHTTPClient(c *http.Client) Option {
	return func(a *Action) *Action { a.httpClient = c; return a }
}

// WithFields sets the properties of the annotations that follow.
func WithFields(fields CommandProperties) Option {
	return func(a *Action) *Action { a.fields = fields; return a }
}

// WithRandom sets the source of heredoc delimiters. Default: the system's. It never shows in a value.
func WithRandom(r io.Reader) Option { return func(a *Action) *Action { a.random = r; return a } }

// New makes an Action.
func New(opts ...Option) *Action {
	a := &Action{
		w: io.Discard, getenv: func(string) string { return "" }, httpClient: &http.Client{Timeout: 10 * time.Second},
		random: rand.Reader, exit: os.Exit, state: &state{},
	}
	for _, opt := range opts {
		if opt != nil {
			a = opt(a)
		}
	}
	return a
}

// Err returns what went wrong so far in methods that return nothing, joined.
func (a *Action) Err() error {
	a.state.mu.Lock()
	defer a.state.mu.Unlock()
	return a.state.err
}

// keep remembers an error for Err.
func (a *Action) keep(err error) {
	if err == nil {
		return
	}
	a.state.mu.Lock()
	defer a.state.mu.Unlock()
	a.state.err = errors.Join(a.state.err, err)
}

// GetInput returns an input, trimmed. Its variable is INPUT_ and the name in capitals with spaces as underscores;
// hyphens stay, as the runner leaves them.
func (a *Action) GetInput(name string) string {
	return strings.TrimSpace(a.getenv("INPUT_" + strings.ToUpper(strings.ReplaceAll(name, " ", "_"))))
}

// Getenv reads a variable of the environment that the Action was made with.
func (a *Action) Getenv(name string) string { return a.getenv(name) }

// WithFieldsMap returns an Action whose annotations carry these properties: file, line, endLine, col, title.
func (a *Action) WithFieldsMap(fields map[string]string) *Action {
	derived := *a
	derived.fields = maps.Clone(fields)
	return &derived
}
