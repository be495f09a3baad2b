// Generated from registry/schemas/observation.schema.json; do not edit.
// schema-sha256: da8a93db8c930aea57ead8e976947461605685d43741c783794c655263debbdc

/**
 * AgentID names an agent: the file registry/agents/<id>.json.
 */
export type AgentID = string
/**
 * CLIVersion is the version token that the agent's version pattern extracted from the CLI's own output.
 */
export type CLIVersion = string
/**
 * Platform is an operating system and architecture in Node's names.
 */
export type Platform = 'darwin-arm64' | 'darwin-x64' | 'linux-x64' | 'linux-arm64' | 'win32-x64' | 'unknown'
/**
 * ProbeID names a probe: the folder probes/<id>. The canonical spelling has hyphens.
 */
export type ProbeID = string
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
 * ObservedLevel is a ValidityLevel that an observation may carry.
 */
export type ObservedLevel = 'runtime_observed' | 'confirmed' | 'community_confirmed' | 'server_variant'
/**
 * Hash is a SHA-256 in the form "sha256:" followed by 64 lowercase hexadecimal characters.
 */
export type Hash = string
/**
 * StdinMode says how the prompt reaches the CLI and when its standard input closes.
 */
export type StdinMode = 'none' | 'text-prompt' | 'jsonl-open' | 'prompt-file' | 'rpc'
/**
 * ModeID names one way to start an agent, unique within the agent.
 */
export type ModeID = string
/**
 * Timestamp is a UTC time in ISO 8601 that ends in Z. Records are written in whole seconds; a fraction is read.
 */
export type Timestamp = string
/**
 * HTTPSURL is an absolute https:// address.
 */
export type HTTPSURL = string
/**
 * ArtifactVisibility says what became of the raw bundle.
 */
export type ArtifactVisibility = 'private' | 'public' | 'discarded_after_redaction'
/**
 * Backend says what answered the CLI's model requests.
 */
export type Backend = 'live' | 'scripted'
/**
 * Route says who started the CLI.
 */
export type Route = 'driven' | 'recorded'
/**
 * ToolVersion is the semantic version of one of this project's own tools.
 */
export type ToolVersion = string
/**
 * RedactionStatus is the outcome of redaction. Only "passed" may be committed or published.
 */
export type RedactionStatus = 'passed' | 'failed' | 'manual_review_required'
/**
 * RelPath is a slash-separated path relative to the registry root. It never leaves the root.
 */
export type RelPath = string
/**
 * Commit is an abbreviated or full git commit of a consumer.
 */
export type Commit = string
/**
 * ReplayStatus is what a consumer's parser made of the fixture.
 */
export type ReplayStatus = 'compatible' | 'incompatible' | 'not_run'

/**
 * Observation records one run of a real CLI: what ran, under which conditions, and which shape it printed. It lives at observations/<agent>/<cli_version>/<platform>/<captured_at>.<probe>.observation.json.
 */
export interface Observation {
  schema_version: number
  agent: AgentID
  cli_version: CLIVersion
  platform: Platform
  probe: ProbeID
  protocol_family: Family
  validity_level: ObservedLevel
  install: Install
  command: Command
  capture: CaptureInfo
  redaction: RedactionInfo
  shape: ObservedShape
  /**
   * What the consumer's own parser made of the fixture
   */
  parser_replay?: ParserReplay | null
  extensions?: Extensions
}
/**
 * Install says where the executable came from.
 */
export interface Install {
  /**
   * npm:<package>@<version>; github:; brew:; vendor:; checkout:; binary:; or manual for an executable given by hand
   */
  source: string
  /**
   * SHA-256 of the executable or script that ran
   */
  binary_sha256?: Hash | null
  resolved?: Resolved | null
  /**
   * What started the script; absent for a native executable
   */
  runtime?: RuntimeInstall | null
}
/**
 * Resolved is the exact package that an install resolved to.
 */
export interface Resolved {
  /**
   * Name and exact version
   */
  package: string
  /**
   * Subresource integrity that the package manager verified
   */
  integrity: string
  /**
   * Package that held the executable; when it is another one
   */
  platform_package?: string
  /**
   * Of a script: SHA-256 over the name, version and integrity of every package installed with it
   */
  tree_sha256?: Hash | null
}
/**
 * RuntimeInstall is the runtime that started a script.
 */
export interface RuntimeInstall {
  kind: 'node'
  version: CLIVersion
  /**
   * Name and exact version of the package that held it
   */
  package: string
  integrity: string
  binary_sha256: Hash
}
/**
 * Command says how the CLI was started.
 */
export interface Command {
  /**
   * argv after the executable; paths and secrets as {placeholders}
   */
  argv_template: string[]
  stdin_mode: StdinMode
  mode?: ModeID
}
/**
 * CaptureInfo says when, where and by what a run was recorded.
 */
export interface CaptureInfo {
  captured_at: Timestamp
  /**
   * Runner image or kind of machine; never a host name
   */
  runner: string
  workflow_run_url?: HTTPSURL | null
  raw_stdout_sha256?: Hash | null
  raw_stderr_sha256?: Hash | null
  raw_client_transcript_sha256: Hash
  raw_artifact_visibility: ArtifactVisibility
  backend?: Backend
  route?: Route
  tool_version?: ToolVersion
  normalizer_version?: ToolVersion
}
/**
 * RedactionInfo says which redaction ran and how it ended.
 */
export interface RedactionInfo {
  tool_version: ToolVersion
  status: RedactionStatus
}
/**
 * ObservedShape names the shape and keeps what belongs to this run but not to the shape's identity.
 */
export interface ObservedShape {
  signature: Hash
  path: RelPath
  vocabulary?: Vocabulary | null
  /**
   * Ambient event types and paths that were seen
   */
  ambient?: string[]
  /**
   * Invariants of the dialect that the run broke
   */
  violations?: string[]
}
/**
 * Vocabulary is what the CLI calls things: sorted, unique.
 */
export interface Vocabulary {
  /**
   * Tool names that the CLI offered to the model
   */
  tools?: string[]
  /**
   * Model ids that the CLI asked for or, in the mode models, lists
   */
  models?: string[]
  /**
   * Keys seen under opaque paths
   */
  keys?: string[]
  /**
   * Capabilities that the agent advertises: keys, joined by dots, of those that it does not deny
   */
  capabilities?: string[]
  /**
   * Flags of each help page of the CLI
   */
  help?: HelpPage[]
}
/**
 * HelpPage is the table of flags that one help command prints.
 */
export interface HelpPage {
  /**
   * Sub-command; empty for the CLI itself
   */
  command: string
  /**
   * Unavailable is set where the command failed: the release has no such sub-command.
   */
  unavailable?: boolean
  flags: HelpFlag[]
}
/**
 * HelpFlag is one flag as the help text declares it. Its description is not kept.
 */
export interface HelpFlag {
  flag: string
  /**
   * Other spellings
   */
  aliases?: string[]
  /**
   * Placeholder of the value: <needed> or [optional]; none for a switch
   */
  value?: string
  /**
   * Values that the text declares
   */
  values?: string[]
  /**
   * Declared default where it is a token; else <text>
   */
  default?: string
  deprecated?: boolean
}
/**
 * ParserReplay is the result of a consumer's parser; it stays not_run where none ran.
 */
export interface ParserReplay {
  open_design_commit?: Commit | null
  status?: ReplayStatus
  golden?: RelPath | null
}
/**
 * Extensions holds data of other parties under reverse-DNS keys (com.example.field).
 */
export interface Extensions {
  [k: string]: unknown
}
