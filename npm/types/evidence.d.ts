// Generated from registry/schemas/evidence.schema.json; do not edit.
// schema-sha256: dd8b2c49ddf331bb6d6be0e55b889eeec6ea3000cf4ce771e98f3e6708cbe154

/**
 * Hash is a SHA-256 in the form "sha256:" followed by 64 lowercase hexadecimal characters.
 */
export type Hash = string
/**
 * HTTPSURL is an absolute https:// address.
 */
export type HTTPSURL = string
/**
 * ToolVersion is the semantic version of one of this project's own tools.
 */
export type ToolVersion = string
/**
 * Timestamp is a UTC time in ISO 8601 that ends in Z. Records are written in whole seconds; a fraction is read.
 */
export type Timestamp = string
/**
 * ObservedLevel is a ValidityLevel that an observation may carry.
 */
export type ObservedLevel = 'runtime_observed' | 'confirmed' | 'community_confirmed' | 'server_variant'

/**
 * Evidence is the sidecar of an observation: what lets somebody audit it. It is append-only in promotions and withdrawn.
 */
export interface Evidence {
  schema_version: number
  sanitized_sha256: Hash
  fixture_sha256: Hash
  raw_sha256: Hash
  /**
   * How long the raw bundle is kept; 0 when it was discarded
   */
  retention_days: number
  workflow_run_url?: HTTPSURL | null
  runner: string
  binary_sha256?: Hash | null
  versions: ToolVersions
  isolation: Isolation
  /**
   * Requests that the CLI made to the model server
   */
  model_requests: number
  /**
   * Those that showed the model an image, where the script expects one
   */
  image_requests?: number
  /**
   * Runs that gave this signature in this capture
   */
  run_count: number
  attestation?: Attestation | null
  reproduction_url?: HTTPSURL | null
  promotions?: Promotion[]
  withdrawn?: Withdrawal | null
  /**
   * The sanitized transcript was read back and scanned before it was written
   */
  redaction_checked: boolean
}
/**
 * ToolVersions are the versions of what made a record.
 */
export interface ToolVersions {
  tool: ToolVersion
  normalizer: ToolVersion
  redaction: ToolVersion
  dialect: Hash
}
/**
 * Isolation says what the child could not reach.
 */
export interface Isolation {
  kind: 'namespaces' | 'process-group' | 'none'
  namespaces?: string[]
  network: 'loopback-only' | 'host' | 'allow-list'
  user: 'unprivileged' | 'same'
  /**
   * run-folders: nothing else could be written to
   */
  filesystem?: 'run-folders'
  landlock?: Landlock | null
  limits?: Limits | null
  cgroup?: Cgroup | null
  /**
   * Host names that the child tried to look up; <host> stands for what is no public name, <npm-registry> for that of a package registry
   *
   * @maxItems 100
   */
  egress_attempts?: string[]
  /**
   * Whether attempts to reach bare addresses were listed; counted: the kernel's count alone told of them
   */
  connects?: 'listed' | 'counted'
  /**
   * Addresses with port that the child tried to reach without a name; <metadata> stands for those of a cloud's metadata service, <address> for those that are not shown
   *
   * @maxItems 100
   */
  egress_addresses?: string[]
  /**
   * What left by the allow-list of a live capture
   *
   * @maxItems 100
   */
  egress?: EgressUse[]
}
/**
 * Landlock is the kernel's own lock on what a program may do.
 */
export interface Landlock {
  /**
   * Version that the kernel has
   */
  abi: number
  /**
   * It forbade changes outside of the run folders; else only signals and sockets to the outside
   */
  files?: boolean
}
/**
 * Limits are what a run could use at most; 0 is no limit.
 */
export interface Limits {
  disk_bytes?: number
  memory_bytes?: number
  processes?: number
}
/**
 * Cgroup says which of the limits the kernel held by a control group of the run's own. The others were sampled, or counted by user.
 */
export interface Cgroup {
  /**
   * Of the kernel's interface
   */
  version: 1 | 2
  /**
   * @minItems 1
   */
  limits: ['memory' | 'processes', ...('memory' | 'processes')[]]
}
/**
 * EgressUse is what left by one entry of the allow-list of a live capture. Contents are never recorded, nor opened where they are TLS.
 */
export interface EgressUse {
  /**
   * The entry: host:port or *.suffix:port
   */
  to: string
  connections: number
  sent_bytes: number
  received_bytes: number
}
/**
 * Attestation is a maintainer's statement that the raw artifact was checked before publication.
 */
export interface Attestation {
  by: string
  at: Timestamp
  statement: string
}
/**
 * Promotion raises the level of an observation, with its reason.
 */
export interface Promotion {
  to: ObservedLevel
  at: Timestamp
  reason: string
}
/**
 * Withdrawal takes an observation out of all claims.
 */
export interface Withdrawal {
  at: Timestamp
  reason: string
}
