//go:build unix

package recorder

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exit is how the agent ended. Signal is a name such as SIGTERM; it is empty where the agent ended by itself.
type Exit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
}

// Agent is what a host starts.
type Agent struct {
	// Path is the executable, Name its argv[0] (default: Path), Args what follows it.
	Path, Name string
	Args       []string
	// Keeper starts the process that calls Keep; Run gives it its descriptors.
	Keeper *exec.Cmd
	// Wait makes Run return only when the keeper says that it has done everything, not as soon as the agent has ended.
	Wait bool
}

// StartError says that the agent could not be started. The host has seen nothing of it.
type StartError struct{ Err error }

func (e *StartError) Error() string { return fmt.Sprintf("starting the agent: %v", e.Err) }
func (e *StartError) Unwrap() error { return e.Err }

// Run starts the agent on this process's standard descriptors and returns how it ended. Where the keeper cannot be started the
// agent takes this process's place: a recording must not cost the host its run.
func Run(a Agent) (Exit, error) {
	runtime.LockOSThread() // the agent dies with the thread that started it, which must be that of the process
	p, err := openPipes()
	if err == nil {
		err = a.startKeeper(p)
	}
	if err != nil {
		err = syscall.Exec(a.Path, a.argv(), os.Environ()) //nolint:forbidigo // the agent inherits the host's environment whole
		return Exit{}, &StartError{err}
	}
	cmd := exec.Cmd{Path: a.Path, Args: a.argv(), Stdin: p.agent[0], Stdout: p.agent[1], Stderr: p.agent[2], SysProcAttr: tied()}
	signals := make(chan os.Signal, 64)
	for _, s := range passed {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	if err := cmd.Start(); err != nil {
		_, _ = p.status.WriteString(notStarted)
		p.close()
		return Exit{}, &StartError{err}
	}
	letGo()
	closeFiles(p.agent[:])
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // it may have ended
		}
	}()
	exit, err := ending(cmd.Wait())
	if err != nil {
		return Exit{}, err
	}
	// A keeper that has died has no answer to give; the agent's end counts all the same.
	_ = json.NewEncoder(p.status).Encode(exit)
	_ = p.status.Close()
	if a.Wait {
		_, _ = io.Copy(io.Discard, p.ack)
	} else {
		_, _ = p.ack.Read(make([]byte, 1))
	}
	return exit, nil
}

func (a Agent) argv() []string { return append([]string{cmp.Or(a.Name, a.Path)}, a.Args...) }

// notStarted is what Run says to the keeper in place of an exit.
const notStarted = "null"

func ending(err error) (Exit, error) {
	var failed *exec.ExitError
	switch {
	case err == nil:
		return Exit{}, nil
	case !errors.As(err, &failed):
		return Exit{}, fmt.Errorf("waiting for the agent: %w", err)
	}
	if status, ok := failed.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return Exit{Code: -1, Signal: unix.SignalName(status.Signal())}, nil
	}
	return Exit{Code: failed.ExitCode()}, nil
}

// passed are the signals that a host sends to an agent. The rest cannot be caught, or speak of the process itself.
var passed = []os.Signal{
	syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGALRM,
}

// pipes connect the agent with the keeper, and the keeper with Run.
type pipes struct {
	agent  [3]*os.File // the agent's ends
	keeper []*os.File  // the keeper's ends
	status *os.File    // how the agent ended, to the keeper
	ack    *os.File    // from the keeper: a byte when the output is drained, its end when all is done
}

func openPipes() (*pipes, error) {
	var r, w [5]*os.File
	for i := range r {
		var err error
		if r[i], w[i], err = os.Pipe(); err != nil {
			closeFiles(r[:i])
			closeFiles(w[:i])
			return nil, err
		}
	}
	return &pipes{
		agent: [3]*os.File{r[0], w[1], w[2]}, keeper: []*os.File{w[0], r[1], r[2], r[3], w[4]}, status: w[3], ack: r[4],
	}, nil
}

func (p *pipes) close() {
	closeFiles(p.agent[:])
	_, _ = p.status.Close(), p.ack.Close()
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// The descriptors of the keeper, in the order of startKeeper.
const (
	fdHostStdin = 3 + iota
	fdHostStdout
	fdHostStderr
	fdAgentStdin
	fdAgentStdout
	fdAgentStderr
	fdStatus
	fdAck
)

func (a Agent) startKeeper(p *pipes) error {
	a.Keeper.ExtraFiles = append([]*os.File{os.Stdin, os.Stdout, os.Stderr}, p.keeper...)
	// A session of its own: what the host sends to its child's group must not end the recording of that.
	a.Keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := a.Keeper.Start(); err != nil {
		p.close()
		closeFiles(p.keeper)
		return err
	}
	closeFiles(p.keeper)
	return nil
}

// letGo gives the host's pipes to the keeper alone: the host must see their end when the agent's own have ended.
func letGo() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	for fd := range 3 {
		_ = unix.Dup2(int(null.Fd()), fd)
	}
	_ = null.Close()
}
