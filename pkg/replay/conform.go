package replay

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// ClientError says that a transcript holds a frame of the host that its client profile does not send there.
type ClientError struct {
	Entry int // counted from 1; 0 where frames are missing at the end
}

func (e *ClientError) Error() string {
	if e.Entry == 0 {
		return "the transcript ends before the host has sent what its client profile sends"
	}
	return fmt.Sprintf("entry %d is not what the client profile sends there", e.Entry)
}

// Host is the host's side of a recorded turn, with the placeholders of a sanitized transcript for what a run decides.
// parent is the session that the turn continued, as Parent finds it.
func Host(a contract.Agent, version contract.CLIVersion, mode registry.Mode, p contract.Probe, profile contract.Client, parent string) (protocol.Client, error) {
	turn := protocol.Turn{Prompt: p.Sent(), Cwd: "<cwd>", Authenticate: mode.Authenticate, Parent: parent, Agent: a.ID}
	if p.Conditions().PromptRepeat > 0 {
		turn.Prompt = "<text>" // no literal: a prompt of that size has no place in a fixture
	}
	if api, ok := registry.ModelAPI(a, version); ok && mode.SelectModel {
		turn.Model = api.Model
	}
	if p.Host != nil {
		turn.Host = *p.Host
	}
	return protocol.NewClient(mode.Family, profile, turn)
}

// Parent finds the session that a recorded turn continued: an input of the run, which only the host's frames tell.
func Parent(s *redact.Sanitized) (string, error) {
	parent := ""
	err := s.Each(func(e transcript.Entry) error {
		var f struct {
			Method string `json:"method"`
			Params struct {
				Session string `json:"sessionId"`
			} `json:"params"`
			Parent string `json:"parentSession"`
		}
		if e.Frame == nil || e.Dir != contract.ServerToCLI || parent != "" || json.Unmarshal(e.Frame, &f) != nil {
			return nil
		}
		if parent = f.Parent; f.Method == "session/load" {
			parent = f.Params.Session
		}
		return nil
	})
	return parent, err
}

// Conform plays the CLI's frames of an RPC transcript to a host and compares what the host says with what it said in the
// recording, in canonical JSON. A contract whose host speaks what no host sends is none. The error is a *ClientError then.
func Conform(s *redact.Sanitized, host protocol.Client) error {
	expected := host.Start()
	var doc protocol.Document
	entry := 0
	err := s.Each(func(e transcript.Entry) error {
		entry++
		switch {
		case e.Frame == nil:
			return nil
		case e.Dir == contract.CLIToServer:
			if err := doc.Parse(e.Frame); err != nil {
				return err
			}
			expected = append(expected, host.Receive(&doc)...)
			return nil
		case len(expected) == 0:
			expected = host.Unanswered() // a recording has no time, but only a host whose patience is over speaks here
		}
		if len(expected) == 0 {
			return &ClientError{entry}
		}
		want, err := contract.Canonical(expected[0])
		if err != nil {
			return err
		}
		got, err := contract.Canonical(e.Frame)
		if err == nil && !bytes.Equal(got, want) {
			err = &ClientError{entry}
		}
		expected = expected[1:]
		return err
	})
	if err == nil && len(expected) > 0 {
		err = &ClientError{}
	}
	return err
}
