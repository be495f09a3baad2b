package capture

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// EchoError says that a canary which the mode declares as echoed was not in the raw output: either the CLI changed, or what
// was recorded is not what it printed.
type EchoError struct {
	Probe  contract.ProbeID
	Canary string
}

func (e *EchoError) Error() string {
	return fmt.Sprintf("probe %s: the output lacks the canary %s, which the mode declares as echoed: see what the CLI prints there now, then correct echoes in the agent's file", e.Probe, e.Canary)
}

// checkEchoes finds each canary that the mode declares as echoed in the raw output.
func checkEchoes(r *run, f *folder, mode registry.Mode) error {
	for _, echo := range mode.Echoes {
		if !slices.Contains(echo.Probes, r.target.Probe.ID) {
			continue
		}
		found, err := printed(r.driven.raw, f.canaries[slices.Index(canaryNames[:], echo.Canary)])
		if err != nil {
			return err
		}
		if !found {
			return &EchoError{Probe: r.target.Probe.ID, Canary: echo.Canary}
		}
	}
	return nil
}

// printed reports whether a CLI's output holds a value, which may be cut by chunks.
func printed(raw *transcript.Raw, value string) (bool, error) {
	found := false
	tails := map[contract.StreamName][]byte{}
	err := raw.Each(func(e transcript.Entry) error {
		if e.Dir != contract.CLIToServer {
			return nil
		}
		text := append(tails[e.Stream], e.Data...)
		found = found || bytes.Contains(text, []byte(value))
		tails[e.Stream] = append([]byte(nil), text[max(0, len(text)-len(value)):]...)
		return nil
	})
	return found, err
}
