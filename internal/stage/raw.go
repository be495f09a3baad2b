package stage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/capture/rawbundle"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// openBundle decrypts an encrypted raw bundle with the private keys in a file.
func openBundle(bundle, identities string) (*rawbundle.Header, *transcript.Raw, error) {
	keys, err := rawbundle.Identities(identities)
	if err != nil {
		return nil, nil, err
	}
	f, err := openFile(bundle)
	if err != nil {
		return nil, nil, err
	}
	h, raw, err := rawbundle.Open(f, keys, os.TempDir())
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", bundle, err)
	}
	return h, raw, nil
}

// RawOpen decrypts a bundle into a file of mode 0600 for an audit. The file must not exist.
func RawOpen(bundle, identities, out string) (h *rawbundle.Header, err error) {
	h, raw, err := openBundle(bundle, identities)
	if err != nil {
		return nil, err
	}
	defer raw.Close() //nolint:errcheck // an unlinked spool
	f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("writing the raw transcript: %w", err)
	}
	if err := errors.Join(raw.WriteBundle(f), f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("writing the raw transcript: %w", err), os.Remove(out))
	}
	return h, nil
}

// RawCheck is what was proven about a bundle and an observation.
type RawCheck struct {
	Observation contract.RelPath `json:"observation"`
	// Raw, Sanitized and Run say whether the transcripts, before and after redaction, and the run are the observation's.
	Raw       bool `json:"raw"`
	Sanitized bool `json:"sanitized"`
	Run       bool `json:"run"`
}

// RawCheck proves that an observation of the checkout's registry came from a bundle: the hash of the decrypted transcript is the
// observation's, and redacting it once more gives the sanitized transcript that the evidence names. What does not agree is a
// *FoundError. Rules of redaction that have changed since are no answer.
func (s *Stage) RawCheck(bundle, identities, observation string) (*RawCheck, error) {
	o, e, err := s.pair(observation)
	if err != nil {
		return nil, err
	}
	h, raw, err := openBundle(bundle, identities)
	if err != nil {
		return nil, err
	}
	defer raw.Close() //nolint:errcheck // an unlinked spool
	check := &RawCheck{
		Observation: registry.ObservationPath(o),
		Raw:         raw.Hash() == o.Capture.RawClientTranscriptSHA256 && raw.Hash() == e.RawSHA256,
		Run:         h.Agent == o.Agent && h.Version == o.CLIVersion && h.Platform == o.Platform && h.Mode == o.Command.Mode && h.Probe == o.Probe,
	}
	if !check.Raw || !check.Run {
		return check, Found("the observation did not come from this bundle")
	}
	policy, dialect, err := s.bundlePolicy(h)
	if err != nil {
		return check, err
	}
	if e.Versions.Redaction != redact.Version || e.Versions.Dialect != dialect {
		return check, errors.New("redaction or dialect have changed since the capture: check out the commit of the observation and try again")
	}
	clean, err := redact.Redact(raw, policy, os.TempDir())
	if err != nil {
		return check, foundFailure(bundle, err)
	}
	check.Sanitized = clean.Hash() == e.SanitizedSHA256
	if err := clean.Close(); err != nil {
		return check, err
	}
	if !check.Sanitized {
		return check, Found("redacting the bundle again does not give the sanitized transcript of the observation")
	}
	return check, nil
}

// pair reads an observation, and the evidence beside it, by a path in the registry or on disk.
func (s *Stage) pair(observation string) (o contract.Observation, e contract.Evidence, err error) {
	const suffix, beside = ".observation.json", ".evidence.json"
	if !strings.HasSuffix(observation, suffix) {
		return o, e, fmt.Errorf("%s is no observation: name a file …%s", observation, suffix)
	}
	read := func(name string) ([]byte, error) {
		if s.Checkout.Tree.Has(contract.RelPath(name)) {
			return s.Checkout.Tree.Read(contract.RelPath(name))
		}
		return os.ReadFile(name)
	}
	evidence := strings.TrimSuffix(observation, suffix) + beside
	data, err := read(observation)
	if err != nil {
		return o, e, err
	}
	o, problems := contract.Decode[contract.Observation](contract.KindObservation, filepath.Base(observation), data)
	if len(problems) > 0 {
		return o, e, problems
	}
	if data, err = read(evidence); err != nil {
		return o, e, err
	}
	e, problems = contract.Decode[contract.Evidence](contract.KindEvidence, filepath.Base(evidence), data)
	if len(problems) > 0 {
		return o, e, problems
	}
	return o, e, nil
}

// bundlePolicy is the policy by which the run of a bundle was redacted, and the hash of its dialect.
func (s *Stage) bundlePolicy(h *rawbundle.Header) (redact.Policy, contract.Hash, error) {
	dialect := contract.HashBytes([]byte("{}")) // a plain mode has none
	agent, err := s.Checkout.Catalog.Agent(string(h.Agent))
	if err != nil {
		return redact.Policy{}, dialect, err
	}
	probe, err := s.Checkout.Catalog.Probe(string(h.Probe))
	if err != nil {
		return redact.Policy{}, dialect, err
	}
	mode, err := registry.ResolveMode(agent, h.Mode, h.Version)
	if err != nil {
		return redact.Policy{}, dialect, err
	}
	if mode.Dialect != nil {
		dialect = mode.Dialect.Hash
	}
	policy, err := s.Checkout.Catalog.Policy(agent, mode, h.Version, probe)
	if err != nil {
		return policy, dialect, err
	}
	policy.Cwd, policy.Home = []string{h.Cwd}, []string{h.Home}
	policy.Vocabulary = append(policy.Vocabulary, h.Offered...)
	policy.Scanner, err = scan.New(scan.Config{Known: s.known()})
	return policy, dialect, err
}
