// Generated from registry/schemas/source-evidence.schema.json; do not edit.
// schema-sha256: 95a2cac778c61d7db7283995a465ad635f593dccf6fece4bf6eefd8dc19ccc72

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
 * EvidenceLevel is a ValidityLevel that source evidence may carry.
 */
export type EvidenceLevel = 'source_derived' | 'vendor_documented' | 'synthetic_mock'
/**
 * Hash is a SHA-256 in the form "sha256:" followed by 64 lowercase hexadecimal characters.
 */
export type Hash = string
/**
 * RelPath is a slash-separated path relative to the registry root. It never leaves the root.
 */
export type RelPath = string
/**
 * Timestamp is a UTC time in ISO 8601 that ends in Z. Records are written in whole seconds; a fraction is read.
 */
export type Timestamp = string
/**
 * CLIVersion is the version token that the agent's version pattern extracted from the CLI's own output.
 */
export type CLIVersion = string

/**
 * SourceEvidence is something known but not seen at run time. It never proves support.
 */
export interface SourceEvidence {
  schema_version: number
  agent: AgentID
  protocol_family: Family
  validity_level: EvidenceLevel
  /**
   * Repository tag; commit; file path; documentation address or local fixture path
   *
   * @minItems 1
   */
  source_refs: [string, ...string[]]
  derived_shape: DerivedShape
  discovered_at: Timestamp
  cli_version?: CLIVersion
  extensions?: Extensions
}
/**
 * DerivedShape names a shape that was derived or built by hand.
 */
export interface DerivedShape {
  signature: Hash
  path: RelPath
}
/**
 * Extensions holds data of other parties under reverse-DNS keys (com.example.field).
 */
export interface Extensions {
  [k: string]: unknown
}
