// Generated from registry/schemas/agents-index.schema.json; do not edit.
// schema-sha256: 7a54a616338f8c762ba171e44b564ccba6b50a2add4d77f3a1dd86d8f0cac4f8

/**
 * AgentID names an agent: the file registry/agents/<id>.json.
 */
export type AgentID = string
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
 * ModeID names one way to start an agent, unique within the agent.
 */
export type ModeID = string
/**
 * CredentialModel says how the CLI gets its credentials.
 */
export type CredentialModel = 'env-key' | 'login-file' | 'device-code' | 'none'
/**
 * RangePolicy says how far a claim reaches beyond the releases that were captured.
 */
export type RangePolicy = 'exact' | 'patch'

/**
 * AgentIndex is the generated registry/agents.json.
 */
export interface AgentIndex {
  schema_version: number
  agents: AgentIndexEntry[]
}
/**
 * AgentIndexEntry summarises one agent file.
 */
export interface AgentIndexEntry {
  id: AgentID
  name: string
  aliases?: string[]
  tier: number
  protocol_families: Family[]
  modes: ModeID[]
  credential_model: CredentialModel
  freshness_days: number
  range_policy: RangePolicy
  not_capturable?: string
}
