package contract

// Observation records one run of a real CLI: what ran, under which conditions, and which shape it printed.
// It lives at observations/<agent>/<cli_version>/<platform>/<captured_at>.<probe>.observation.json.
type Observation struct {
	SchemaVersion  int           `json:"schema_version" jsonschema:"minimum=1,maximum=1"`
	Agent          AgentID       `json:"agent"`
	CLIVersion     CLIVersion    `json:"cli_version" jsonschema:"description=Version token that the CLI itself reported; never unknown"`
	Platform       Platform      `json:"platform"`
	Probe          ProbeID       `json:"probe"`
	ProtocolFamily Family        `json:"protocol_family"`
	ValidityLevel  ObservedLevel `json:"validity_level"`
	Install        Install       `json:"install"`
	Command        Command       `json:"command"`
	Capture        CaptureInfo   `json:"capture"`
	Redaction      RedactionInfo `json:"redaction"`
	Shape          ObservedShape `json:"shape"`
	ParserReplay   *ParserReplay `json:"parser_replay,omitempty" jsonschema:"description=What the consumer's own parser made of the fixture"`
	Extensions     Extensions    `json:"extensions,omitempty"`
}

// Extensions holds data of other parties under reverse-DNS keys (com.example.field).
type Extensions map[string]any

// KeyPattern is the regular expression of the keys.
func (Extensions) KeyPattern() string { return `^[a-z][a-z0-9-]*(\.[A-Za-z0-9][A-Za-z0-9_-]*)+$` }

// Install says where the executable came from.
type Install struct {
	Source       string          `json:"source" jsonschema:"pattern=^(npm:(@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*@[0-9A-Za-z.+_-]+|(github|brew|vendor|checkout|binary):[^\\s]{1\\,300}|manual)$,description=npm:<package>@<version>; github:; brew:; vendor:; checkout:; binary:; or manual for an executable given by hand"`
	BinarySHA256 *Hash           `json:"binary_sha256,omitempty" jsonschema:"description=SHA-256 of the executable or script that ran"`
	Resolved     *Resolved       `json:"resolved,omitempty"`
	Runtime      *RuntimeInstall `json:"runtime,omitempty" jsonschema:"description=What started the script; absent for a native executable"`
}

// Resolved is the exact package that an install resolved to.
type Resolved struct {
	Package         string `json:"package" jsonschema:"minLength=1,maxLength=300,description=Name and exact version"`
	Integrity       string `json:"integrity" jsonschema:"pattern=^sha(256|384|512)-[A-Za-z0-9+/=]+$,description=Subresource integrity that the package manager verified"`
	PlatformPackage string `json:"platform_package,omitempty" jsonschema:"maxLength=300,description=Package that held the executable; when it is another one"`
	TreeSHA256      *Hash  `json:"tree_sha256,omitempty" jsonschema:"description=Of a script: SHA-256 over the name\\, version and integrity of every package installed with it"`
}

// RuntimeInstall is the runtime that started a script.
type RuntimeInstall struct {
	Kind         string     `json:"kind" jsonschema:"enum=node"`
	Version      CLIVersion `json:"version"`
	Package      string     `json:"package" jsonschema:"minLength=1,maxLength=300,description=Name and exact version of the package that held it"`
	Integrity    string     `json:"integrity" jsonschema:"pattern=^sha(256|384|512)-[A-Za-z0-9+/=]+$"`
	BinarySHA256 Hash       `json:"binary_sha256"`
}

// Command says how the CLI was started.
type Command struct {
	ArgvTemplate []string  `json:"argv_template" jsonschema:"description=argv after the executable; paths and secrets as {placeholders}"`
	StdinMode    StdinMode `json:"stdin_mode"`
	Mode         ModeID    `json:"mode,omitempty" jsonschema:"description=Mode of the agent record"`
}

// CaptureInfo says when, where and by what a run was recorded.
type CaptureInfo struct {
	CapturedAt                Timestamp          `json:"captured_at"`
	Runner                    string             `json:"runner" jsonschema:"minLength=1,maxLength=200,description=Runner image or kind of machine; never a host name"`
	WorkflowRunURL            *HTTPSURL          `json:"workflow_run_url,omitempty"`
	RawStdoutSHA256           *Hash              `json:"raw_stdout_sha256,omitempty"`
	RawStderrSHA256           *Hash              `json:"raw_stderr_sha256,omitempty"`
	RawClientTranscriptSHA256 Hash               `json:"raw_client_transcript_sha256" jsonschema:"description=SHA-256 of the raw JSONL bundle in record order"`
	RawArtifactVisibility     ArtifactVisibility `json:"raw_artifact_visibility"`
	Backend                   Backend            `json:"backend,omitempty" jsonschema:"default=live,description=What answered the model requests"`
	Route                     Route              `json:"route,omitempty" jsonschema:"default=driven,description=Who started the CLI"`
	ToolVersion               ToolVersion        `json:"tool_version,omitempty"`
	NormalizerVersion         ToolVersion        `json:"normalizer_version,omitempty"`
}

// RedactionInfo says which redaction ran and how it ended.
type RedactionInfo struct {
	ToolVersion ToolVersion     `json:"tool_version"`
	Status      RedactionStatus `json:"status"`
}

// ObservedShape names the shape and keeps what belongs to this run but not to the shape's identity.
type ObservedShape struct {
	Signature  Hash        `json:"signature"`
	Path       RelPath     `json:"path" jsonschema:"pattern=^shapes/[a-z0-9-]+/sha256-[0-9a-f]{64}\\.shape\\.json$"`
	Vocabulary *Vocabulary `json:"vocabulary,omitempty"`
	Ambient    []string    `json:"ambient,omitempty" jsonschema:"uniqueItems=true,description=Ambient event types and paths that were seen"`
	Violations []string    `json:"violations,omitempty" jsonschema:"uniqueItems=true,description=Invariants of the dialect that the run broke"`
}

// Vocabulary is what the CLI calls things: sorted, unique.
type Vocabulary struct {
	Tools  []string `json:"tools,omitempty" jsonschema:"uniqueItems=true,description=Tool names that the CLI offered to the model"`
	Models []string `json:"models,omitempty" jsonschema:"uniqueItems=true,description=Model ids that the CLI asked for or\\, in the mode models\\, lists"`
	Keys   []string `json:"keys,omitempty" jsonschema:"uniqueItems=true,description=Keys seen under opaque paths"`
	// Capabilities are what an agent of an RPC family says that it can do.
	Capabilities []string `json:"capabilities,omitempty" jsonschema:"uniqueItems=true,description=Capabilities that the agent advertises: keys\\, joined by dots\\, of those that it does not deny"`
	// Help holds the flags of each help page, in the order of the agent's help commands.
	Help []HelpPage `json:"help,omitempty" jsonschema:"description=Flags of each help page of the CLI"`
}

// HelpPage is the table of flags that one help command prints.
type HelpPage struct {
	Command string `json:"command" jsonschema:"pattern=^([a-z0-9][a-z0-9-]*( [a-z0-9][a-z0-9-]*)*)?$,description=Sub-command; empty for the CLI itself"`
	// Unavailable is set where the command failed: the release has no such sub-command.
	Unavailable bool       `json:"unavailable,omitempty"`
	Flags       []HelpFlag `json:"flags"`
}

// HelpFlag is one flag as the help text declares it. Its description is not kept.
type HelpFlag struct {
	Flag       string   `json:"flag" jsonschema:"pattern=^--?(\\[no-\\])?[A-Za-z0-9?][A-Za-z0-9_-]{0\\,80}$"`
	Aliases    []string `json:"aliases,omitempty" jsonschema:"uniqueItems=true,description=Other spellings"`
	Value      string   `json:"value,omitempty" jsonschema:"pattern=^[<\\[][A-Za-z0-9][A-Za-z0-9_.:=|/-]{0\\,40}[>\\]](\\.\\.\\.)?$,description=Placeholder of the value: <needed> or [optional]; none for a switch"`
	Values     []string `json:"values,omitempty" jsonschema:"uniqueItems=true,description=Values that the text declares"`
	Default    string   `json:"default,omitempty" jsonschema:"maxLength=60,description=Declared default where it is a token; else <text>"`
	Deprecated bool     `json:"deprecated,omitempty"`
}

// ParserReplay is the result of a consumer's parser; it stays not_run where none ran.
type ParserReplay struct {
	OpenDesignCommit *Commit      `json:"open_design_commit,omitempty"`
	Status           ReplayStatus `json:"status,omitempty" jsonschema:"default=not_run"`
	Golden           *RelPath     `json:"golden,omitempty"`
}

// Evidence is the sidecar of an observation: what lets somebody audit it. It is append-only in promotions and withdrawn.
type Evidence struct {
	SchemaVersion    int          `json:"schema_version" jsonschema:"minimum=1,maximum=1"`
	SanitizedSHA256  Hash         `json:"sanitized_sha256" jsonschema:"description=This run's own sanitized transcript"`
	FixtureSHA256    Hash         `json:"fixture_sha256" jsonschema:"description=The published fixture of the shape; the first accepted run wins"`
	RawSHA256        Hash         `json:"raw_sha256" jsonschema:"description=Equals capture.raw_client_transcript_sha256 of the observation"`
	RetentionDays    int          `json:"retention_days" jsonschema:"minimum=0,maximum=3650,description=How long the raw bundle is kept; 0 when it was discarded"`
	WorkflowRunURL   *HTTPSURL    `json:"workflow_run_url,omitempty"`
	Runner           string       `json:"runner" jsonschema:"minLength=1,maxLength=200"`
	BinarySHA256     *Hash        `json:"binary_sha256,omitempty"`
	Versions         ToolVersions `json:"versions"`
	Isolation        Isolation    `json:"isolation"`
	ModelRequests    int          `json:"model_requests" jsonschema:"minimum=0,description=Requests that the CLI made to the model server"`
	ImageRequests    int          `json:"image_requests,omitempty" jsonschema:"minimum=0,description=Those that showed the model an image\\, where the script expects one"`
	RunCount         int          `json:"run_count" jsonschema:"minimum=1,description=Runs that gave this signature in this capture"`
	Attestation      *Attestation `json:"attestation,omitempty"`
	ReproductionURL  *HTTPSURL    `json:"reproduction_url,omitempty"`
	Promotions       []Promotion  `json:"promotions,omitempty"`
	Withdrawn        *Withdrawal  `json:"withdrawn,omitempty"`
	RedactionChecked bool         `json:"redaction_checked" jsonschema:"description=The sanitized transcript was read back and scanned before it was written"`
}

// ToolVersions are the versions of what made a record.
type ToolVersions struct {
	Tool       ToolVersion `json:"tool"`
	Normalizer ToolVersion `json:"normalizer"`
	Redaction  ToolVersion `json:"redaction"`
	Dialect    Hash        `json:"dialect" jsonschema:"description=SHA-256 of the canonical JSON of the dialect that read the frames"`
}

// Isolation says what the child could not reach.
type Isolation struct {
	Kind       string   `json:"kind" jsonschema:"enum=namespaces,enum=process-group,enum=none"`
	Namespaces []string `json:"namespaces,omitempty" jsonschema:"uniqueItems=true"`
	Network    string   `json:"network" jsonschema:"enum=loopback-only,enum=host,enum=allow-list"`
	User       string   `json:"user" jsonschema:"enum=unprivileged,enum=same"`
	// What follows is left out where it did not hold, and in records of tools that did not know it.
	Filesystem     string    `json:"filesystem,omitempty" jsonschema:"enum=run-folders,description=run-folders: nothing else could be written to"`
	Landlock       *Landlock `json:"landlock,omitempty"`
	Limits         *Limits   `json:"limits,omitempty"`
	Cgroup         *Cgroup   `json:"cgroup,omitempty"`
	EgressAttempts []string  `json:"egress_attempts,omitempty" jsonschema:"uniqueItems=true,maxItems=100,description=Host names that the child tried to look up; <host> stands for what is no public name\\, <npm-registry> for that of a package registry"`

	Connects        string   `json:"connects,omitempty" jsonschema:"enum=listed,enum=counted,description=Whether attempts to reach bare addresses were listed; counted: the kernel's count alone told of them"`
	EgressAddresses []string `json:"egress_addresses,omitempty" jsonschema:"uniqueItems=true,maxItems=100,description=Addresses with port that the child tried to reach without a name; <metadata> stands for those of a cloud's metadata service\\, <address> for those that are not shown"`

	Egress []EgressUse `json:"egress,omitempty" jsonschema:"maxItems=100,description=What left by the allow-list of a live capture"`
}

// EgressUse is what left by one entry of the allow-list of a live capture. Contents are never recorded, nor opened where they are TLS.
type EgressUse struct {
	To            string `json:"to" jsonschema:"minLength=4,maxLength=300,description=The entry: host:port or *.suffix:port"`
	Connections   int    `json:"connections" jsonschema:"minimum=1"`
	SentBytes     int64  `json:"sent_bytes" jsonschema:"minimum=0"`
	ReceivedBytes int64  `json:"received_bytes" jsonschema:"minimum=0"`
}

// Landlock is the kernel's own lock on what a program may do.
type Landlock struct {
	ABI   int  `json:"abi" jsonschema:"minimum=1,description=Version that the kernel has"`
	Files bool `json:"files,omitempty" jsonschema:"description=It forbade changes outside of the run folders; else only signals and sockets to the outside"`
}

// Limits are what a run could use at most; 0 is no limit.
type Limits struct {
	DiskBytes   int64 `json:"disk_bytes,omitempty" jsonschema:"minimum=0"`
	MemoryBytes int64 `json:"memory_bytes,omitempty" jsonschema:"minimum=0"`
	Processes   int   `json:"processes,omitempty" jsonschema:"minimum=0"`
}

// Cgroup says which of the limits the kernel held by a control group of the run's own. The others were sampled, or counted by user.
type Cgroup struct {
	Version int      `json:"version" jsonschema:"enum=1,enum=2,description=Of the kernel's interface"`
	Limits  []string `json:"limits" jsonschema:"minItems=1,uniqueItems=true,enum=memory,enum=processes"`
}

// Attestation is a maintainer's statement that the raw artifact was checked before publication.
type Attestation struct {
	By        string    `json:"by" jsonschema:"minLength=1,maxLength=100"`
	At        Timestamp `json:"at"`
	Statement string    `json:"statement" jsonschema:"minLength=1,maxLength=500"`
}

// Promotion raises the level of an observation, with its reason.
type Promotion struct {
	To     ObservedLevel `json:"to"`
	At     Timestamp     `json:"at"`
	Reason string        `json:"reason" jsonschema:"minLength=1,maxLength=500"`
}

// Withdrawal takes an observation out of all claims.
type Withdrawal struct {
	At     Timestamp `json:"at"`
	Reason string    `json:"reason" jsonschema:"minLength=1,maxLength=500"`
}

// SourceEvidence is something known but not seen at run time. It never proves support.
type SourceEvidence struct {
	SchemaVersion  int           `json:"schema_version" jsonschema:"minimum=1,maximum=1"`
	Agent          AgentID       `json:"agent"`
	ProtocolFamily Family        `json:"protocol_family"`
	ValidityLevel  EvidenceLevel `json:"validity_level"`
	SourceRefs     []string      `json:"source_refs" jsonschema:"minItems=1,minLength=1,description=Repository tag; commit; file path; documentation address or local fixture path"`
	DerivedShape   DerivedShape  `json:"derived_shape"`
	DiscoveredAt   Timestamp     `json:"discovered_at"`
	CLIVersion     CLIVersion    `json:"cli_version,omitempty" jsonschema:"default=unknown"`
	Extensions     Extensions    `json:"extensions,omitempty"`
}

// DerivedShape names a shape that was derived or built by hand.
type DerivedShape struct {
	Signature Hash    `json:"signature"`
	Path      RelPath `json:"path" jsonschema:"pattern=^shapes/[a-z0-9-]+/sha256-[0-9a-f]{64}\\.shape\\.json$"`
}

// Shape is the structure that a run printed, without its content. Its signature is its identity.
type Shape struct {
	SchemaVersion  int           `json:"schema_version" jsonschema:"minimum=1,maximum=1"`
	Signature      Hash          `json:"signature" jsonschema:"description=sha256 of the RFC 8785 canonical JSON of this record without signature and without validity_level"`
	ProtocolFamily Family        `json:"protocol_family"`
	ValidityLevel  ValidityLevel `json:"validity_level" jsonschema:"description=The strongest accepted observation or source evidence of this shape"`
	Transport      Transport     `json:"transport"`
	FrameCount     int           `json:"frame_count" jsonschema:"minimum=1,description=Number of frame_shapes"`
	EventTypes     []string      `json:"event_types" jsonschema:"minItems=1,uniqueItems=true,description=Sorted unique event types"`
	FrameShapes    []FrameShape  `json:"frame_shapes" jsonschema:"minItems=1"`
	StderrClass    StderrClass   `json:"stderr_class,omitempty" jsonschema:"default=none"`
	Exit           ExitClass     `json:"exit"`
}

// FrameShape is the merged structure of all frames of one (direction, stream, event_type).
type FrameShape struct {
	Direction FrameDirection      `json:"direction"`
	Stream    FrameStream         `json:"stream"`
	EventType string              `json:"event_type" jsonschema:"minLength=1,maxLength=200"`
	Paths     []PathShape         `json:"paths"`
	Enums     map[string][]string `json:"enums"`
}

// PathShape is one path of a frame and one type seen there.
type PathShape struct {
	Path     string   `json:"path" jsonschema:"pattern=^\\$"`
	Type     JSONType `json:"type"`
	Required bool     `json:"required" jsonschema:"description=Every parent object seen in frames of this kind has the key; whatever its type"`
}

// SupportMatrix is the generated summary of claims.
type SupportMatrix struct {
	SchemaVersion       int           `json:"schema_version" jsonschema:"minimum=1,maximum=1"`
	GeneratedAt         Timestamp     `json:"generated_at"`
	OpenDesignMinCommit *Commit       `json:"open_design_min_commit,omitempty"`
	Agents              []MatrixEntry `json:"agents"`
}

// MatrixEntry is the claim about one agent.
type MatrixEntry struct {
	Agent               AgentID         `json:"agent"`
	VersionRanges       []string        `json:"version_ranges" jsonschema:"minItems=1,uniqueItems=true"`
	Platforms           []Platform      `json:"platforms" jsonschema:"minItems=1,uniqueItems=true"`
	ProtocolFamilies    []Family        `json:"protocol_families" jsonschema:"minItems=1,uniqueItems=true"`
	SupportStatus       SupportStatus   `json:"support_status"`
	ObservedShapes      []MatrixShape   `json:"observed_shapes" jsonschema:"minItems=1"`
	LastObservedAt      Timestamp       `json:"last_observed_at"`
	LatestVerified      *CLIVersion     `json:"latest_verified,omitempty"`
	LatestSeen          *CLIVersion     `json:"latest_seen,omitempty"`
	ServerVariants      []VariantClaim  `json:"server_variants,omitempty"`
	KnownBreakingShapes []BreakingShape `json:"known_breaking_shapes,omitempty"`
	Policy              *Policy         `json:"policy,omitempty"`
	Notes               []string        `json:"notes,omitempty"`
	Extensions          Extensions      `json:"extensions,omitempty"`
}

// MatrixShape is one shape that backs a claim.
type MatrixShape struct {
	Shape         Hash          `json:"shape"`
	ValidityLevel ValidityLevel `json:"validity_level"`
	ObservedAt    Timestamp     `json:"observed_at"`
	Backends      []Backend     `json:"backends,omitempty" jsonschema:"uniqueItems=true,default=live,description=What answered the model requests of the runs behind the shape"`
}

// VariantClaim is one of several shapes that are active for one version.
type VariantClaim struct {
	Shape  Hash          `json:"shape"`
	Status VariantStatus `json:"status"`
}

// BreakingShape is a shape that is known to break a consumer.
type BreakingShape struct {
	Shape    Hash    `json:"shape"`
	Reason   string  `json:"reason" jsonschema:"minLength=1,maxLength=500"`
	Evidence OneMany `json:"evidence" jsonschema:"description=Path in the registry or https address; or a list of them"`
}

// Policy is what a host should do.
type Policy struct {
	AllowRun AllowRun `json:"allow_run,omitempty" jsonschema:"description=Default: block for too_old known_breaking and known_breaking_shape; otherwise warn"`
}

// ErrorCase is one failure and how a consumer's classifier must read it.
type ErrorCase struct {
	SchemaVersion                 int             `json:"schema_version" jsonschema:"minimum=1,maximum=1"`
	Agent                         AgentID         `json:"agent"`
	Probe                         ProbeID         `json:"probe"`
	RawShape                      Hash            `json:"raw_shape" jsonschema:"description=Hash of the raw transcript; or of a synthetic one that source evidence names"`
	ClassifierInput               ClassifierInput `json:"classifier_input"`
	ExpectedFailureClassification *Classification `json:"expected_failure_classification" jsonschema:"nullable,description=null exactly when the result is success"`
	Extensions                    Extensions      `json:"extensions,omitempty"`
}

// ClassifierInput is what the consumer's daemon hands to its failure classifier.
type ClassifierInput struct {
	Result    RunResult         `json:"result"`
	Status    map[string]any    `json:"status" jsonschema:"description=The daemon's run status; free-form"`
	ErrorCode *string           `json:"errorCode,omitempty" jsonschema:"maxLength=100"`
	Events    []ClassifierEvent `json:"events,omitempty"`
}

// ClassifierEvent is one daemon event; its data is free-form.
type ClassifierEvent struct {
	Event string         `json:"event" jsonschema:"minLength=1,maxLength=100"`
	Data  map[string]any `json:"data"`
}

// Classification is a consumer's RunFailureClassification.
type Classification struct {
	Category   FailureCategory   `json:"failure_category"`
	Detail     FailureDetail     `json:"failure_detail"`
	Stage      FailureStage      `json:"failure_stage"`
	Retryable  bool              `json:"retryable"`
	UserAction FailureUserAction `json:"user_action"`
}

// TranscriptLine is one line of a sanitized transcript: a stream chunk, an RPC frame or a process event.
type TranscriptLine struct {
	Dir      FrameDirection `json:"dir"`
	Stream   StreamName     `json:"stream,omitempty"`
	Event    ProcessEvent   `json:"event,omitempty"`
	AtMs     int64          `json:"at_ms" jsonschema:"minimum=0,description=Monotonic milliseconds since the spawn"`
	Data     *string        `json:"data,omitempty"`
	DataRef  *string        `json:"data_ref,omitempty" jsonschema:"pattern=^(prompt|prompt-file|redacted|fixture:[A-Za-z0-9._-]{1\\,100})$"`
	Frame    map[string]any `json:"frame,omitempty"`
	ExitCode *int           `json:"exit_code,omitempty" jsonschema:"minimum=-1,maximum=4294967295"`
	Signal   *string        `json:"signal,omitempty" jsonschema:"pattern=^SIG[A-Z0-9+]{1\\,20}$"`
}
