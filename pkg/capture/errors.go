package capture

import (
	"fmt"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/shape"
)

// VersionError says that an executable is not the release that was asked for.
type VersionError struct {
	Asked contract.CLIVersion
	// Got is the version token that it reported; empty when its output has none.
	Got contract.CLIVersion
}

func (e *VersionError) Error() string {
	if e.Got == "" {
		return fmt.Sprintf("the executable reports no version that matches the agent's pattern; asked for %s: check that it is the right program, or correct version_probe in the agent's file", e.Asked)
	}
	return fmt.Sprintf("the executable reports version %s, asked for %s: name the version that it has; where the release itself prints another one than its own, say so in version_probe.reports of the agent's file", e.Got, e.Asked)
}

// ExpectationError says that a run did not show what its probe must see. Such a run is no observation.
type ExpectationError struct {
	Probe   contract.ProbeID
	Missing []contract.EventName
	// Seen lists the events that came, sorted; Exit is how the process ended, Ends how it may end where the probe says so.
	Seen []contract.EventName
	Exit contract.ExitClass
	Ends []contract.ExitClass
}

func (e *ExpectationError) Error() string {
	if len(e.Missing) == 0 {
		return fmt.Sprintf("probe %s: the run ended with %s, and only %s will do (seen: %s): the CLI broke, or the probe does not do to it what it should", e.Probe, e.Exit, join(e.Ends), join(e.Seen))
	}
	return fmt.Sprintf("probe %s: the run lacks %s (seen: %s; exit: %s): the CLI broke, or the dialect does not read its events",
		e.Probe, join(e.Missing), join(e.Seen), e.Exit)
}

func join[T ~string](names []T) string {
	if len(names) == 0 {
		return "nothing"
	}
	var out []string
	for _, n := range names {
		out = append(out, string(n))
	}
	return strings.Join(out, ", ")
}

// NoRequestError says that a CLI never asked the model server, so that its output is about something else.
type NoRequestError struct {
	Probe contract.ProbeID
	Exit  contract.ExitClass
	// Stderr says whether the CLI wrote anything on standard error, and Script whether it is a script.
	Stderr, Script bool
}

func (e *NoRequestError) Error() string {
	stderr, script := "nothing", ""
	if e.Stderr {
		stderr = "text"
	}
	if e.Script {
		script = ". A script is started by its own path, not by a link of npm's: one that looks for its name may do nothing"
	}
	return fmt.Sprintf("probe %s: the CLI made no model request although the script expects one (exit: %s; standard error: %s): check the home files and environment that point it at the model server; --raw DIR keeps what it printed%s", e.Probe, e.Exit, stderr, script)
}

// NoImageError says that the model never got the image of a probe.
type NoImageError struct {
	Probe    contract.ProbeID
	Mode     contract.ModeID
	Requests int
}

func (e *NoImageError) Error() string {
	return fmt.Sprintf("probe %s: none of the %d model requests has the image: correct images of mode %s, or say link_only where the CLI is only told of it", e.Probe, e.Requests, e.Mode)
}

// NoFlagsError says that no help page of a CLI has a flag that can be read.
type NoFlagsError struct{ Agent contract.AgentID }

func (e *NoFlagsError) Error() string {
	return fmt.Sprintf("no help page of %s declares a flag in a form that is known: correct help in registry/agents/%s.json, or teach pkg/capture/helppage the form", e.Agent, e.Agent)
}

// NoModelsError says that a CLI's listing has no id of a model where the agent's file looks for it.
type NoModelsError struct {
	Agent contract.AgentID
	Exit  contract.ExitClass
}

func (e *NoModelsError) Error() string {
	return fmt.Sprintf("the listing of %s has no id of a model (exit: %s): correct models in registry/agents/%s.json, or the home files and environment that name models", e.Agent, e.Exit, e.Agent)
}

// ToolError says that the CLI offered none of the tools that the mode lists for a script's intent.
type ToolError struct {
	Probe   contract.ProbeID
	Intent  string
	Offered []string
}

func (e *ToolError) Error() string {
	return fmt.Sprintf("probe %s: the CLI offered no tool for intent %s (offered: %s): add one to the mode's tools", e.Probe, e.Intent, strings.Join(e.Offered, ", "))
}

// OutputError says that a CLI printed more than a capture takes.
type OutputError struct{ Limit int64 }

func (e *OutputError) Error() string {
	return fmt.Sprintf("the CLI printed more than %d bytes and was stopped: nothing was recorded", e.Limit)
}

// SizeError says that a run would make a file that no tree takes.
type SizeError struct {
	What        string
	Size, Limit int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("the %s has %d bytes, and a file of the registry has at most %d: the CLI printed too much; nothing was recorded", e.What, e.Size, e.Limit)
}

// UnstableError says that repeated runs gave different shapes.
type UnstableError struct {
	Shapes []contract.Shape
	Counts []int
}

func (e *UnstableError) add(s contract.Shape) {
	for i := range e.Shapes {
		if e.Shapes[i].Signature == s.Signature {
			e.Counts[i]++
			return
		}
	}
	e.Shapes, e.Counts = append(e.Shapes, s), append(e.Counts, 1)
}

// maxDifferences bounds the differences that an UnstableError lists.
const maxDifferences = 20

// Error names the shapes and lists how each differs from the first.
func (e *UnstableError) Error() string {
	var out strings.Builder
	fmt.Fprintf(&out, "repeated runs gave %d shapes:", len(e.Shapes))
	for i, s := range e.Shapes {
		fmt.Fprintf(&out, " %s (%d runs)", s.Signature, e.Counts[i])
	}
	listed, all := 0, 0
	for _, s := range e.Shapes[min(1, len(e.Shapes)):] {
		changes := shape.Diff(e.Shapes[0], s)
		all += len(changes)
		if len(changes) == 0 || listed == maxDifferences {
			continue
		}
		fmt.Fprintf(&out, "\n  %s against the first:", s.Signature)
		for _, c := range changes[:min(len(changes), maxDifferences-listed)] {
			fmt.Fprintf(&out, "\n    %s", c)
			listed++
		}
	}
	if all > listed {
		fmt.Fprintf(&out, "\n  and %d more differences", all-listed)
	}
	return out.String()
}
