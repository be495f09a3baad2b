package contract

// Agent is everything that is particular to one coding-agent CLI: registry/agents/<id>.json. What an entry leaves
// out does not apply; where a list has version ranges, the first entry that matches the version wins.
// Version ranges are written as in node-semver, see MatchReleases; an empty range matches every version.
type Agent struct {
	SchemaVersion   int             `json:"schema_version" jsonschema:"minimum=1,maximum=1"`
	ID              AgentID         `json:"id"`
	Name            string          `json:"name" jsonschema:"minLength=1,maxLength=100"`
	Aliases         []string        `json:"aliases,omitempty" jsonschema:"uniqueItems=true"`
	Tier            int             `json:"tier" jsonschema:"minimum=0,maximum=3,description=0 is captured first and must stay fresh"`
	Homepage        HTTPSURL        `json:"homepage"`
	NotCapturable   string          `json:"not_capturable,omitempty" jsonschema:"maxLength=500,description=Why this CLI cannot be captured; coverage shows the hole"`
	FreshnessDays   int             `json:"freshness_days,omitempty" jsonschema:"minimum=1,default=14"`
	RangePolicy     RangePolicy     `json:"range_policy,omitempty" jsonschema:"default=exact"`
	Upstreams       Upstreams       `json:"upstreams"`
	Channels        []Channel       `json:"channels"`
	Install         []InstallLayout `json:"install"`
	VersionProbe    VersionProbe    `json:"version_probe"`
	CredentialModel CredentialModel `json:"credential_model"`
	ModelAPI        []ModelAPI      `json:"model_api,omitempty"`
	Environment     Environment     `json:"environment"`
	HomeFiles       []HomeFile      `json:"home_files,omitempty"`
	Modes           []Mode          `json:"modes" jsonschema:"minItems=1"`
	ForbiddenFlags  []ForbiddenFlag `json:"forbidden_flags,omitempty"`
	SelfUpdate      string          `json:"self_update,omitempty" jsonschema:"maxLength=300,description=How self-update is switched off"`
	Help            []HelpCommand   `json:"help,omitempty"`
	Models          []ModelsForm    `json:"models,omitempty" jsonschema:"description=How a release lists its models\\, where it has a command for that"`
	Hosts           []HostForm      `json:"hosts,omitempty"`
	Live            []Live          `json:"live,omitempty" jsonschema:"description=How modes run against the vendor's own servers; a mode that no entry names cannot be captured live"`
	Holes           []Hole          `json:"holes,omitempty" jsonschema:"description=Probes that give no observation\\, and why; what the data tells by itself stands in no entry"`
}

// RangePolicy says how far a claim reaches beyond the releases that were captured.
type RangePolicy string

// The range policies.
const (
	// RangeExact claims only captured releases.
	RangeExact RangePolicy = "exact"
	// RangePatch claims from a captured release up to the next minor one.
	RangePatch RangePolicy = "patch"
)

// Values lists the enum.
func (RangePolicy) Values() []string { return []string{"exact", "patch"} }

// CredentialModel says how the CLI gets its credentials.
type CredentialModel string

// Values lists the enum.
func (CredentialModel) Values() []string {
	return []string{"env-key", "login-file", "device-code", "none"}
}

// Upstreams are the places where the CLI ships.
type Upstreams struct {
	NPM      *NPMUpstream    `json:"npm,omitempty"`
	GitHub   *GitHubUpstream `json:"github,omitempty"`
	Homebrew string          `json:"homebrew,omitempty" jsonschema:"maxLength=100,description=Formula or cask"`
	Vendor   HTTPSURL        `json:"vendor,omitempty" jsonschema:"description=Endpoint that names the current release"`
}

// NPMUpstream is a package in the npm registry.
type NPMUpstream struct {
	Package string          `json:"package" jsonschema:"pattern=^(@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*$"`
	Former  []FormerPackage `json:"former,omitempty" jsonschema:"description=Names under which other releases were published; the first whose range has a version holds it"`
}

// FormerPackage is a name that a package had for some of its releases.
type FormerPackage struct {
	Package  string `json:"package" jsonschema:"pattern=^(@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*$"`
	Releases string `json:"releases"`
}

// GitHubUpstream is a repository with releases.
type GitHubUpstream struct {
	Repository string `json:"repository" jsonschema:"pattern=^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$"`
	TagPattern string `json:"tag_pattern" jsonschema:"description=Regular expression with one group: the version"`
}

// Channel is a stream of releases: a dist-tag, or all versions that match a pattern.
type Channel struct {
	Name    string `json:"name" jsonschema:"pattern=^[a-z0-9-]{1\\,40}$"`
	DistTag string `json:"dist_tag,omitempty" jsonschema:"maxLength=60"`
	Pattern string `json:"pattern,omitempty" jsonschema:"maxLength=200,description=Regular expression over the version; must match whole"`
}

// InstallLayout says what to run of what the package manager installed: an executable for each platform, or one script
// with the runtime that starts it.
type InstallLayout struct {
	Releases        string              `json:"releases,omitempty"`
	Bin             map[Platform]string `json:"bin,omitempty" jsonschema:"description=Executable relative to the package's own folder; or to the platform package's where one is named"`
	PlatformPackage map[Platform]string `json:"platform_package,omitempty" jsonschema:"description=Folder name under node_modules of the package that holds the executable"`
	Script          string              `json:"script,omitempty" jsonschema:"description=In place of bin: one script for all platforms\\, relative to the package's own folder"`
	Runtime         *Runtime            `json:"runtime,omitempty" jsonschema:"description=What starts the script"`
}

// VersionProbe asks an executable for its version.
type VersionProbe struct {
	Argv      []string `json:"argv,omitempty" jsonschema:"minItems=1"`
	Handshake ModeID   `json:"handshake,omitempty" jsonschema:"description=RPC mode whose handshake names the version\\, where no argument asks for it"`
	Pattern   string   `json:"pattern" jsonschema:"description=Regular expression with one group: the version token"`
	Template  string   `json:"template" jsonschema:"maxLength=200,description=The whole output line with {version} in the token's place"`
	Scheme    string   `json:"scheme" jsonschema:"enum=semver,enum=calver,enum=opaque"`

	Reports map[CLIVersion]CLIVersion `json:"reports,omitempty" jsonschema:"description=Releases that report another version than their own: release to what it prints"`
}

// Runtime is what a script needs to run. The version is pinned, so that a capture never depends on the machine's own.
type Runtime struct {
	Kind    string     `json:"kind" jsonschema:"enum=node"`
	Version CLIVersion `json:"version" jsonschema:"description=The exact release that captures use"`
	Range   string     `json:"range" jsonschema:"description=The releases that the CLI says it runs on"`
}

// ModelAPI says which model API a release speaks and which model id it is given.
type ModelAPI struct {
	Releases string `json:"releases,omitempty"`
	Dialect  string `json:"dialect" jsonschema:"enum=openai-responses,enum=openai-chat,enum=anthropic-messages,enum=gemini-generate"`
	Model    string `json:"model" jsonschema:"pattern=^[A-Za-z0-9._/:-]{1\\,100}$"`
}

// Environment is the child's environment; nothing else of the parent's reaches it.
// Values may hold the placeholders of Mode.Argv and {secret}.
type Environment struct {
	Set     map[string]string `json:"set,omitempty"`
	Pass    []string          `json:"pass,omitempty" jsonschema:"uniqueItems=true,description=Names passed through from the parent"`
	Secrets []string          `json:"secrets,omitempty" jsonschema:"uniqueItems=true,description=Names that hold a credential; scripted runs fill them with a dummy"`
}

// HomeFile is written into the isolated home before the run.
type HomeFile struct {
	Path     string   `json:"path" jsonschema:"description=Relative to the home"`
	Releases string   `json:"releases,omitempty"`
	Lines    []string `json:"lines" jsonschema:"description=Content; may hold {base_url} {model} {cwd} {home}"`
}

// ForbiddenFlag is a flag that no argv of this agent may carry.
type ForbiddenFlag struct {
	Flag   string `json:"flag"`
	Reason string `json:"reason" jsonschema:"minLength=1"`
}

// HelpCommand is one help page: argv after the executable.
type HelpCommand struct {
	Command string   `json:"command"`
	Argv    []string `json:"argv"`
}

// HostForm is how one host spawns this CLI, and where that was read.
type HostForm struct {
	Host   string `json:"host"`
	Mode   ModeID `json:"mode"`
	Source string `json:"source"`
	Commit Commit `json:"commit,omitempty"`
}

// Mode is one way to start the agent.
type Mode struct {
	ID        ModeID            `json:"id"`
	Family    Family            `json:"family"`
	Transport Transport         `json:"transport"`
	StdinMode StdinMode         `json:"stdin_mode"`
	Releases  string            `json:"releases,omitempty"`
	Argv      []ArgvForm        `json:"argv" jsonschema:"minItems=1"`
	Stdin     map[string]any    `json:"stdin_message,omitempty" jsonschema:"description=The one line of JSON that a jsonl-open mode writes; {prompt} stands for the prompt in its strings"`
	Env       map[string]string `json:"env,omitempty"`
	TrustArgv []string          `json:"trust_argv,omitempty" jsonschema:"uniqueItems=true,description=Words of argv that make the CLI trust its working directory; probes of untrusted folders leave them out"`
	MCP       []MCPForm         `json:"mcp_server,omitempty" jsonschema:"description=How a run is given an MCP server; probes of MCP need it"`
	Resume    []ResumeForm      `json:"resume,omitempty" jsonschema:"description=How a run continues the session of an earlier one"`
	Images    []ImageForm       `json:"images,omitempty" jsonschema:"description=How a run is given an image; probes with one need it"`
	Client    ClientID          `json:"client,omitempty" jsonschema:"description=Profile of registry/clients that an RPC mode is driven by"`
	AuthWith  string            `json:"authenticate,omitempty" jsonschema:"maxLength=100,description=Authentication method that an RPC host picks; none where absent"`
	Selects   bool              `json:"select_model,omitempty" jsonschema:"description=Whether an RPC host selects the model in the session"`
	OutputOf  ModeID            `json:"output_of,omitempty" jsonschema:"description=Mode of this agent whose dialects\\, tools and side requests this one shares"`
	Dialects  []Dialect         `json:"dialects,omitempty"`
	Tools     map[string][]Tool `json:"tools,omitempty" jsonschema:"description=Per intent of a script: tools in order of preference; the first that the CLI offers is called"`
	Side      []SideRequest     `json:"side_requests,omitempty" jsonschema:"description=Model requests beside the conversation; the first entry that matches answers\\, and the script takes no step"`
	Sandbox   string            `json:"own_sandbox,omitempty" jsonschema:"maxLength=200,description=How the CLI confines commands that it runs\\, where that needs mounts; Landlock then leaves files to the other locks"`
	Allow     map[string]string `json:"allow_forbidden,omitempty" jsonschema:"description=Forbidden flag → why this mode carries it all the same"`
	Echoes    []Echo            `json:"echoes,omitempty" jsonschema:"description=Canaries that the CLI prints by itself; each must be in the raw output of the probes named"`
	Default   bool              `json:"default,omitempty" jsonschema:"description=The mode of a capture that names none"`
}

// Echo names a canary that a CLI prints by itself: redaction is known to have met it there.
type Echo struct {
	Canary string    `json:"canary" jsonschema:"enum=environment,enum=home,enum=git,enum=workspace,enum=model-server,enum=host-name"`
	Probes []ProbeID `json:"probes" jsonschema:"minItems=1"`
}

// ArgvForm is argv after the executable for a range of releases. Placeholders: {cwd} {home} {model} {base_url}
// {prompt} {prompt_file}.
type ArgvForm struct {
	Releases string   `json:"releases,omitempty"`
	Argv     []string `json:"argv"`
}

// MCPForm is what a run adds to a mode to give it an MCP server on standard input and output, for a range of releases.
// {mcp_server} is the server's command, which needs no arguments.
type MCPForm struct {
	Releases  string            `json:"releases,omitempty"`
	Argv      []string          `json:"argv,omitempty" jsonschema:"minItems=1,description=Arguments behind those of the mode"`
	Env       map[string]string `json:"env,omitempty"`
	HomeFiles []HomeFile        `json:"home_files,omitempty" jsonschema:"description=Beside those of the agent"`
}

// ResumeForm is argv of a run that continues a session, for a range of releases, and where the session's id is found. A
// CLI that prints no id can be asked for its latest session: argv then has no {session}. In an RPC mode without
// argv the host names the session in a frame.
type ResumeForm struct {
	Releases string   `json:"releases,omitempty"`
	Argv     []string `json:"argv,omitempty" jsonschema:"minItems=1,description=In place of the mode's; {session} is the id. Left out in an RPC mode whose host names the session in a frame"`
	Session  string   `json:"session,omitempty" jsonschema:"pattern=^\\$(\\.[A-Za-z0-9_]+)+$,description=Path of the id in the frames of the earlier run; the first frame that has it counts"`
	File     string   `json:"session_file,omitempty" jsonschema:"pattern=^\\{(home|cwd)\\}/[A-Za-z0-9_./*-]+$,description=In place of session: where the earlier run leaves the one file that is its session\\, with * for a part of a name. The file's path is the id"`
	Forgets  string   `json:"forgets,omitempty" jsonschema:"maxLength=300,description=The CLI begins anew all the same\\, and why that is recorded: a run of this form counts where the model is not told what was said before"`
}

// Tool is a tool that the CLI may offer to the model, with the arguments that a script's intent needs.
type Tool struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
	Behind    string         `json:"behind,omitempty" jsonschema:"description=Tool that is offered in its place: the CLI takes the call\\, but lists the tool only after a search. A dot parts namespace and name"`
}

// SideRequest tells a model request that the CLI makes beside the conversation (a title, a topic, a check for quota)
// from those of the conversation itself. All conditions that are given must hold; at least one is given.
type SideRequest struct {
	Purpose      string `json:"purpose" jsonschema:"minLength=1,maxLength=200,description=What the CLI asks for"`
	Model        string `json:"model,omitempty" jsonschema:"maxLength=100,description=Condition: the model id asked for"`
	WithoutTools bool   `json:"without_tools,omitempty" jsonschema:"description=Condition: no tools are offered"`
	MaxTokens    int    `json:"max_tokens,omitempty" jsonschema:"minimum=1,description=Condition: the answer may have at most so many tokens"`
	Instructions string `json:"instructions,omitempty" jsonschema:"maxLength=200,description=Condition: the system prompt contains this text"`
	Answer       string `json:"answer" jsonschema:"minLength=1,maxLength=1000,description=The whole text of the answer"`
}

// Dialect says how the frames of a mode are read, for a range of releases. Paths are written like $.item.type and
// $.list[].id; a trailing .* covers everything below.
type Dialect struct {
	Name        string              `json:"name" jsonschema:"pattern=^[a-z0-9-]{1\\,60}$"`
	Releases    string              `json:"releases,omitempty"`
	Extends     string              `json:"extends,omitempty" jsonschema:"enum=family,description=The entries add to those that the RPC family has by itself"`
	EventType   []EventTypeRule     `json:"event_type,omitempty"`
	Opaque      []string            `json:"opaque,omitempty" jsonschema:"description=Values recorded as kind only; their keys go to the vocabulary"`
	Maps        []string            `json:"maps,omitempty" jsonschema:"description=Objects keyed by data; the key becomes {key}"`
	Unions      []UnionRule         `json:"unions,omitempty"`
	IDs         []string            `json:"ids,omitempty" jsonschema:"description=Strings that identify; replaced by a number that keeps equality"`
	Numbers     []string            `json:"numbers,omitempty" jsonschema:"description=Numbers that a host needs and that identify nothing; all others become 0"`
	Diagnostics []string            `json:"diagnostics,omitempty" jsonschema:"description=Message strings matched against registry/diagnostics"`
	Base64      []string            `json:"base64,omitempty" jsonschema:"description=Strings that must stay valid base64"`
	Deltas      []string            `json:"deltas,omitempty" jsonschema:"description=Strings of consecutive frames that concatenate to one text"`
	JSONDeltas  []string            `json:"json_deltas,omitempty" jsonschema:"description=Strings of consecutive frames that concatenate to one JSON value\\, opaque as a whole"`
	Ambient     []AmbientRule       `json:"ambient,omitempty"`
	Session     string              `json:"session,omitempty" jsonschema:"description=Event type that must come first"`
	Terminal    Terminal            `json:"terminal"`
	Events      []EventRule         `json:"events"`
	Pairs       []PairRule          `json:"pairs,omitempty"`
	Enums       map[string][]string `json:"enums,omitempty" jsonschema:"description=Further enum-like strings: path to the values that survive"`
}

// EventTypeRule names a frame. The first rule that applies wins. With path the value there is the name; then
// appends "/" and the value at a second path where it is present. With has the frame needs that path; it gets name where
// there is one.
type EventTypeRule struct {
	Path string `json:"path,omitempty"`
	Then string `json:"then,omitempty"`
	Has  string `json:"has,omitempty"`
	Name string `json:"name,omitempty"`
}

// UnionRule tells the elements of an array apart by the value of a key: $.content[text].id.
type UnionRule struct {
	Path string `json:"path" jsonschema:"description=The array without its brackets"`
	Key  string `json:"key"`
}

// AmbientRule names an event type or a path that may come at any time or not at all; it stays out of the shape. With a
// path, an event type of the form start/* stands for all that begin so.
type AmbientRule struct {
	EventType string `json:"event_type"`
	Path      string `json:"path,omitempty"`
	Reason    string `json:"reason" jsonschema:"minLength=1"`
}

// Terminal says what ends a turn.
type Terminal struct {
	Events  []string `json:"events,omitempty" jsonschema:"description=Event types that end a turn; none means that the process exit does"`
	PerTurn int      `json:"per_turn,omitempty" jsonschema:"minimum=1,description=How many of them a turn has"`
	After   []string `json:"after,omitempty" jsonschema:"description=Event types that may still follow"`
	Reopen  []string `json:"reopen,omitempty" jsonschema:"description=Event types that take back the end of a turn: the CLI tries again and will end it anew"`
}

// EventRule maps frames to a neutral reference event. Fields gives the event's fields: name → path.
type EventRule struct {
	EventType string            `json:"event_type"`
	Event     EventName         `json:"event"`
	Each      string            `json:"each,omitempty" jsonschema:"description=Elements of an array that give one event each: $.content[text]; fields and when may start with this path"`
	Fields    map[string]string `json:"fields,omitempty"`
	When      string            `json:"when,omitempty" jsonschema:"description=Only where this path is present and not null"`
	Equals    any               `json:"equals,omitempty" jsonschema:"oneof_type=string;boolean,description=Only where the value at when is this one"`
}

// PairRule says that what a frame of one type opens is closed by one of another with an equal id. The paths of the ids
// may lead through arrays: each element then opens or closes something of its own.
type PairRule struct {
	Open    string `json:"open"`
	Close   string `json:"close"`
	ID      string `json:"id"`
	CloseID string `json:"close_id,omitempty" jsonschema:"description=Where the closing frame has the id\\, if not at the same place"`
}

// AgentIndex is the generated registry/agents.json.
type AgentIndex struct {
	SchemaVersion int               `json:"schema_version" jsonschema:"minimum=1,maximum=1"`
	Agents        []AgentIndexEntry `json:"agents"`
}

// AgentIndexEntry summarises one agent file.
type AgentIndexEntry struct {
	ID               AgentID         `json:"id"`
	Name             string          `json:"name"`
	Aliases          []string        `json:"aliases,omitempty"`
	Tier             int             `json:"tier"`
	ProtocolFamilies []Family        `json:"protocol_families"`
	Modes            []ModeID        `json:"modes"`
	CredentialModel  CredentialModel `json:"credential_model"`
	FreshnessDays    int             `json:"freshness_days"`
	RangePolicy      RangePolicy     `json:"range_policy"`
	NotCapturable    string          `json:"not_capturable,omitempty"`
}

// Diagnostics is one file of registry/diagnostics: message templates that may survive redaction.
type Diagnostics struct {
	SchemaVersion int                  `json:"schema_version" jsonschema:"minimum=1,maximum=1"`
	Agent         AgentID              `json:"agent"`
	Templates     []DiagnosticTemplate `json:"templates" jsonschema:"minItems=1"`
}

// DiagnosticTemplate is literal text with typed holes: "retrying {count}/{total} in {duration}".
// Example and counter-example keep the template honest; a test walks them.
type DiagnosticTemplate struct {
	ID       string            `json:"id" jsonschema:"pattern=^[a-z0-9-]{1\\,80}$"`
	Text     string            `json:"text" jsonschema:"minLength=8,maxLength=1000"`
	Holes    map[string]string `json:"holes,omitempty" jsonschema:"description=Hole → type: int duration url path id text literal version enum http-reason template"`
	Class    StderrClass       `json:"class"`
	Source   string            `json:"source" jsonschema:"minLength=1,description=Where the message was seen or is defined"`
	Releases string            `json:"releases,omitempty"`
	Match    []string          `json:"match" jsonschema:"minItems=1"`
	NoMatch  []string          `json:"no_match" jsonschema:"minItems=1"`
}

// ReleaseList is registry/releases/<agent>.json: what discovery saw.
type ReleaseList struct {
	SchemaVersion int             `json:"schema_version" jsonschema:"minimum=1,maximum=1"`
	Agent         AgentID         `json:"agent"`
	SeenAt        Timestamp       `json:"seen_at"`
	Channels      []ChannelHead   `json:"channels"`
	Releases      []ReleaseRecord `json:"releases"`
}

// ChannelHead is the current release of a channel.
type ChannelHead struct {
	Name    string     `json:"name"`
	Version CLIVersion `json:"version"`
}

// ReleaseRecord is one release of an upstream.
type ReleaseRecord struct {
	Version     CLIVersion `json:"version"`
	PublishedAt Timestamp  `json:"published_at,omitempty"`
	Channel     string     `json:"channel"`
	Deprecated  bool       `json:"deprecated,omitempty"`
	Upstream    string     `json:"upstream" jsonschema:"enum=npm,enum=github,enum=homebrew,enum=vendor"`
}
