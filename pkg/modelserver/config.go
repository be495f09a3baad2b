package modelserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// The limits of a configuration that names none.
const (
	DefaultMaxRequestBytes = 16 << 20 // bytes of one request body, decoded
	DefaultMaxRequests     = 200      // model requests of a run
	DefaultMaxKeptBytes    = 32 << 20 // bytes of all requests that a report keeps
)

// Config is everything that decides what a Server answers.
type Config struct {
	Script  contract.Script
	Tools   map[string][]contract.Tool // the mode's tools: intent of a tool step → candidates in order of preference
	Side    []contract.SideRequest     // the mode's side requests; they are answered apart from the script
	Vars    map[string]string          // placeholder → value for strings in tool arguments: "cwd" fills {cwd}
	Dialect string                     // model API that the CLI speaks, as contract.ModelAPI names it
	Model   string                     // model id that answers and the model listing carry
	Created int64                      // creation time in answers, Unix seconds
	Prefix  string                     // first path segment of this run: 128 random bits as 32 lowercase hexadecimal characters
	Think   time.Duration              // pause before an answer to a tool's result
	Canary  string                     // planted in the request id header and in all ids of answers; at most 40 of [A-Za-z0-9_-]; may be empty

	MaxRequestBytes int64 // largest request body, counted after decompression; 0 is DefaultMaxRequestBytes
	MaxRequests     int   // model requests that are answered, side requests included; 0 is DefaultMaxRequests
	MaxKeptBytes    int64 // what Report.Exchanges may hold in memory; 0 is DefaultMaxKeptBytes
}

var (
	prefixPattern = regexp.MustCompile(`^[0-9a-f]{32}$`)
	// An id is at most 64 characters in the model APIs; this leaves room for its kind and its number.
	canaryPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{0,40}$`)
)

// check reports everything that is wrong with the configuration, not only the first thing.
func (c Config) check() error {
	var errs []error
	if !prefixPattern.MatchString(c.Prefix) {
		errs = append(errs, errors.New("the path prefix must be 32 lowercase hexadecimal characters"))
	}
	if !canaryPattern.MatchString(c.Canary) {
		errs = append(errs, errors.New("the canary must be at most 40 letters, digits, '_' or '-'"))
	}
	if c.Model == "" {
		errs = append(errs, errors.New("the model id is empty; the agent's model_api entry names one"))
	}
	if c.MaxRequestBytes < 0 || c.MaxRequests < 0 || c.MaxKeptBytes < 0 {
		errs = append(errs, errors.New("a limit is negative; leave it 0 for the default"))
	}
	if len(c.Script.Steps) == 0 {
		errs = append(errs, errors.New("the script has no steps"))
	}
	for _, intent := range slices.Sorted(maps.Keys(c.Tools)) {
		for _, tool := range c.Tools[intent] {
			if _, err := json.Marshal(tool.Arguments); err != nil {
				errs = append(errs, fmt.Errorf("the arguments of the tool %q for %q are not JSON: %w", tool.Name, intent, err))
			}
		}
	}
	for i, side := range c.Side {
		if side.Model == "" && !side.WithoutTools && side.MaxTokens == 0 && side.Instructions == "" {
			errs = append(errs, fmt.Errorf("side request %d would match every request; give it a condition", i+1))
		}
		if side.Answer == "" {
			errs = append(errs, fmt.Errorf("side request %d has no answer", i+1))
		}
	}
	for i, step := range c.Script.Steps {
		if err := c.checkStep(step, i == len(c.Script.Steps)-1); err != nil {
			errs = append(errs, fmt.Errorf("script step %d: %w", i+1, err))
		}
	}
	return errors.Join(errs...)
}

func (c Config) checkStep(step contract.ScriptStep, last bool) error {
	var kinds []string
	for _, kind := range []struct {
		name string
		set  bool
	}{
		{"text", len(step.Text) > 0},
		{"tool", step.Tool != nil},
		{"error", step.Error != nil},
		{"drop", step.Drop != nil},
		{"stall", step.Stall != nil},
		{"empty", step.Empty},
	} {
		if kind.set {
			kinds = append(kinds, kind.name)
		}
	}
	switch {
	case len(kinds) != 1:
		return fmt.Errorf("exactly one of text, tool, error, drop, stall, empty must be set, not %d (%s)", len(kinds), strings.Join(kinds, ", "))
	case step.Repeat && !last:
		return errors.New("repeat is only for the last step")
	case step.Tool != nil && len(c.Tools[step.Tool.Intent]) == 0:
		return fmt.Errorf("the mode has no tool for the intent %q; it has tools for: %s",
			step.Tool.Intent, strings.Join(slices.Sorted(maps.Keys(c.Tools)), ", "))
	case step.Error != nil && (step.Error.Status < 400 || step.Error.Status > 599):
		return fmt.Errorf("the error status %d is not between 400 and 599", step.Error.Status)
	case step.Stall != nil && step.Stall.Seconds < 1:
		return errors.New("a stall must last at least one second")
	}
	return nil
}

// withDefaults fills in the limits that are left open.
func (c Config) withDefaults() Config {
	if c.MaxRequestBytes == 0 {
		c.MaxRequestBytes = DefaultMaxRequestBytes
	}
	if c.MaxRequests == 0 {
		c.MaxRequests = DefaultMaxRequests
	}
	if c.MaxKeptBytes == 0 {
		c.MaxKeptBytes = DefaultMaxKeptBytes
	}
	return c
}
