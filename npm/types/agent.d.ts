// Generated from registry/schemas/agent.schema.json; do not edit.
// schema-sha256: 055b6657b1dc1c3041abbf2510c55823a9b623d5875f479a3d47c20762966472

/**
 * AgentID names an agent: the file registry/agents/<id>.json.
 */
export type AgentID = string
/**
 * HTTPSURL is an absolute https:// address.
 */
export type HTTPSURL = string
/**
 * RangePolicy says how far a claim reaches beyond the releases that were captured.
 */
export type RangePolicy = 'exact' | 'patch'
/**
 * CLIVersion is the version token that the agent's version pattern extracted from the CLI's own output.
 */
export type CLIVersion = string
/**
 * ModeID names one way to start an agent, unique within the agent.
 */
export type ModeID = string
/**
 * CredentialModel says how the CLI gets its credentials.
 */
export type CredentialModel = 'env-key' | 'login-file' | 'device-code' | 'none'
/**
 * Family is a wire protocol family.
 */
export type Family =
  | 'plain/v1'
  | 'claude-stream-json/v1'
  | 'json-event-stream/v1'
  | 'qoder-stream-json/v1'
  | 'copilot-stream-json/v1'
  | 'acp-json-rpc/v1'
  | 'pi-rpc/v1'
/**
 * Transport is the framing of a stream.
 */
export type Transport = 'plain' | 'jsonl' | 'json' | 'json-rpc' | 'pi-rpc'
/**
 * StdinMode says how the prompt reaches the CLI and when its standard input closes.
 */
export type StdinMode = 'none' | 'text-prompt' | 'jsonl-open' | 'prompt-file' | 'rpc'
/**
 * ClientID names a client profile: the file registry/clients/<id>.json.
 */
export type ClientID = string
/**
 * EventName is a neutral reference event: what every family's frames mean to a host.
 */
export type EventName =
  | 'session_started'
  | 'init_or_status'
  | 'assistant_text'
  | 'thinking'
  | 'tool_use'
  | 'tool_result'
  | 'usage'
  | 'approval_request'
  | 'warning'
  | 'error'
  | 'done'
  | 'raw'
  | 'version_reported'
  | 'models_listed'
/**
 * ProbeID names a probe: the folder probes/<id>. The canonical spelling has hyphens.
 */
export type ProbeID = string
/**
 * Commit is an abbreviated or full git commit of a consumer.
 */
export type Commit = string

/**
 * Agent is everything that is particular to one coding-agent CLI: registry/agents/<id>.json. What an entry leaves out does not apply; where a list has version ranges, the first entry that matches the version wins. Version ranges are written as in node-semver, see MatchReleases; an empty range matches every version.
 */
export interface Agent {
  schema_version: number
  id: AgentID
  name: string
  aliases?: string[]
  /**
   * 0 is captured first and must stay fresh
   */
  tier: number
  homepage: HTTPSURL
  /**
   * Why this CLI cannot be captured; coverage shows the hole
   */
  not_capturable?: string
  freshness_days?: number
  range_policy?: RangePolicy
  upstreams: Upstreams
  channels: Channel[]
  install: InstallLayout[]
  version_probe: VersionProbe
  credential_model: CredentialModel
  model_api?: ModelAPI[]
  environment: Environment
  home_files?: HomeFile[]
  /**
   * @minItems 1
   */
  modes: [Mode, ...Mode[]]
  forbidden_flags?: ForbiddenFlag[]
  /**
   * How self-update is switched off
   */
  self_update?: string
  help?: HelpCommand[]
  /**
   * How a release lists its models, where it has a command for that
   */
  models?: ModelsForm[]
  hosts?: HostForm[]
  /**
   * How modes run against the vendor's own servers; a mode that no entry names cannot be captured live
   */
  live?: Live[]
  /**
   * Probes that give no observation, and why; what the data tells by itself stands in no entry
   */
  holes?: Hole[]
}
/**
 * Upstreams are the places where the CLI ships.
 */
export interface Upstreams {
  npm?: NPMUpstream | null
  github?: GitHubUpstream | null
  /**
   * Formula or cask
   */
  homebrew?: string
  vendor?: HTTPSURL
}
/**
 * NPMUpstream is a package in the npm registry.
 */
export interface NPMUpstream {
  package: string
  /**
   * Names under which other releases were published; the first whose range has a version holds it
   */
  former?: FormerPackage[]
}
/**
 * FormerPackage is a name that a package had for some of its releases.
 */
export interface FormerPackage {
  package: string
  releases: string
}
/**
 * GitHubUpstream is a repository with releases.
 */
export interface GitHubUpstream {
  repository: string
  /**
   * Regular expression with one group: the version
   */
  tag_pattern: string
}
/**
 * Channel is a stream of releases: a dist-tag, or all versions that match a pattern.
 */
export interface Channel {
  name: string
  dist_tag?: string
  /**
   * Regular expression over the version; must match whole
   */
  pattern?: string
}
/**
 * InstallLayout says what to run of what the package manager installed: an executable for each platform, or one script with the runtime that starts it.
 */
export interface InstallLayout {
  releases?: string
  /**
   * Executable relative to the package's own folder; or to the platform package's where one is named
   */
  bin?: {
    [k: string]: string
  }
  /**
   * Folder name under node_modules of the package that holds the executable
   */
  platform_package?: {
    [k: string]: string
  }
  /**
   * In place of bin: one script for all platforms, relative to the package's own folder
   */
  script?: string
  /**
   * What starts the script
   */
  runtime?: Runtime | null
}
/**
 * Runtime is what a script needs to run. The version is pinned, so that a capture never depends on the machine's own.
 */
export interface Runtime {
  kind: 'node'
  version: CLIVersion
  /**
   * The releases that the CLI says it runs on
   */
  range: string
}
/**
 * VersionProbe asks an executable for its version.
 */
export interface VersionProbe {
  /**
   * @minItems 1
   */
  argv?: [string, ...string[]]
  handshake?: ModeID
  /**
   * Regular expression with one group: the version token
   */
  pattern: string
  /**
   * The whole output line with {version} in the token's place
   */
  template: string
  scheme: 'semver' | 'calver' | 'opaque'
  /**
   * Releases that report another version than their own: release to what it prints
   */
  reports?: {
    [k: string]: CLIVersion
  }
}
/**
 * ModelAPI says which model API a release speaks and which model id it is given.
 */
export interface ModelAPI {
  releases?: string
  dialect: 'openai-responses' | 'openai-chat' | 'anthropic-messages' | 'gemini-generate'
  model: string
}
/**
 * Environment is the child's environment; nothing else of the parent's reaches it. Values may hold the placeholders of Mode.Argv and {secret}.
 */
export interface Environment {
  set?: {
    [k: string]: string
  }
  /**
   * Names passed through from the parent
   */
  pass?: string[]
  /**
   * Names that hold a credential; scripted runs fill them with a dummy
   */
  secrets?: string[]
}
/**
 * HomeFile is written into the isolated home before the run.
 */
export interface HomeFile {
  /**
   * Relative to the home
   */
  path: string
  releases?: string
  /**
   * Content; may hold {base_url} {model} {cwd} {home}
   */
  lines: string[]
}
/**
 * Mode is one way to start the agent.
 */
export interface Mode {
  id: ModeID
  family: Family
  transport: Transport
  stdin_mode: StdinMode
  releases?: string
  /**
   * @minItems 1
   */
  argv: [ArgvForm, ...ArgvForm[]]
  /**
   * The one line of JSON that a jsonl-open mode writes; {prompt} stands for the prompt in its strings
   */
  stdin_message?: {
    [k: string]: unknown
  }
  env?: {
    [k: string]: string
  }
  /**
   * Words of argv that make the CLI trust its working directory; probes of untrusted folders leave them out
   */
  trust_argv?: string[]
  /**
   * How a run is given an MCP server; probes of MCP need it
   */
  mcp_server?: MCPForm[]
  /**
   * How a run continues the session of an earlier one
   */
  resume?: ResumeForm[]
  /**
   * How a run is given an image; probes with one need it
   */
  images?: ImageForm[]
  client?: ClientID
  /**
   * Authentication method that an RPC host picks; none where absent
   */
  authenticate?: string
  /**
   * Whether an RPC host selects the model in the session
   */
  select_model?: boolean
  output_of?: ModeID
  dialects?: Dialect[]
  /**
   * Per intent of a script: tools in order of preference; the first that the CLI offers is called
   */
  tools?: {
    [k: string]: Tool[]
  }
  /**
   * Model requests beside the conversation; the first entry that matches answers, and the script takes no step
   */
  side_requests?: SideRequest[]
  /**
   * How the CLI confines commands that it runs, where that needs mounts; Landlock then leaves files to the other locks
   */
  own_sandbox?: string
  /**
   * Forbidden flag → why this mode carries it all the same
   */
  allow_forbidden?: {
    [k: string]: string
  }
  /**
   * Canaries that the CLI prints by itself; each must be in the raw output of the probes named
   */
  echoes?: Echo[]
  /**
   * The mode of a capture that names none
   */
  default?: boolean
}
/**
 * ArgvForm is argv after the executable for a range of releases. Placeholders: {cwd} {home} {model} {base_url} {prompt} {prompt_file}.
 */
export interface ArgvForm {
  releases?: string
  argv: string[]
}
/**
 * MCPForm is what a run adds to a mode to give it an MCP server on standard input and output, for a range of releases. {mcp_server} is the server's command, which needs no arguments.
 */
export interface MCPForm {
  releases?: string
  /**
   * Arguments behind those of the mode
   *
   * @minItems 1
   */
  argv?: [string, ...string[]]
  env?: {
    [k: string]: string
  }
  /**
   * Beside those of the agent
   */
  home_files?: HomeFile[]
}
/**
 * ResumeForm is argv of a run that continues a session, for a range of releases, and where the session's id is found. A CLI that prints no id can be asked for its latest session: argv then has no {session}. In an RPC mode without argv the host names the session in a frame.
 */
export interface ResumeForm {
  releases?: string
  /**
   * In place of the mode's; {session} is the id. Left out in an RPC mode whose host names the session in a frame
   *
   * @minItems 1
   */
  argv?: [string, ...string[]]
  /**
   * Path of the id in the frames of the earlier run; the first frame that has it counts
   */
  session?: string
  /**
   * In place of session: where the earlier run leaves the one file that is its session, with * for a part of a name. The file's path is the id
   */
  session_file?: string
  /**
   * The CLI begins anew all the same, and why that is recorded: a run of this form counts where the model is not told what was said before
   */
  forgets?: string
}
/**
 * ImageForm is how a run of a mode is given the image of a probe, for a range of releases. {image} is the image's name in the workspace, {image_base64} its content, {image_type} its media type. Hosts of RPC modes need no form: their frames have a place for it.
 */
export interface ImageForm {
  releases?: string
  /**
   * Arguments behind those of the mode
   *
   * @minItems 1
   */
  argv?: [string, ...string[]]
  /**
   * In place of the prompt, which is {prompt}
   */
  prompt?: string
  /**
   * In place of the mode's
   */
  stdin_message?: {
    [k: string]: unknown
  }
  /**
   * The CLI is told where the image lies, and the model need not get it
   */
  link_only?: boolean
}
/**
 * Dialect says how the frames of a mode are read, for a range of releases. Paths are written like $.item.type and $.list[].id; a trailing .* covers everything below.
 */
export interface Dialect {
  name: string
  releases?: string
  /**
   * The entries add to those that the RPC family has by itself
   */
  extends?: 'family'
  event_type?: EventTypeRule[]
  /**
   * Values recorded as kind only; their keys go to the vocabulary
   */
  opaque?: string[]
  /**
   * Objects keyed by data; the key becomes {key}
   */
  maps?: string[]
  unions?: UnionRule[]
  /**
   * Strings that identify; replaced by a number that keeps equality
   */
  ids?: string[]
  /**
   * Numbers that a host needs and that identify nothing; all others become 0
   */
  numbers?: string[]
  /**
   * Message strings matched against registry/diagnostics
   */
  diagnostics?: string[]
  /**
   * Strings that must stay valid base64
   */
  base64?: string[]
  /**
   * Strings of consecutive frames that concatenate to one text
   */
  deltas?: string[]
  /**
   * Strings of consecutive frames that concatenate to one JSON value, opaque as a whole
   */
  json_deltas?: string[]
  ambient?: AmbientRule[]
  /**
   * Event type that must come first
   */
  session?: string
  terminal: Terminal
  events: EventRule[]
  pairs?: PairRule[]
  /**
   * Further enum-like strings: path to the values that survive
   */
  enums?: {
    [k: string]: string[]
  }
}
/**
 * EventTypeRule names a frame. The first rule that applies wins. With path the value there is the name; then appends "/" and the value at a second path where it is present. With has the frame needs that path; it gets name where there is one.
 */
export interface EventTypeRule {
  path?: string
  then?: string
  has?: string
  name?: string
}
/**
 * UnionRule tells the elements of an array apart by the value of a key: $.content[text].id.
 */
export interface UnionRule {
  /**
   * The array without its brackets
   */
  path: string
  key: string
}
/**
 * AmbientRule names an event type or a path that may come at any time or not at all; it stays out of the shape. With a path, an event type of the form start/* stands for all that begin so.
 */
export interface AmbientRule {
  event_type: string
  path?: string
  reason: string
}
/**
 * Terminal says what ends a turn.
 */
export interface Terminal {
  /**
   * Event types that end a turn; none means that the process exit does
   */
  events?: string[]
  /**
   * How many of them a turn has
   */
  per_turn?: number
  /**
   * Event types that may still follow
   */
  after?: string[]
  /**
   * Event types that take back the end of a turn: the CLI tries again and will end it anew
   */
  reopen?: string[]
}
/**
 * EventRule maps frames to a neutral reference event. Fields gives the event's fields: name → path.
 */
export interface EventRule {
  event_type: string
  event: EventName
  /**
   * Elements of an array that give one event each: $.content[text]; fields and when may start with this path
   */
  each?: string
  fields?: {
    [k: string]: string
  }
  /**
   * Only where this path is present and not null
   */
  when?: string
  /**
   * Only where the value at when is this one
   */
  equals?: string | boolean
}
/**
 * PairRule says that what a frame of one type opens is closed by one of another with an equal id. The paths of the ids may lead through arrays: each element then opens or closes something of its own.
 */
export interface PairRule {
  open: string
  close: string
  id: string
  /**
   * Where the closing frame has the id, if not at the same place
   */
  close_id?: string
}
/**
 * Tool is a tool that the CLI may offer to the model, with the arguments that a script's intent needs.
 */
export interface Tool {
  name: string
  arguments: {
    [k: string]: unknown
  }
  /**
   * Tool that is offered in its place: the CLI takes the call, but lists the tool only after a search. A dot parts namespace and name
   */
  behind?: string
}
/**
 * SideRequest tells a model request that the CLI makes beside the conversation (a title, a topic, a check for quota) from those of the conversation itself. All conditions that are given must hold; at least one is given.
 */
export interface SideRequest {
  /**
   * What the CLI asks for
   */
  purpose: string
  /**
   * Condition: the model id asked for
   */
  model?: string
  /**
   * Condition: no tools are offered
   */
  without_tools?: boolean
  /**
   * Condition: the answer may have at most so many tokens
   */
  max_tokens?: number
  /**
   * Condition: the system prompt contains this text
   */
  instructions?: string
  /**
   * The whole text of the answer
   */
  answer: string
}
/**
 * Echo names a canary that a CLI prints by itself: redaction is known to have met it there.
 */
export interface Echo {
  canary: 'environment' | 'home' | 'git' | 'workspace' | 'model-server' | 'host-name'
  /**
   * @minItems 1
   */
  probes: [ProbeID, ...ProbeID[]]
}
/**
 * ForbiddenFlag is a flag that no argv of this agent may carry.
 */
export interface ForbiddenFlag {
  flag: string
  reason: string
}
/**
 * HelpCommand is one help page: argv after the executable.
 */
export interface HelpCommand {
  command: string
  argv: string[]
}
/**
 * ModelsForm is how a range of releases lists its models: arguments, and where the ids stand in what they print.
 */
export interface ModelsForm {
  releases?: string
  /**
   * Arguments behind the executable; may hold the placeholders of a mode but those of the prompt
   *
   * @minItems 1
   */
  argv: [string, ...string[]]
  /**
   * Regular expression with one group: the id in a line of text
   */
  line?: string
  /**
   * Whole line above the list, which ends at an empty line; the whole text is the list where this is left out
   */
  below?: string
  /**
   * In place of line: path of the ids in JSON: $.models[].id
   */
  json?: string
}
/**
 * HostForm is how one host spawns this CLI, and where that was read.
 */
export interface HostForm {
  host: string
  mode: ModeID
  source: string
  commit?: Commit
}
/**
 * Live says how modes run against the vendor's own servers, with an account, for a range of releases.
 */
export interface Live {
  /**
   * @minItems 1
   */
  modes: [ModeID, ...ModeID[]]
  releases?: string
  /**
   * Hosts that the CLI may reach: host:port or *.suffix:port; port 80 is plain HTTP, every other TLS
   *
   * @minItems 1
   */
  egress: [string, ...string[]]
  /**
   * Variables of the caller that hold a credential and are passed on; {secret} is the first one's value
   *
   * @minItems 1
   */
  secrets: [string, ...string[]]
  /**
   * Model id in place of that of model_api
   */
  model?: string
  /**
   * Environment beside that of agent and mode, of which what names {base_url} is left out; an empty value takes a variable away
   */
  set?: {
    [k: string]: string
  }
  /**
   * In place of the agent's; without them the agent's are left out that name {base_url}
   */
  home_files?: HomeFile[]
  /**
   * In place of the mode's, where that names the model server
   *
   * @minItems 1
   */
  argv?: [string, ...string[]]
  notes?: string
}
/**
 * Hole is a probe that cannot be observed in some releases, where nothing else in the record says why.
 */
export interface Hole {
  probe: ProbeID
  releases?: string
  mode?: ModeID
  reason: string
}
