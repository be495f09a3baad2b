package redact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
)

// Version is the semantic version of the redaction rules. A rule that changes what survives raises it.
const Version = "0.1.0"

// Policy says what may survive in one transcript.
type Policy struct {
	Family    contract.Family
	Transport contract.Transport
	// Dialect reads the frames; nil for plain families.
	Dialect *protocol.Dialect
	// Literals are the probe's own published texts: prompt, scripted replies and errors, names and contents of its files.
	Literals []string
	// Vocabulary holds tool names and model ids that are public: the script's, the agent record's, the CLI's offer.
	Vocabulary []string
	// Templates recognise messages.
	Templates *Templates
	// Cwd and Home are spellings of the run's own folders; they become <cwd> and <home>. Empty when a file is read back.
	Cwd, Home []string
	// Scanner is the second gate. It is required.
	Scanner *scan.Scanner
}

// Format keeps a policy out of logs: it holds the run's folders and, in its scanner, what must not be published.
func (p Policy) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "redact.Policy(%s, %s)", p.Family, p.Transport)
}

// Failure says which rule stopped a redaction and where. It never carries the value.
type Failure struct {
	// Rule is an id such as structure/undeclared-map or scan/canary.
	Rule string `json:"rule"`
	// Entry is the number of the transcript entry, counted from 1. Zero means that the value was found elsewhere: in what the
	// run told the model server, or in File.
	Entry int `json:"entry"`
	// File is the record, relative to the public tree, that would have held the value.
	File string `json:"file,omitempty"`
	// Path is the JSON path inside the frame where one is known.
	Path string `json:"path,omitempty"`
	// Remedy says what a maintainer can do.
	Remedy string `json:"remedy"`
}

func (f *Failure) Error() string {
	var where []string
	if f.Entry > 0 {
		where = append(where, fmt.Sprintf("entry %d", f.Entry))
	}
	if f.File != "" {
		where = append(where, f.File)
	}
	if f.Path != "" {
		where = append(where, "at "+f.Path)
	}
	return fmt.Sprintf("redaction failed: %s: %s; %s", f.Rule, strings.Join(where, " "), f.Remedy)
}

// textsOf gives the texts of a JSON value. Where one is a path below the workspace, its name there is one too.
func textsOf(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{strings.TrimPrefix(v, "{cwd}/")}
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, textsOf(e)...)
		}
		return out
	case map[string]any:
		var out []string
		for _, e := range v {
			out = append(out, textsOf(e)...)
		}
		return out
	}
	return nil
}

// LiteralsOf collects the published texts of a probe.
func LiteralsOf(p contract.Probe) []string {
	var out []string
	add := func(texts ...string) {
		for _, t := range texts {
			if t != "" {
				out = append(out, t)
				if trimmed := strings.TrimSpace(t); trimmed != t {
					out = append(out, trimmed)
				}
			}
		}
	}
	if p.Conditions().PromptRepeat == 0 { // a prompt of that size has no place in a fixture
		add(p.Prompt)
	}
	add(p.Conditions().ExtraArgv...)
	for name, content := range p.Files {
		add(name, content)
	}
	if p.Host != nil {
		for _, image := range p.Host.Images {
			add(image.Name, image.Base64, "data:"+image.MIMEType+";base64,"+image.Base64, image.MIMEType)
		}
		for _, s := range p.Host.MCPServers {
			add(s.Name, s.Command)
			add(s.Args...)
			for name, value := range s.Env {
				add(name, value)
			}
		}
	}
	if p.Host != nil && p.Host.Script != nil {
		add(protocol.NoSession)
		for _, r := range p.Host.Script.Requests {
			add(textsOf(r.Params)...)
		}
	}
	if p.Script != nil {
		for _, step := range p.Script.Steps {
			add(strings.Join(step.Text, ""))
			if step.Error != nil {
				add(step.Error.Message)
			}
			if step.Drop != nil {
				add(strings.Join(step.Drop.Text, ""))
			}
			if step.Stall != nil {
				add(strings.Join(step.Stall.Text, ""))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
