// Generated from registry/schemas/releases.schema.json; do not edit.
// schema-sha256: 4dabe58c2030589e83a8a9a70eeec87ef3e49ab2b79a855dfacb04b967ba5ec7

/**
 * AgentID names an agent: the file registry/agents/<id>.json.
 */
export type AgentID = string
/**
 * Timestamp is a UTC time in ISO 8601 that ends in Z. Records are written in whole seconds; a fraction is read.
 */
export type Timestamp = string
/**
 * CLIVersion is the version token that the agent's version pattern extracted from the CLI's own output.
 */
export type CLIVersion = string

/**
 * ReleaseList is registry/releases/<agent>.json: what discovery saw.
 */
export interface ReleaseList {
  schema_version: number
  agent: AgentID
  seen_at: Timestamp
  channels: ChannelHead[]
  releases: ReleaseRecord[]
}
/**
 * ChannelHead is the current release of a channel.
 */
export interface ChannelHead {
  name: string
  version: CLIVersion
}
/**
 * ReleaseRecord is one release of an upstream.
 */
export interface ReleaseRecord {
  version: CLIVersion
  published_at?: Timestamp
  channel: string
  deprecated?: boolean
  upstream: 'npm' | 'github' | 'homebrew' | 'vendor'
}
