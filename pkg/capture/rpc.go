package capture

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/capture/isolation"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// linger is how long a child of an RPC family may stay after its standard input has closed, and again after SIGTERM.
// Hosts wait for less; a machine under load must not decide how a run ends.
const linger = 5 * time.Second

// host makes the host's side of an RPC mode; nil for other modes.
func (c *Capturer) host(t Target, mode registry.Mode, vars map[string]string) (protocol.Client, error) {
	if !mode.Family.IsRPC() {
		return nil, nil
	}
	profile, err := c.Catalog.Client(mode.Client, mode.Family)
	if err != nil {
		return nil, err
	}
	turn := protocol.Turn{Prompt: vars["prompt"], Cwd: vars["cwd"], Authenticate: mode.Authenticate, Agent: t.Agent.ID}
	if mode.Resume != nil && len(mode.Resume.Argv) == 0 {
		turn.Parent = vars["session"]
	}
	if mode.SelectModel {
		turn.Model = vars["model"]
	}
	if t.Probe.Host != nil {
		turn.Host = *t.Probe.Host
		turn.Host.MCPServers = slices.Clone(turn.Host.MCPServers)
		for i := range turn.Host.MCPServers {
			s := &turn.Host.MCPServers[i]
			s.Command, s.Args = expand(s.Command, vars), expandAll(s.Args, vars)
		}
	}
	if t.Probe.ID == "" && profile.ACP != nil {
		// Who only asks for the version goes no further than the handshake.
		acp := *profile.ACP
		acp.Steps = []contract.ACPStep{contract.StepInitialize}
		profile.ACP = &acp
	}
	return protocol.NewClient(mode.Family, profile, turn)
}

// attach writes the images of a probe into the workspace.
func (f *folder) attach(p contract.Probe) error {
	if p.Host == nil {
		return nil
	}
	var err error
	for _, image := range p.Host.Images {
		data, derr := base64.StdEncoding.DecodeString(image.Base64)
		err = errors.Join(err, derr, os.WriteFile(filepath.Join(f.cwd, image.Name), data, 0o644))
	}
	return err
}

// dismiss ends a child that goes on after its turn, as hosts do: SIGTERM, and where that does not help, more.
func dismiss(ctx context.Context, box *isolation.Box, child *isolation.Child, s protocol.Stream) (isolation.Exit, error) {
	s.Rec.Record(transcript.Entry{Dir: contract.FromProcess, Event: contract.EventKill, AtMs: time.Since(s.Start).Milliseconds(), Signal: "SIGTERM"})
	_ = child.Signal(syscall.SIGTERM) // a child that has just ended needs none
	select {
	case <-s.Exited:
		return child.Wait()
	case <-time.After(linger):
	case <-ctx.Done():
	}
	return kill(box, child)
}

// handshakeVersion is what an agent calls its version in the answer to initialize; nil in any other frame.
func handshakeVersion(frame []byte) []byte {
	var f struct {
		Result struct {
			AgentInfo struct {
				Version string `json:"version"`
			} `json:"agentInfo"`
		} `json:"result"`
	}
	if json.Unmarshal(frame, &f) != nil || f.Result.AgentInfo.Version == "" {
		return nil
	}
	return []byte(f.Result.AgentInfo.Version + "\n")
}
