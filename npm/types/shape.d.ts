// Generated from registry/schemas/shape.schema.json; do not edit.
// schema-sha256: 0cbe74cafcb5dcb88da8da9a829d927c9dfa769ad8638573a949b861c5a95d15

/**
 * Hash is a SHA-256 in the form "sha256:" followed by 64 lowercase hexadecimal characters.
 */
export type Hash = string
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
 * Transport is the framing of a stream.
 */
export type Transport = 'plain' | 'jsonl' | 'json' | 'json-rpc' | 'pi-rpc'
/**
 * FrameDirection is the side that sent a frame; "process" is the process itself.
 */
export type FrameDirection = 'server->cli' | 'cli->server' | 'process'
/**
 * FrameStream is a StreamName that a frame of a shape may have: standard error feeds stderr_class instead.
 */
export type FrameStream = 'stdin' | 'stdout' | 'none'
/**
 * JSONType is the kind of a value in a shape.
 */
export type JSONType = 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array' | 'unknown'
/**
 * StderrClass says what a CLI's standard error was about.
 */
export type StderrClass = 'none' | 'diagnostic' | 'auth' | 'quota' | 'upstream' | 'protocol' | 'debug' | 'unknown'
/**
 * ExitClass is how a process ended.
 */
export type ExitClass = 'success' | 'nonzero' | 'signal' | 'timeout' | 'unknown'

/**
 * Shape is the structure that a run printed, without its content. Its signature is its identity.
 */
export interface Shape {
  schema_version: number
  signature: Hash
  protocol_family: Family
  validity_level: ValidityLevel
  transport: Transport
  /**
   * Number of frame_shapes
   */
  frame_count: number
  /**
   * Sorted unique event types
   *
   * @minItems 1
   */
  event_types: [string, ...string[]]
  /**
   * @minItems 1
   */
  frame_shapes: [FrameShape, ...FrameShape[]]
  stderr_class?: StderrClass
  exit: ExitClass
}
/**
 * FrameShape is the merged structure of all frames of one (direction, stream, event_type).
 */
export interface FrameShape {
  direction: FrameDirection
  stream: FrameStream
  event_type: string
  paths: PathShape[]
  enums: {
    [k: string]: string[]
  }
}
/**
 * PathShape is one path of a frame and one type seen there.
 */
export interface PathShape {
  path: string
  type: JSONType
  /**
   * Every parent object seen in frames of this kind has the key; whatever its type
   */
  required: boolean
}
