package contract

import "strings"

// Family is a wire protocol family.
type Family string

// The seven families of the registry. The list is closed.
const (
	FamilyPlain     Family = "plain/v1"
	FamilyClaude    Family = "claude-stream-json/v1"
	FamilyJSONEvent Family = "json-event-stream/v1"
	FamilyQoder     Family = "qoder-stream-json/v1"
	FamilyCopilot   Family = "copilot-stream-json/v1"
	FamilyACP       Family = "acp-json-rpc/v1"
	FamilyPiRPC     Family = "pi-rpc/v1"
)

// Values lists the enum in the order of the specification.
func (Family) Values() []string {
	return []string{"plain/v1", "claude-stream-json/v1", "json-event-stream/v1", "qoder-stream-json/v1", "copilot-stream-json/v1", "acp-json-rpc/v1", "pi-rpc/v1"}
}

// Dir is the family as paths write it: without "/v1"; a later version N is "<name>-vN".
func (f Family) Dir() string {
	name, version, _ := strings.Cut(string(f), "/")
	if version == "v1" {
		return name
	}
	return name + "-" + version
}

// IsRPC reports whether both sides speak frames, so that a transcript holds the client's as well.
func (f Family) IsRPC() bool { return f == FamilyACP || f == FamilyPiRPC }

// FixtureSuffix is what follows "sha256-<hex>" in the name of the family's fixtures.
func (f Family) FixtureSuffix() string {
	if f.IsRPC() {
		return ".transcript.jsonl"
	}
	return ".sanitized.jsonl"
}

// Transports lists the framings that a family may have.
func (f Family) Transports() []Transport {
	switch f {
	case FamilyPlain:
		return []Transport{TransportPlain}
	case FamilyACP:
		return []Transport{TransportJSONRPC}
	case FamilyPiRPC:
		return []Transport{TransportPiRPC}
	}
	return []Transport{TransportJSONL, TransportJSON}
}

// Transport is the framing of a stream.
type Transport string

// The framings.
const (
	TransportPlain   Transport = "plain"
	TransportJSONL   Transport = "jsonl"
	TransportJSON    Transport = "json"
	TransportJSONRPC Transport = "json-rpc"
	TransportPiRPC   Transport = "pi-rpc"
)

// Values lists the enum.
func (Transport) Values() []string { return []string{"plain", "jsonl", "json", "json-rpc", "pi-rpc"} }

// ValidityLevel says how a shape is known.
type ValidityLevel string

// The levels. Rank orders them.
const (
	RuntimeObserved    ValidityLevel = "runtime_observed"
	Confirmed          ValidityLevel = "confirmed"
	CommunityConfirmed ValidityLevel = "community_confirmed"
	ServerVariant      ValidityLevel = "server_variant"
	SourceDerived      ValidityLevel = "source_derived"
	VendorDocumented   ValidityLevel = "vendor_documented"
	SyntheticMock      ValidityLevel = "synthetic_mock"
)

// Values lists the enum in the order of the specification.
func (ValidityLevel) Values() []string {
	return []string{"runtime_observed", "confirmed", "community_confirmed", "server_variant", "source_derived", "vendor_documented", "synthetic_mock"}
}

// Rank orders levels from weakest (1) to strongest (7); an unknown level is 0.
func (l ValidityLevel) Rank() int {
	switch l {
	case CommunityConfirmed:
		return 7
	case Confirmed:
		return 6
	case RuntimeObserved:
		return 5
	case ServerVariant:
		return 4
	case SourceDerived:
		return 3
	case VendorDocumented:
		return 2
	case SyntheticMock:
		return 1
	}
	return 0
}

// BacksClaim reports whether the level may back a normal supported-version claim.
func (l ValidityLevel) BacksClaim() bool { return l.Rank() >= RuntimeObserved.Rank() }

// ObservedLevel is a ValidityLevel that an observation may carry.
type ObservedLevel string

// Values lists the enum.
func (ObservedLevel) Values() []string {
	return []string{"runtime_observed", "confirmed", "community_confirmed", "server_variant"}
}

// EvidenceLevel is a ValidityLevel that source evidence may carry.
type EvidenceLevel string

// Values lists the enum.
func (EvidenceLevel) Values() []string {
	return []string{"source_derived", "vendor_documented", "synthetic_mock"}
}

// Platform is an operating system and architecture in Node's names.
type Platform string

// PlatformUnknown is storable but never part of a claim.
const PlatformUnknown Platform = "unknown"

// Values lists the enum.
func (Platform) Values() []string {
	return []string{"darwin-arm64", "darwin-x64", "linux-x64", "linux-arm64", "win32-x64", "unknown"}
}

// PlatformOf maps Go's names (runtime.GOOS, runtime.GOARCH) to a Platform.
func PlatformOf(goos, goarch string) Platform {
	switch goos + "/" + goarch {
	case "darwin/arm64":
		return "darwin-arm64"
	case "darwin/amd64":
		return "darwin-x64"
	case "linux/amd64":
		return "linux-x64"
	case "linux/arm64":
		return "linux-arm64"
	case "windows/amd64":
		return "win32-x64"
	}
	return PlatformUnknown
}

// StdinMode says how the prompt reaches the CLI and when its standard input closes.
type StdinMode string

// The stdin modes.
const (
	// StdinNone gives the CLI an empty standard input.
	StdinNone StdinMode = "none"
	// StdinTextPrompt writes the prompt and closes.
	StdinTextPrompt StdinMode = "text-prompt"
	// StdinJSONLOpen writes JSON lines and closes when the turn ends.
	StdinJSONLOpen StdinMode = "jsonl-open"
	// StdinPromptFile passes the prompt's path in argv; standard input is empty.
	StdinPromptFile StdinMode = "prompt-file"
	// StdinRPC speaks frames in both directions.
	StdinRPC StdinMode = "rpc"
)

// Values lists the enum.
func (StdinMode) Values() []string {
	return []string{"none", "text-prompt", "jsonl-open", "prompt-file", "rpc"}
}

// ArtifactVisibility says what became of the raw bundle.
type ArtifactVisibility string

// The visibilities.
const (
	RawPrivate   ArtifactVisibility = "private"
	RawPublic    ArtifactVisibility = "public"
	RawDiscarded ArtifactVisibility = "discarded_after_redaction"
)

// Values lists the enum.
func (ArtifactVisibility) Values() []string {
	return []string{"private", "public", "discarded_after_redaction"}
}

// Backend says what answered the CLI's model requests.
type Backend string

// The backends.
const (
	// BackendScripted is the scripted model server on loopback.
	BackendScripted Backend = "scripted"
	// BackendLive is the vendor's own service.
	BackendLive Backend = "live"
)

// Values lists the enum.
func (Backend) Values() []string { return []string{"live", "scripted"} }

// Route says who started the CLI.
type Route string

// The routes.
const (
	// RouteDriven is a run that this tool started and isolated.
	RouteDriven Route = "driven"
	// RouteRecorded is a run of a host that had put the recorder in the CLI's place.
	RouteRecorded Route = "recorded"
)

// Values lists the enum.
func (Route) Values() []string { return []string{"driven", "recorded"} }

// RedactionStatus is the outcome of redaction. Only "passed" may be committed or published.
type RedactionStatus string

// RedactionPassed is the only status that a committed observation may have.
const RedactionPassed RedactionStatus = "passed"

// Values lists the enum.
func (RedactionStatus) Values() []string {
	return []string{"passed", "failed", "manual_review_required"}
}

// ReplayStatus is what a consumer's parser made of the fixture.
type ReplayStatus string

// ReplayNotRun is the default.
const ReplayNotRun ReplayStatus = "not_run"

// Values lists the enum.
func (ReplayStatus) Values() []string { return []string{"compatible", "incompatible", "not_run"} }

// JSONType is the kind of a value in a shape.
type JSONType string

// Values lists the enum.
func (JSONType) Values() []string {
	return []string{"string", "number", "boolean", "null", "object", "array", "unknown"}
}

// StderrClass says what a CLI's standard error was about.
type StderrClass string

// The classes that code names; the rest come from diagnostics templates.
const (
	StderrNone    StderrClass = "none"
	StderrUnknown StderrClass = "unknown"
)

// Values lists the enum, in rising order of weight when several classes occur in one run.
func (StderrClass) Values() []string {
	return []string{"none", "diagnostic", "auth", "quota", "upstream", "protocol", "debug", "unknown"}
}

// ExitClass is how a process ended.
type ExitClass string

// The exit classes.
const (
	ExitSuccess ExitClass = "success"
	ExitNonzero ExitClass = "nonzero"
	ExitSignal  ExitClass = "signal"
	ExitTimeout ExitClass = "timeout"
	ExitUnknown ExitClass = "unknown"
)

// Values lists the enum.
func (ExitClass) Values() []string {
	return []string{"success", "nonzero", "signal", "timeout", "unknown"}
}

// FrameDirection is the side that sent a frame; "process" is the process itself.
type FrameDirection string

// The directions.
const (
	ServerToCLI FrameDirection = "server->cli"
	CLIToServer FrameDirection = "cli->server"
	FromProcess FrameDirection = "process"
)

// Values lists the enum.
func (FrameDirection) Values() []string { return []string{"server->cli", "cli->server", "process"} }

// StreamName is a standard stream; "none" belongs to process frames of a shape.
type StreamName string

// The streams.
const (
	Stdin      StreamName = "stdin"
	Stdout     StreamName = "stdout"
	Stderr     StreamName = "stderr"
	StreamNone StreamName = "none"
)

// Values lists the enum of transcript lines.
func (StreamName) Values() []string { return []string{"stdin", "stdout", "stderr"} }

// FrameStream is a StreamName that a frame of a shape may have: standard error feeds stderr_class instead.
type FrameStream string

// Values lists the enum.
func (FrameStream) Values() []string { return []string{"stdin", "stdout", "none"} }

// ProcessEvent is an event of the child process.
type ProcessEvent string

// The process events.
const (
	EventSpawn   ProcessEvent = "spawn"
	EventExit    ProcessEvent = "exit"
	EventTimeout ProcessEvent = "timeout"
	EventKill    ProcessEvent = "kill"
)

// Values lists the enum.
func (ProcessEvent) Values() []string { return []string{"spawn", "exit", "timeout", "kill"} }

// SupportStatus is the status of a matrix entry and of an installed CLI.
type SupportStatus string

// The nine statuses.
const (
	LocalShapeVerified    SupportStatus = "local_shape_verified"
	VersionRangeVerified  SupportStatus = "version_range_verified"
	ServerVariantPossible SupportStatus = "server_variant_possible"
	NewerThanVerified     SupportStatus = "newer_than_verified"
	TooOld                SupportStatus = "too_old"
	KnownBreaking         SupportStatus = "known_breaking"
	KnownBreakingShape    SupportStatus = "known_breaking_shape"
	ActiveShapeUnknown    SupportStatus = "active_shape_unknown"
	StatusUnknown         SupportStatus = "unknown"
)

// Values lists the enum.
func (SupportStatus) Values() []string {
	return []string{"local_shape_verified", "version_range_verified", "server_variant_possible", "newer_than_verified", "too_old", "known_breaking", "known_breaking_shape", "active_shape_unknown", "unknown"}
}

// DefaultAllowRun is the policy that a status has when an entry names none.
func (s SupportStatus) DefaultAllowRun() AllowRun {
	switch s {
	case TooOld, KnownBreaking, KnownBreakingShape:
		return "block"
	}
	return "warn"
}

// AllowRun is what a host should do with an installed CLI.
type AllowRun string

// Values lists the enum.
func (AllowRun) Values() []string { return []string{"allow", "warn", "block"} }

// VariantStatus is the status of a server variant.
type VariantStatus string

// Values lists the enum.
func (VariantStatus) Values() []string {
	return []string{"compatible", "compatible_pending_fixture", "breaking"}
}

// EventName is a neutral reference event: what every family's frames mean to a host.
type EventName string

// Values lists the enum.
func (EventName) Values() []string {
	return []string{"session_started", "init_or_status", "assistant_text", "thinking", "tool_use", "tool_result", "usage", "approval_request", "warning", "error", "done", "raw", "version_reported", "models_listed"}
}

// FindingName is something that a probe forbids in a sanitized transcript.
type FindingName string

// Values lists the enum.
func (FindingName) Values() []string {
	return []string{"raw_secret", "local_home_path", "email", "signed_url", "account_id"}
}
