package contract

import "slices"

// Hole is a probe that cannot be observed in some releases, where nothing else in the record says why.
type Hole struct {
	Probe    ProbeID `json:"probe"`
	Releases string  `json:"releases,omitempty"`
	Mode     ModeID  `json:"mode,omitempty" jsonschema:"description=The only mode that has the hole; all have it where this is left out"`
	Reason   string  `json:"reason" jsonschema:"minLength=10,maxLength=300"`
}

// Covers reports whether the hole is one of this probe and release, whatever the mode.
func (h Hole) Covers(p ProbeID, v CLIVersion) bool {
	in, err := MatchReleases(h.Releases, string(v))
	return h.Probe == p && err == nil && in
}

// Denies reports whether the hole says that there is no such observation.
func (h Hole) Denies(p ProbeID, v CLIVersion, m ModeID) bool {
	return h.Covers(p, v) && (h.Mode == "" || h.Mode == m)
}

// HolesOf are the holes that say that there is no such observation.
func (a Agent) HolesOf(p ProbeID, v CLIVersion, m ModeID) []Hole {
	return slices.DeleteFunc(slices.Clone(a.Holes), func(h Hole) bool { return !h.Denies(p, v, m) })
}

// Hole finds the hole that a probe has in a release, in whatever mode.
func (a Agent) Hole(p ProbeID, v CLIVersion) (Hole, bool) {
	for _, h := range a.Holes {
		if h.Mode == "" && h.Covers(p, v) {
			return h, true
		}
	}
	return Hole{}, false
}
