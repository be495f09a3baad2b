// Generated from registry/schemas/client.schema.json; do not edit.
// schema-sha256: bfdba66291ade39a7b6bdc8838584fee13d35fd9f2ed925412c034e1d38d7310

/**
 * ClientID names a client profile: the file registry/clients/<id>.json.
 */
export type ClientID = string
/**
 * Commit is an abbreviated or full git commit of a consumer.
 */
export type Commit = string
/**
 * ACPStep is one step of a host's turn.
 */
export type ACPStep = 'initialize' | 'authenticate' | 'session/new' | 'model' | 'session/prompt'
/**
 * ModelMethod is a way to select a model.
 */
export type ModelMethod = 'config-option' | 'set-model'
/**
 * UnknownRequest is what a host does with a request of the agent that it does not implement.
 */
export type UnknownRequest = 'method-not-found' | 'ignore'
/**
 * AgentID names an agent: the file registry/agents/<id>.json.
 */
export type AgentID = string

/**
 * Client is a client profile: how one host speaks the RPC families. What a runner sends is part of a contract, so it is data with a source, and not the habit of a library.
 */
export interface Client {
  schema_version: number
  id: ClientID
  description?: string
  /**
   * @minItems 1
   */
  sources: [ClientSource, ...ClientSource[]]
  /**
   * How the host speaks acp-json-rpc/v1
   */
  acp?: ACPClient | null
  /**
   * How the host speaks the RPC family in which it sends commands and the CLI events
   */
  commands?: CommandClient | null
}
/**
 * ClientSource is where the host's frames were read.
 */
export interface ClientSource {
  repository: string
  commit: Commit
  path: string
}
/**
 * ACPClient is a host's side of the Agent Client Protocol.
 */
export interface ACPClient {
  protocol_version: number
  client_capabilities: {
    [k: string]: unknown
  }
  client_info: ClientInfo
  /**
   * What the host does, in this order; authenticate where the mode names a method, model where the mode selects one
   *
   * @minItems 3
   */
  steps: [ACPStep, ACPStep, ACPStep, ...ACPStep[]]
  /**
   * Ways to select a model, in order of preference; config-option is taken where the agent offers such an option
   */
  model_selection?: ModelMethod[]
  /**
   * Error codes of a model selection after which the host goes on with the agent's own model
   */
  model_errors?: number[]
  /**
   * The option that the host takes when it allows: the first rule that an option fits
   *
   * @minItems 1
   */
  permission: [PermitRule, ...PermitRule[]]
  unknown_requests: UnknownRequest
  /**
   * The host continues a session by session/load, with the folder and servers of a new one
   */
  loads_sessions?: boolean
  cancel: CancelForm
  /**
   * How the host links to an image, by agent: the first form that fits; without one the path alone
   */
  images?: LinkForm[]
}
/**
 * ClientInfo is how the host introduces itself.
 */
export interface ClientInfo {
  name: string
  version: string
}
/**
 * PermitRule fits an option of a permission request by its id or by its kind.
 */
export interface PermitRule {
  option_id?: string
  kind?: 'allow_once' | 'allow_always'
}
/**
 * CancelForm is how a host cancels a turn.
 */
export interface CancelForm {
  /**
   * session/cancel carries an id, although the protocol makes it a notification
   */
  as_request?: boolean
  /**
   * Standard input closes at once, without waiting for the answer of the prompt
   */
  closes_stdin?: boolean
}
/**
 * LinkForm is how a host links to an image in a prompt.
 */
export interface LinkForm {
  /**
   * Agents that get this form; none means all
   */
  agents?: AgentID[]
  /**
   * The link is a file URL and not a path
   */
  file_url?: boolean
  /**
   * The link says the media type
   */
  media_type?: boolean
}
/**
 * CommandClient is a host's side of the RPC family in which it sends commands and the CLI events.
 */
export interface CommandClient {
  first_id: number
  /**
   * Type of the frame at which the turn is over for the host
   */
  ends_at: string
  /**
   * Confirm is the answer to a yes-or-no dialog; a selection takes the first option.
   */
  confirm: boolean
  /**
   * The turn is over for the host when it has aborted; standard input stays open until the process is ended
   */
  abort_ends?: boolean
  /**
   * Methods of UI requests that expect no answer
   */
  silent: string[]
}
