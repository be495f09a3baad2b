package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// Origin says where a transcript comes from, so that it can be read: AGENT@VERSION:PROBE and the mode.
type Origin struct {
	Selector string
	Mode     string
}

// policy builds the redaction policy for a transcript of the origin.
func (s *Stage) policy(ctx context.Context, o Origin) (redact.Policy, error) {
	agent, version, probes, err := s.target(ctx, CaptureRequest{Selector: o.Selector})
	if err != nil {
		return redact.Policy{}, err
	}
	if len(probes) != 1 {
		return redact.Policy{}, fmt.Errorf("%q names no probe: write %s@%s:PROBE", o.Selector, agent.ID, version)
	}
	id := contract.ModeID(o.Mode)
	if implicit := probes[0].ImplicitMode(); implicit != "" {
		id = implicit
	}
	mode, err := registry.ResolveMode(agent, id, version)
	if err != nil {
		return redact.Policy{}, err
	}
	policy, err := s.Checkout.Catalog.Policy(agent, mode, version, probes...)
	if err != nil {
		return policy, err
	}
	policy.Scanner, err = scan.New(scan.Config{Known: s.known()})
	return policy, err
}

// Redact sanitizes a raw bundle and writes the public transcript to w. A redaction failure is a *FoundError around a
// *redact.Failure, and w stays untouched.
func (s *Stage) Redact(ctx context.Context, file string, o Origin, w io.Writer) (err error) {
	policy, err := s.policy(ctx, o)
	if err != nil {
		return err
	}
	f, err := openFile(file)
	if err != nil {
		return err
	}
	raw, err := transcript.ReadBundle(f, os.TempDir())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w; a raw bundle comes from capture --raw", file, err)
	}
	defer raw.Close() //nolint:errcheck // an unlinked spool
	clean, err := redact.Redact(raw, policy, os.TempDir())
	if err != nil {
		return foundFailure(file, err)
	}
	return errors.Join(clean.WriteJSONL(w), clean.Close())
}

// Normalize reads a sanitized transcript, checks it, and gives its shape.
func (s *Stage) Normalize(ctx context.Context, file string, o Origin) (*shape.Result, error) {
	policy, err := s.policy(ctx, o)
	if err != nil {
		return nil, err
	}
	f, err := openFile(file)
	if err != nil {
		return nil, err
	}
	clean, err := redact.Read(f, policy, os.TempDir())
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, foundFailure(file, err)
	}
	result, err := shape.Of(clean)
	return result, errors.Join(err, clean.Close())
}

// openFile opens a regular file. A pipe that nobody writes to would be waited for without end.
func openFile(file string) (*os.File, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file: name one", file)
	}
	return os.Open(file)
}

func foundFailure(file string, err error) error {
	var failure *redact.Failure
	if errors.As(err, &failure) {
		return Found("%s: %w", file, err)
	}
	return fmt.Errorf("%s: %w", file, err)
}
