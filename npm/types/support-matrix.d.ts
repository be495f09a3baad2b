// Generated from registry/schemas/support-matrix.schema.json; do not edit.
// schema-sha256: 804a3cb0661e73504a64f42da0459a23e1ac2352a5d54036796f8a4fd2a1b57d

/**
 * Timestamp is a UTC time in ISO 8601 that ends in Z. Records are written in whole seconds; a fraction is read.
 */
export type Timestamp = string
/**
 * Commit is an abbreviated or full git commit of a consumer.
 */
export type Commit = string
/**
 * AgentID names an agent: the file registry/agents/<id>.json.
 */
export type AgentID = string
/**
 * Platform is an operating system and architecture in Node's names.
 */
export type Platform = 'darwin-arm64' | 'darwin-x64' | 'linux-x64' | 'linux-arm64' | 'win32-x64' | 'unknown'
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
 * SupportStatus is the status of a matrix entry and of an installed CLI.
 */
export type SupportStatus =
  | 'local_shape_verified'
  | 'version_range_verified'
  | 'server_variant_possible'
  | 'newer_than_verified'
  | 'too_old'
  | 'known_breaking'
  | 'known_breaking_shape'
  | 'active_shape_unknown'
  | 'unknown'
/**
 * Hash is a SHA-256 in the form "sha256:" followed by 64 lowercase hexadecimal characters.
 */
export type Hash = string
/**
 * ValidityLevel says how a shape is known.
 */
export type ValidityLevel =
  | 'runtime_observed'
  | 'confirmed'
  | 'community_confirmed'
  | 'server_variant'
  | 'source_derived'
  | 'vendor_documented'
  | 'synthetic_mock'
/**
 * Backend says what answered the CLI's model requests.
 */
export type Backend = 'live' | 'scripted'
/**
 * CLIVersion is the version token that the agent's version pattern extracted from the CLI's own output.
 */
export type CLIVersion = string
/**
 * VariantStatus is the status of a server variant.
 */
export type VariantStatus = 'compatible' | 'compatible_pending_fixture' | 'breaking'
/**
 * OneMany is a string or a non-empty list of strings in JSON.
 */
export type OneMany = string | [string, ...string[]]
/**
 * AllowRun is what a host should do with an installed CLI.
 */
export type AllowRun = 'allow' | 'warn' | 'block'

/**
 * SupportMatrix is the generated summary of claims.
 */
export interface SupportMatrix {
  schema_version: number
  generated_at: Timestamp
  open_design_min_commit?: Commit | null
  agents: MatrixEntry[]
}
/**
 * MatrixEntry is the claim about one agent.
 */
export interface MatrixEntry {
  agent: AgentID
  /**
   * @minItems 1
   */
  version_ranges: [string, ...string[]]
  /**
   * @minItems 1
   */
  platforms: [Platform, ...Platform[]]
  /**
   * @minItems 1
   */
  protocol_families: [Family, ...Family[]]
  support_status: SupportStatus
  /**
   * @minItems 1
   */
  observed_shapes: [MatrixShape, ...MatrixShape[]]
  last_observed_at: Timestamp
  latest_verified?: CLIVersion | null
  latest_seen?: CLIVersion | null
  server_variants?: VariantClaim[]
  known_breaking_shapes?: BreakingShape[]
  policy?: Policy | null
  notes?: string[]
  extensions?: Extensions
}
/**
 * MatrixShape is one shape that backs a claim.
 */
export interface MatrixShape {
  shape: Hash
  validity_level: ValidityLevel
  observed_at: Timestamp
  /**
   * What answered the model requests of the runs behind the shape
   */
  backends?: Backend[]
}
/**
 * VariantClaim is one of several shapes that are active for one version.
 */
export interface VariantClaim {
  shape: Hash
  status: VariantStatus
}
/**
 * BreakingShape is a shape that is known to break a consumer.
 */
export interface BreakingShape {
  shape: Hash
  reason: string
  evidence: OneMany
}
/**
 * Policy is what a host should do.
 */
export interface Policy {
  allow_run?: AllowRun
}
/**
 * Extensions holds data of other parties under reverse-DNS keys (com.example.field).
 */
export interface Extensions {
  [k: string]: unknown
}
