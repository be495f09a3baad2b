package replay

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// Fixture is the sanitized transcript of a shape, with the run that it came from. Close it.
type Fixture struct {
	*redact.Sanitized
	Path    contract.RelPath
	Shape   contract.Hash
	Agent   contract.AgentID
	Version contract.CLIVersion
	Probe   contract.ProbeID
	Mode    registry.Mode
	// File is the SHA-256 of the file as it lies in the tree.
	File contract.Hash
}

// UnreadableError reports a fixture that does not pass the redaction gate.
type UnreadableError struct {
	Path contract.RelPath
	Err  error
}

func (e *UnreadableError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }
func (e *UnreadableError) Unwrap() error { return e.Err }

// origin is a run that may have made a fixture: it decides what may survive in it.
type origin struct {
	agent   contract.Agent
	version contract.CLIVersion
	mode    contract.ModeID
	probes  []contract.Probe
	tools   []string
}

// Fixture reads the fixture of a shape through redact.Read. What may survive in it follows from the run that made it:
// the observation whose own transcript it is, else any run of the same shape. The error is an *UnreadableError when
// the gate stops it.
func (l *Library) Fixture(family contract.Family, signature contract.Hash) (*Fixture, error) {
	path := registry.FixturePath(family, signature)
	data, err := l.Tree.Read(path)
	if err != nil {
		return nil, fmt.Errorf("reading the fixture of a shape: %w", err)
	}
	hash := contract.HashBytes(data)
	origins, err := l.origins(family, signature, hash)
	if err != nil {
		return nil, &UnreadableError{path, err}
	}
	var first error
	for _, o := range origins {
		f, err := l.read(data, family, o)
		if err == nil {
			f.Path, f.Shape, f.File = path, signature, hash
			return f, nil
		}
		first = cmp.Or(first, err)
	}
	return nil, &UnreadableError{path, first}
}

func (l *Library) read(data []byte, family contract.Family, o origin) (*Fixture, error) {
	mode, err := registry.ResolveMode(o.agent, o.mode, o.version)
	if err != nil {
		return nil, err
	}
	if mode.Family != family {
		return nil, fmt.Errorf("mode %s of %s is %s, not %s: correct the agent record or the observation", mode.ID, o.agent.ID, mode.Family, family)
	}
	policy, err := l.Catalog.Policy(o.agent, mode, o.version, o.probes...)
	if err != nil {
		return nil, err
	}
	policy.Vocabulary = append(policy.Vocabulary, o.tools...)
	policy.Scanner = l.Scanner
	s, err := redact.Read(bytes.NewReader(data), policy, l.Temp)
	if err != nil {
		return nil, err
	}
	// The file must be what the transcript says and nothing else: no second spelling, no text beside the entries.
	if s.Hash() != contract.HashBytes(data) {
		return nil, errors.Join(errors.New("the file is not spelled as redaction writes it: write it again"), s.Close())
	}
	f := &Fixture{Sanitized: s, Agent: o.agent.ID, Version: o.version, Mode: mode}
	if len(o.probes) == 1 {
		f.Probe = o.probes[0].ID
	}
	return f, nil
}

// origins lists the runs that may have made a fixture. When one of them says by its hash that it did, it is the only one.
func (l *Library) origins(family contract.Family, signature, hash contract.Hash) ([]origin, error) {
	var out []origin
	var problems []error
	type key struct {
		agent   contract.AgentID
		version contract.CLIVersion
		mode    contract.ModeID
		probe   contract.ProbeID
	}
	seen := map[key]bool{}
	for _, r := range l.byShape[signature] {
		o, err := l.originOf(r.Observation)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", r.Path, err))
			continue
		}
		if r.Evidence != nil && r.Evidence.SanitizedSHA256 == hash {
			return []origin{o}, nil
		}
		k := key{o.agent.ID, o.version, o.mode, r.Observation.Probe}
		if !seen[k] {
			seen[k] = true
			out = append(out, o)
		}
	}
	for _, s := range l.Records.Sources {
		if agent, ok := l.Catalog.Agents[s.Evidence.Agent]; ok && s.Shape == signature {
			out = append(out, l.synthetic(agent, family, s.Evidence.CLIVersion)...)
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case len(problems) > 0:
		return nil, errors.Join(problems...)
	}
	return nil, errors.New("no observation and no source evidence names its shape: record where it came from, or remove it")
}

func (l *Library) originOf(o contract.Observation) (origin, error) {
	agent, err := l.Catalog.Agent(string(o.Agent))
	if err != nil {
		return origin{}, err
	}
	probe, err := l.Catalog.Probe(string(o.Probe))
	if err != nil {
		return origin{}, err
	}
	out := origin{agent: agent, version: o.CLIVersion, mode: registry.ObservedMode(l.Catalog, o), probes: []contract.Probe{probe}}
	if o.Shape.Vocabulary != nil {
		out.tools = o.Shape.Vocabulary.Tools
	}
	return out, nil
}

// synthetic lists the modes that a hand-made fixture may follow: source evidence names the agent, not the run.
func (l *Library) synthetic(agent contract.Agent, family contract.Family, version contract.CLIVersion) []origin {
	var probes []contract.Probe
	for _, p := range l.Catalog.Probes {
		probes = append(probes, p)
	}
	slices.SortFunc(probes, func(a, b contract.Probe) int { return cmp.Compare(a.ID, b.ID) })
	var out []origin
	for _, m := range agent.Modes {
		if m.Family == family {
			out = append(out, origin{agent: agent, version: version, mode: m.ID, probes: probes})
		}
	}
	return out
}

// WriteStdout writes what the recorded CLI printed on standard output, byte for byte; a frame of an RPC family is one line.
func (f *Fixture) WriteStdout(w io.Writer) error { return f.writeStream(w, contract.Stdout) }

func (f *Fixture) writeStream(w io.Writer, stream contract.StreamName) error {
	return f.Each(func(e transcript.Entry) error {
		if e.Dir != contract.CLIToServer || e.Stream != stream {
			return nil
		}
		if e.Frame != nil {
			return write(w, append(bytes.Clone(e.Frame), '\n'))
		}
		return write(w, e.Data)
	})
}

// end is how the recorded process ended: the event, and the exit code where it has one.
func (f *Fixture) end() (event contract.ProcessEvent, code string, err error) {
	err = f.Each(func(e transcript.Entry) error {
		if e.Event != "" && e.Event != contract.EventSpawn {
			event, code = e.Event, ""
			if e.ExitCode != nil {
				code = strconv.Itoa(*e.ExitCode)
			}
		}
		return nil
	})
	return event, code, err
}
