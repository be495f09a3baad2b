// Generated from registry/schemas/probe.schema.json; do not edit.
// schema-sha256: f43e74e7cabaeebce7fc1dae9b356124ad3ade57e4bd5e358daa2df3be42d597

/**
 * ProbeID names a probe: the folder probes/<id>. The canonical spelling has hyphens.
 */
export type ProbeID = string
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
 * FindingName is something that a probe forbids in a sanitized transcript.
 */
export type FindingName = 'raw_secret' | 'local_home_path' | 'email' | 'signed_url' | 'account_id'
/**
 * ExitClass is how a process ended.
 */
export type ExitClass = 'success' | 'nonzero' | 'signal' | 'timeout' | 'unknown'
/**
 * RunSignal is a signal that hosts send to end a run.
 */
export type RunSignal = 'SIGINT' | 'SIGTERM'
/**
 * PermissionPolicy says how the host answers a permission request.
 */
export type PermissionPolicy = 'allow' | 'deny' | 'cancel'
/**
 * CancelMoment is when the host cancels: right behind the prompt, at the first text or tool call, or in place of an answer to a permission request.
 */
export type CancelMoment = 'prompt' | 'text' | 'tool' | 'permission'
/**
 * ACPStep is one step of a host's turn.
 */
export type ACPStep = 'initialize' | 'authenticate' | 'session/new' | 'model' | 'session/prompt'

/**
 * Probe is one folder probes/<id>, assembled: a fixed prompt, workspace and script that exercises one behaviour. Each part is a file of the folder: prompt.md, fixture-files/, expected-min-events.json, env-policy.json, script.json, host.json.
 */
export interface Probe {
  id: ProbeID
  prompt?: string
  /**
   * Name → content
   */
  fixture_files?: {
    [k: string]: string
  }
  expected_min_events?: MinEvents | null
  env_policy?: EnvPolicy | null
  script?: Script | null
  host?: HostPolicy | null
}
/**
 * MinEvents is expected-min-events.json: what a capture must show before it counts.
 */
export interface MinEvents {
  description?: string
  /**
   * What the probe starts: a mode of the agent or its version or help command or its listing of models; host: nothing; only a host's own runs are recorded under it
   */
  kind?: 'run' | 'version' | 'help' | 'models' | 'host'
  must_see: EventName[]
  optional?: EventName[]
  forbidden: FindingName[]
  time_limits?: TimeLimits | null
  /**
   * How the run may end; where it is left out any end will do but a timeout
   */
  exit?: ExitClass[]
  run?: RunConditions | null
}
/**
 * TimeLimits bound a run, in seconds.
 */
export interface TimeLimits {
  total?: number
  first_byte?: number
  inactivity?: number
}
/**
 * RunConditions are what a probe changes about a run of a mode.
 */
export interface RunConditions {
  /**
   * How often prompt.md is repeated to make the prompt
   */
  prompt_repeat?: number
  /**
   * The probe runs only in modes that take the prompt there
   */
  prompt_on?: 'stdin'
  /**
   * Arguments behind those of the mode
   *
   * @minItems 1
   */
  extra_argv?: [string, ...string[]]
  /**
   * Standard input stays open after what the mode writes
   */
  stdin_open?: boolean
  /**
   * The trust_argv of the mode is left out
   */
  untrusted?: boolean
  /**
   * The run is given an MCP server with one tool, lookup
   */
  mcp_server?: boolean
  /**
   * The run continues the session of an earlier run of the same probe, in the same home and workspace
   */
  resume?: boolean
  signal?: RunSignal
}
/**
 * EnvPolicy is env-policy.json: what an error probe takes away from the child, or sets.
 */
export interface EnvPolicy {
  /**
   * Variable names; {secrets} stands for the agent's own secret names
   */
  unset?: string[]
  set?: {
    [k: string]: string
  }
  /**
   * Whether home files that hold a {secret} are left out
   */
  credential_files?: 'remove' | 'keep'
  /**
   * break: text that is no configuration takes the place of the agent's own
   */
  home_files?: 'keep' | 'break'
}
/**
 * Script is script.json: what the model server answers, step by step, one step a model request.
 */
export interface Script {
  description?: string
  /**
   * Requests says whether a run without any model request is an error (required, the default) or an answer (optional).
   */
  requests?: 'required' | 'optional'
  /**
   * What a model request must carry
   */
  expects?: 'image'
  usage: Usage
  /**
   * @minItems 1
   */
  steps: [ScriptStep, ...ScriptStep[]]
}
/**
 * Usage is the token usage that each answer reports.
 */
export interface Usage {
  input_tokens: number
  cached_tokens: number
  output_tokens: number
  reasoning_tokens: number
}
/**
 * ScriptStep is one answer; exactly one of its fields is set. The last step repeats for further requests when Repeat is true; otherwise a request beyond the script is answered with an error and is a finding.
 */
export interface ScriptStep {
  /**
   * Assistant text in the deltas given
   */
  text?: string[]
  tool?: ToolStep | null
  error?: ErrorStep | null
  drop?: DropStep | null
  stall?: StallStep | null
  /**
   * A complete answer without content
   */
  empty?: boolean
  repeat?: boolean
}
/**
 * ToolStep calls a tool. The intent is looked up in the mode's tools; the first one that the CLI offers is called.
 */
export interface ToolStep {
  intent: string
}
/**
 * ErrorStep answers with an HTTP status and a body in the dialect's own error form.
 */
export interface ErrorStep {
  status: number
  type: string
  message: string
  /**
   * Seconds in the Retry-After header
   */
  retry_after?: number
}
/**
 * DropStep sends the start of a text answer and breaks it off.
 */
export interface DropStep {
  text: string[]
  /**
   * cut: the connection; end: the body ends as if all were said; malformed: an event that is no JSON and then the end
   */
  how?: 'cut' | 'end' | 'malformed'
}
/**
 * StallStep sends the start of a text answer and then nothing, with the connection open.
 */
export interface StallStep {
  text: string[]
  /**
   * How long the connection stays open
   */
  seconds: number
}
/**
 * HostPolicy is host.json of a probe: what the host does in the turn besides sending the prompt.
 */
export interface HostPolicy {
  permission?: PermissionPolicy
  cancel_at?: CancelMoment
  mcp_servers?: MCPServer[]
  /**
   * @maxItems 10
   */
  images?:
    | []
    | [Image]
    | [Image, Image]
    | [Image, Image, Image]
    | [Image, Image, Image, Image]
    | [Image, Image, Image, Image, Image]
    | [Image, Image, Image, Image, Image, Image]
    | [Image, Image, Image, Image, Image, Image, Image]
    | [Image, Image, Image, Image, Image, Image, Image, Image]
    | [Image, Image, Image, Image, Image, Image, Image, Image, Image]
    | [Image, Image, Image, Image, Image, Image, Image, Image, Image, Image]
  /**
   * Requests that the host makes in place of its turn
   */
  script?: HostScript | null
}
/**
 * MCPServer is a server that the host hands to the session. The command may hold {cwd} and {home}.
 */
export interface MCPServer {
  name: string
  command: string
  args?: string[]
  env?: {
    [k: string]: string
  }
}
/**
 * Image is an attachment of the prompt. It is also written into the workspace.
 */
export interface Image {
  name: string
  mime_type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  base64: string
}
/**
 * HostScript is what a host asks in place of its turn, one request after the other, whatever the answers are. What stays without an answer for a while is passed over.
 */
export interface HostScript {
  after?: ACPStep
  /**
   * @minItems 1
   * @maxItems 50
   */
  requests: [HostRequest, ...HostRequest[]]
}
/**
 * HostRequest is one request of a host. Strings in it may hold {cwd}, and {session}, {session_mode}, {session_model}: what the session said of itself, or "none".
 */
export interface HostRequest {
  method: string
  params: {
    [k: string]: unknown
  }
}
