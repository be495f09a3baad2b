package contract

import "strings"

// Kind says what a file of the registry holds.
type Kind string

// The kinds. Each is the name of its schema, or of a part of the schema of probes.
const (
	KindObservation    Kind = "observation"
	KindEvidence       Kind = "evidence"
	KindSourceEvidence Kind = "source-evidence"
	KindTranscript     Kind = "transcript"
	KindShape          Kind = "shape"
	KindSupportMatrix  Kind = "support-matrix"
	KindErrorCase      Kind = "error-case"
	KindAgent          Kind = "agent"
	KindAgentsIndex    Kind = "agents-index"
	KindReleases       Kind = "releases"
	KindDiagnostics    Kind = "diagnostics"
	KindClient         Kind = "client"
	KindProbe          Kind = "probe"
	KindMinEvents      Kind = "expected-min-events"
	KindEnvPolicy      Kind = "env-policy"
	KindScript         Kind = "script"
	KindHostPolicy     Kind = "host"
)

// Values lists the enum.
func (Kind) Values() []string {
	return []string{
		"observation", "evidence", "source-evidence", "transcript", "shape", "support-matrix", "error-case",
		"agent", "agents-index", "releases", "diagnostics", "client", "probe", "expected-min-events", "env-policy", "script", "host",
	}
}

// IsProbePart reports whether files of the kind are parts of a probe, described in its schema.
func (k Kind) IsProbePart() bool {
	file, definition := k.schema()
	return file == string(KindProbe) && definition != ""
}

// schema names the file and the definition that the kind is validated by; an empty definition is the root.
func (k Kind) schema() (file, definition string) {
	switch k {
	case KindMinEvents:
		return "probe", "MinEvents"
	case KindEnvPolicy:
		return "probe", "EnvPolicy"
	case KindScript:
		return "probe", "Script"
	case KindHostPolicy:
		return "probe", "HostPolicy"
	}
	return string(k), ""
}

// KindOfPath says what a path relative to the registry's root holds, or one relative to its parent that begins with
// "probes/". It is false for what has no schema.
func KindOfPath(rel string) (Kind, bool) {
	dir, name, inDir := strings.Cut(rel, "/")
	last := rel[strings.LastIndexByte(rel, '/')+1:]
	switch {
	case rel == "agents.json":
		return KindAgentsIndex, true
	case rel == "support-matrix.json":
		return KindSupportMatrix, true
	case !inDir:
		return "", false
	}
	switch dir {
	case "agents":
		return KindAgent, !strings.Contains(name, "/") && strings.HasSuffix(name, ".json")
	case "releases":
		return KindReleases, !strings.Contains(name, "/") && strings.HasSuffix(name, ".json")
	case "diagnostics":
		return KindDiagnostics, !strings.Contains(name, "/") && strings.HasSuffix(name, ".json")
	case "clients":
		return KindClient, !strings.Contains(name, "/") && strings.HasSuffix(name, ".json")
	case "shapes":
		return KindShape, strings.HasSuffix(name, ".shape.json")
	case "fixtures":
		return KindTranscript, strings.HasSuffix(name, ".sanitized.jsonl") || strings.HasSuffix(name, ".transcript.jsonl")
	case "source-evidence":
		return KindSourceEvidence, strings.HasSuffix(name, ".json")
	case "error-cases":
		return KindErrorCase, strings.HasSuffix(name, ".error-case.json")
	case "observations":
		if strings.HasSuffix(name, ".evidence.json") {
			return KindEvidence, true
		}
		return KindObservation, strings.HasSuffix(name, ".observation.json")
	case "probes":
		switch last {
		case "expected-min-events.json":
			return KindMinEvents, true
		case "env-policy.json":
			return KindEnvPolicy, true
		case "script.json":
			return KindScript, true
		case "host.json":
			return KindHostPolicy, true
		}
	}
	return "", false
}

// FamilyOfDir reads a family as paths write it; see Family.Dir.
func FamilyOfDir(dir string) (Family, bool) {
	for _, family := range Family("").Values() {
		if Family(family).Dir() == dir {
			return Family(family), true
		}
	}
	return "", false
}

// familyOfPath is the family that the folder of a fixture names; empty where none does.
func familyOfPath(file string) Family {
	parts := strings.Split(strings.ReplaceAll(file, `\`, "/"), "/")
	if len(parts) < 2 {
		return ""
	}
	family, _ := FamilyOfDir(parts[len(parts)-2])
	return family
}
