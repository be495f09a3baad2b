package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Turn is what a host wants of one run of an RPC mode.
type Turn struct {
	Prompt, Cwd string
	// Model is selected in the session, Authenticate the method that the host picks; empty where it does neither.
	Model, Authenticate string
	// Parent is the session that the turn continues: its id, or Pi's session file. Empty for a new one.
	Parent string
	// Agent is who is driven: a host may have forms of its own for some.
	Agent contract.AgentID
	Host  contract.HostPolicy
}

// Client is a host's side of one turn, as a profile speaks it: frames of the CLI in, frames of the host out. It does no
// I/O and reads no clock, so the CLI's frames decide the host's, and a transcript can be checked by playing it again.
type Client interface {
	// Start gives the frames that open the turn.
	Start() [][]byte
	// Receive takes in one frame of the CLI and gives the host's answers, each compact JSON.
	Receive(frame *Document) [][]byte
	// Unanswered gives what the host sends where its last frames have had no answer for a while; nil where it waits on.
	Unanswered() [][]byte
	// Done reports whether the turn is over for the host.
	Done() bool
	// HoldsStdin reports whether the host leaves standard input open after its turn, and ends the process itself.
	HoldsStdin() bool
}

// NewClient makes the host's side of a family.
func NewClient(family contract.Family, profile contract.Client, turn Turn) (Client, error) {
	if !profile.Speaks(family) {
		return nil, fmt.Errorf("client profile %s does not speak %s: describe it in registry/clients/%s.json", profile.ID, family, profile.ID)
	}
	if turn.Host.Permission == "" {
		turn.Host.Permission = contract.PermissionAllow
	}
	if family == contract.FamilyPiRPC {
		return &commandClient{profile: *profile.Commands, turn: turn, id: profile.Commands.FirstID}, nil
	}
	if turn.Parent != "" && !profile.ACP.Loads {
		return nil, fmt.Errorf("client profile %s does not go on with sessions: say loads_sessions in registry/clients/%s.json", profile.ID, profile.ID)
	}
	return &acpClient{profile: *profile.ACP, turn: turn, waiting: map[string]contract.ACPStep{}}, nil
}

// marshal writes a frame that this package made of strings and numbers.
func marshal(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // as hosts write
	if err := e.Encode(v); err != nil {
		panic("protocol: a frame of the host cannot be written: " + err.Error()) // unreachable: its parts marshal
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
