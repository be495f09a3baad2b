import type {
  Agent, AgentIndex, ErrorCase, Evidence, Observation, Probe, Shape, SupportMatrix, TranscriptLine,
} from './types/index.js'

export type * from './types/index.js'

/** The version of records that this library reads. */
export const SCHEMA_VERSION: 1

/** Says that the package does not hold what was asked for, or is not what it should be. */
export class ContractsError extends Error {
  /** The file of the package that it is about. */
  readonly file?: string
  /** The shape that it is about. */
  readonly shape?: string
}

/** A neutral event of a parser. */
export interface ParserEvent {
  event: string
  fields?: Record<string, unknown>
}

/** The expected events of a parser for one shape. */
export interface Golden {
  parser: string
  shape: string
  events: ParserEvent[]
}

/** One way in which a parser's events are not the golden's. */
export interface EventDifference {
  kind: 'lost' | 'extra' | 'changed'
  /** Place in the golden, or in the parser's events when the event is extra; from 0. */
  index: number
  event: string
  fields?: string[]
}

/**
 * The sanitized transcript of a shape: that of the first accepted run. Runs of equal structure share it, so its texts may be
 * those of another probe, release or agent.
 */
export interface Fixture {
  shape: string
  /** Path inside the package, and absolute. */
  path: string
  file: string
  transcript: TranscriptLine[]
  /** What the CLI printed, joined; a frame of an RPC family is one line. */
  stdout: string
  stderr: string
  exit?: { event: 'exit' | 'timeout' | 'kill'; code: number | null; signal: string | null }
}

/** A shape that backs a claim, with what a parser test needs. */
export interface SupportedShape {
  agent: string
  protocolFamily: Shape['protocol_family']
  shape: string
  validityLevel: Shape['validity_level']
  backends: ('live' | 'scripted')[]
  versions: string[]
  platforms: string[]
  modes: string[]
  probes: string[]
  /** The recorded standard output. */
  sanitizedFixture: string
  /** Native event types that the golden's parser leaves raw. */
  allowedRawEvents: string[]
  /** Events that every probe behind the shape must show. */
  requiredDaemonEvents: string[]
  /** The golden's events; absent where the parser has no golden for the shape. */
  expectedDaemonEvents?: ParserEvent[]
}

export interface ObservationFilter {
  /** Id or alias. */
  agent?: string
  version?: string
  /** Id, with hyphens or underscores. */
  probe?: string
  /** Also those that were taken out of all claims. */
  withdrawn?: boolean
}

/** The manifest of the package. */
export interface Manifest {
  schema_version: number
  name: string
  version: string
  generated_at: string
  files: Record<string, { sha256: string; size: number }>
}

export function supportMatrix(): SupportMatrix
/** Throws where the package has no goldens of the parser at all. */
export function supportedShapes(options?: { parser?: string }): SupportedShape[]
/** Throws on an agent or a probe that the package does not know. */
export function observations(filter?: ObservationFilter): (Observation & { path: string; evidence?: Evidence })[]
export function agents(): AgentIndex['agents']
export function agent(id: string): Agent
export function shape(signature: string): Shape
export function fixture(signature: string): Fixture
export function golden(signature: string, parser?: string): Golden
export function probe(id: string): Probe
export function errorCases(): (ErrorCase & { path: string })[]
export function schemas(): Record<string, object>
export function resolveShape(signature: string): string
/** Takes what golden() gives, or its events. Throws on what is no list of events. */
export function compareEvents(golden: Golden | ParserEvent[], events: ParserEvent[]): EventDifference[]
export function manifest(): Manifest
/** Hashes every file again, offline. Throws a ContractsError that names the first file that differs. */
export function verifyManifest(): { name: string; version: string; files: number }
/** Registers how records of a kind with another schema_version become records of SCHEMA_VERSION. */
export function registerMigration(kind: string, from: number, migrate: (record: unknown) => unknown): void

declare const contracts: {
  ContractsError: typeof ContractsError
  SCHEMA_VERSION: typeof SCHEMA_VERSION
  supportMatrix: typeof supportMatrix
  supportedShapes: typeof supportedShapes
  observations: typeof observations
  agents: typeof agents
  agent: typeof agent
  shape: typeof shape
  fixture: typeof fixture
  golden: typeof golden
  probe: typeof probe
  errorCases: typeof errorCases
  schemas: typeof schemas
  resolveShape: typeof resolveShape
  compareEvents: typeof compareEvents
  manifest: typeof manifest
  verifyManifest: typeof verifyManifest
  registerMigration: typeof registerMigration
}
export default contracts
