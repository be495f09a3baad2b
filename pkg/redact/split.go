package redact

import (
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// splitter cuts the streams of a raw transcript into lines, whatever the chunks were. What the end of the process, or
// of our patience with it, interrupts is a line of its own.
type splitter struct {
	stdout, stderr     protocol.Lines
	onStdout, onStderr func(line []byte) error
}

func newSplitter(t contract.Transport, onStdout, onStderr func(line []byte) error) *splitter {
	return &splitter{stdout: protocol.Lines{Whole: t == contract.TransportJSON}, onStdout: onStdout, onStderr: onStderr}
}

func (s *splitter) feed(e transcript.Entry) error {
	switch {
	case e.Dir == contract.CLIToServer && e.Stream == contract.Stdout:
		return s.stdout.Feed(e.Data, s.onStdout)
	case e.Dir == contract.CLIToServer:
		return s.stderr.Feed(e.Data, s.onStderr)
	case e.EndsLines():
		return s.flush()
	}
	return nil
}

func (s *splitter) flush() error {
	if err := s.stdout.Flush(s.onStdout); err != nil {
		return err
	}
	return s.stderr.Flush(s.onStderr)
}
