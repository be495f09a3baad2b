package workflow

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// SetOutput sets an output of the step.
func (a *Action) SetOutput(name, value string) {
	a.keep(a.pair("GITHUB_OUTPUT", "output", name, value))
}

// SetEnv sets an environment variable of the steps that follow.
func (a *Action) SetEnv(name, value string) {
	a.keep(a.pair("GITHUB_ENV", "environment variable", name, value))
}

// SaveState keeps a value for the action's own post step.
func (a *Action) SaveState(name, value string) { a.keep(a.pair("GITHUB_STATE", "state", name, value)) }

// AddPath puts a folder in front of PATH for the steps that follow.
func (a *Action) AddPath(path string) {
	if path == "" || strings.ContainsAny(path, "\r\n") {
		a.keep(errors.New("adding to PATH: the folder is empty or has a line break in its name"))
		return
	}
	a.keep(a.appendFile("GITHUB_PATH", path+"\n"))
}

var namePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,99}$`)

// pair writes a value as a heredoc, in one write, so that steps which share the file cannot interleave.
func (a *Action) pair(file, what, name, value string) error {
	if !namePattern.MatchString(name) {
		// The name is not quoted: a broken one may be anything.
		return fmt.Errorf("setting an entry (%s): its name is not a word of letters, digits, _ and -", what)
	}
	delimiter, err := a.delimiter(name, value)
	if err != nil {
		return fmt.Errorf("setting %s %s: %w", what, name, err)
	}
	return a.appendFile(file, name+"<<"+delimiter+"\n"+value+"\n"+delimiter+"\n")
}

// delimiter draws a line that the value cannot contain.
func (a *Action) delimiter(name, value string) (string, error) {
	random := make([]byte, 16)
	for range 3 {
		if _, err := io.ReadFull(a.random, random); err != nil {
			return "", fmt.Errorf("drawing a delimiter: %w", err)
		}
		delimiter := "ghadelimiter_" + hex.EncodeToString(random)
		if !strings.Contains(value, delimiter) && !strings.Contains(name, delimiter) {
			return delimiter, nil
		}
	}
	// Random bytes do not repeat by chance: the source is broken, or the value comes from somebody who reads it.
	return "", errors.New("the value contains every delimiter that was drawn: the source of random bytes is not random")
}

// appendFile appends to the file that a variable of the runner names.
func (a *Action) appendFile(variable, text string) (err error) {
	path := a.getenv(variable)
	if path == "" {
		return fmt.Errorf("%s is not set: run as a step of a workflow, or name a file in it", variable)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("writing to %s: %w", variable, err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing to %s: %w", variable, err)
	}
	return nil
}
