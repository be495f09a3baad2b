package registry

import (
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Judged is an observation with the reason why it backs no claim; an empty reason means that it backs one.
type Judged struct {
	*Record
	Reason string
}

// Reasons why an observation backs no claim.
const (
	reasonAgent     = "the registry has no such agent"
	reasonEvidence  = "its evidence record is missing"
	reasonWithdrawn = "it was withdrawn"
	reasonRedaction = "its redaction did not pass"
	reasonPlatform  = "nothing is claimed about an unknown platform"
	reasonReplay    = "the consumer's parser does not read it"
	reasonVariant   = "a server variant backs no claim on its own"
	reasonManual    = "the executable was given by hand, and no observation of the upstream's package has its hash"
	reasonNoRun     = "no completed turn of this release on this platform backs it"
)

// cell is what one claim is about.
type cell struct {
	agent    contract.AgentID
	version  contract.CLIVersion
	platform contract.Platform
}

func cellOf(o contract.Observation) cell { return cell{o.Agent, o.CLIVersion, o.Platform} }

// Judge says of every observation whether it backs a claim, in the order of Observations. The reported version, a
// help page or an error form say little to a host that wants to run the CLI, so they back a claim only together with
// a completed turn of the same release on the same platform.
func (r *Records) Judge(c *Catalog) []Judged {
	packages := r.packageHashes()
	carried := map[cell]bool{}
	judged := make([]Judged, len(r.Observations))
	for i, rec := range r.Observations {
		judged[i] = Judged{rec, reason(rec, c, packages)}
		if judged[i].Reason == "" && carries(c, rec.Observation) {
			carried[cellOf(rec.Observation)] = true
		}
	}
	for i := range judged {
		if judged[i].Reason == "" && !carried[cellOf(judged[i].Observation)] {
			judged[i].Reason = reasonNoRun
		}
	}
	return judged
}

type binary struct {
	agent   contract.AgentID
	version contract.CLIVersion
	hash    contract.Hash
}

// packageHashes are the executables that an upstream's own package held.
func (r *Records) packageHashes() map[binary]bool {
	hashes := map[binary]bool{}
	for _, rec := range r.Observations {
		o := rec.Observation
		if o.Install.Runtime != nil {
			continue // the hash of a script says nothing about the files that it loads
		}
		if o.Install.BinarySHA256 != nil && fromUpstream(o.Install.Source) && rec.Evidence != nil && !rec.Withdrawn() {
			hashes[binary{o.Agent, o.CLIVersion, *o.Install.BinarySHA256}] = true
		}
	}
	return hashes
}

// fromUpstream reports whether an executable is what the agent's upstream released; others are anybody's build.
func fromUpstream(source string) bool {
	scheme, _, _ := strings.Cut(source, ":")
	return slices.Contains([]string{"npm", "github", "brew", "vendor"}, scheme)
}

func reason(rec *Record, c *Catalog, packages map[binary]bool) string {
	o := rec.Observation
	_, known := c.Agents[o.Agent]
	switch {
	case !known:
		return reasonAgent
	case rec.Evidence == nil:
		return reasonEvidence
	case rec.Withdrawn():
		return reasonWithdrawn
	case o.Redaction.Status != contract.RedactionPassed:
		return reasonRedaction
	case o.Platform == contract.PlatformUnknown:
		return reasonPlatform
	case incompatible(o):
		return reasonReplay
	case !fromUpstream(o.Install.Source) && (o.Install.BinarySHA256 == nil || !packages[binary{o.Agent, o.CLIVersion, *o.Install.BinarySHA256}]):
		return reasonManual
	case !contract.ValidityLevel(o.ValidityLevel).BacksClaim():
		return reasonVariant
	}
	return ""
}

func incompatible(o contract.Observation) bool {
	return o.ParserReplay != nil && o.ParserReplay.Status == "incompatible"
}

// carries reports whether an observation shows a completed turn: its probe starts a mode and must see the end.
func carries(c *Catalog, o contract.Observation) bool {
	p, ok := c.Probes[o.Probe]
	return ok && !implicit(c, o) && p.Expected != nil && slices.Contains(p.Expected.MustSee, "done")
}

// implicit reports whether an observation is of a mode that no agent file declares under its modes.
func implicit(c *Catalog, o contract.Observation) bool {
	return ObservedMode(c, o).Implicit()
}

// ObservedMode is the mode that an observation was captured in. Records that name none were captured in the mode that
// the probe's kind says; empty is the agent's default mode.
func ObservedMode(c *Catalog, o contract.Observation) contract.ModeID {
	if o.Command.Mode != "" {
		return o.Command.Mode
	}
	return c.Probes[o.Probe].ImplicitMode()
}
