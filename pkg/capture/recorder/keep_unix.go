//go:build unix

package recorder

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// drain is how long the recording goes on after the agent has ended while something holds its pipes.
const drain = 2 * time.Second

// Recording is what a keeper has recorded.
type Recording struct {
	// Raw is nil where the recording failed, and Err says why: the host's run went on.
	Raw *transcript.Raw
	Err error
	// Held is set when something held the agent's pipes after its end; what came later was passed on and not recorded.
	Held bool
}

// Keep passes the streams on, with the descriptors that Run gave to this process, and calls done with the recording when the
// agent has ended. spool is the folder for the spool. It returns when done has, and nobody holds a pipe any more.
func Keep(spool string, done func(Recording)) {
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
	for fd := fdHostStdin; fd <= fdAck; fd++ {
		unix.CloseOnExec(fd)
	}
	var recording Recording
	record := func(transcript.Entry) {}
	rec, err := transcript.NewTape(spool)
	if err == nil {
		record = rec.Record
	}
	recording.Err = err
	t := newTape(time.Now(), record)
	t.event(transcript.Entry{Event: contract.EventSpawn})

	ended, end, err := os.Pipe()
	if err != nil {
		recording.Err = err // the relays then learn nothing, and say that they are drained when they end
	} else {
		defer ended.Close() //nolint:errcheck // read only, and open until the relays are over
	}
	var streams, drained sync.WaitGroup
	drained.Add(2)
	for _, fd := range []int{fdAgentStdin, fdAgentStdout, fdAgentStderr} {
		widen(fd)
	}
	out := func(src, dst int, stream contract.StreamName) {
		r := relay{src: src, dst: dst, dir: contract.CLIToServer, stream: stream, tape: t, ended: int(ended.Fd()), drained: drained.Done}
		streams.Go(r.run)
	}
	out(fdAgentStdout, fdHostStdout, contract.Stdout)
	out(fdAgentStderr, fdHostStderr, contract.Stderr)
	in := relay{src: fdHostStdin, dst: fdAgentStdin, dir: contract.ServerToCLI, stream: contract.Stdin, tape: t, ended: -1}
	streams.Go(in.run)

	exit, err := waitForExit()
	if recording.Err == nil {
		recording.Err = err
	}
	_ = end.Close()
	drained.Wait()
	ack := os.NewFile(fdAck, "ack")
	_, _ = ack.Write([]byte{0})

	over := make(chan struct{})
	go func() {
		streams.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-time.After(drain):
		recording.Held = true
	}
	last := transcript.Entry{Event: contract.EventExit, Signal: exit.Signal}
	if exit.Signal == "" {
		last.ExitCode = &exit.Code
	}
	t.event(last)
	if slow := t.end(); slow != nil && recording.Err == nil {
		recording.Err = slow
	}
	if rec != nil {
		raw, err := rec.Finish()
		switch {
		case recording.Err == nil && err == nil:
			recording.Raw = raw
		case err == nil:
			_ = raw.Close()
		case recording.Err == nil:
			recording.Err = err
		}
	}
	done(recording)
	_ = ack.Close()
	<-over
}

// waitForExit hears how the agent ended. A Run that says nothing was killed, and the agent with it.
func waitForExit() (Exit, error) {
	status := os.NewFile(fdStatus, "status")
	defer status.Close() //nolint:errcheck // read only
	data, err := io.ReadAll(status)
	var exit *Exit
	if err != nil || json.Unmarshal(data, &exit) != nil {
		return Exit{Code: -1, Signal: "SIGKILL"}, nil
	}
	if exit == nil {
		return Exit{Code: -1}, errors.New("the agent could not be started")
	}
	return *exit, nil
}
