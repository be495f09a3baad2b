// Generated from registry/schemas/transcript.schema.json; do not edit.
// schema-sha256: febc14fc7c73522383a9109bfd89db19c8bd30b5d07990f1f1e65ec9ec1f6e63

/**
 * TranscriptLine is one line of a sanitized transcript: a stream chunk, an RPC frame or a process event.
 */
export type TranscriptLine = StreamChunk | RPCFrame | ProcessLine
/**
 * StreamName is a standard stream; "none" belongs to process frames of a shape.
 */
export type StreamName = 'stdin' | 'stdout' | 'stderr'
/**
 * ProcessEvent is an event of the child process.
 */
export type ProcessEvent = 'spawn' | 'exit' | 'timeout' | 'kill'

/**
 * Bytes of a standard stream: exactly one of data and data_ref.
 */
export interface StreamChunk {
  dir: 'server->cli' | 'cli->server'
  stream: StreamName
  /**
   * Monotonic milliseconds since the spawn
   */
  at_ms: number
  data?: string
  data_ref?: string
}
/**
 * One message of a protocol in which both sides speak.
 */
export interface RPCFrame {
  dir: 'server->cli' | 'cli->server'
  stream: StreamName
  /**
   * Monotonic milliseconds since the spawn
   */
  at_ms: number
  frame: {
    [k: string]: unknown
  }
}
/**
 * An event of the child process. An exit has either exit_code or signal.
 */
export interface ProcessLine {
  dir: 'process'
  event: ProcessEvent
  /**
   * Monotonic milliseconds since the spawn
   */
  at_ms: number
  exit_code?: number | null
  signal?: string | null
}
