// Generated from registry/schemas/diagnostics.schema.json; do not edit.
// schema-sha256: d9c9d599fef56410f172c744413a87e805651456cebacbe2952264d23ba159d4

/**
 * AgentID names an agent: the file registry/agents/<id>.json.
 */
export type AgentID = string
/**
 * StderrClass says what a CLI's standard error was about.
 */
export type StderrClass = 'none' | 'diagnostic' | 'auth' | 'quota' | 'upstream' | 'protocol' | 'debug' | 'unknown'

/**
 * Diagnostics is one file of registry/diagnostics: message templates that may survive redaction.
 */
export interface Diagnostics {
  schema_version: number
  agent: AgentID
  /**
   * @minItems 1
   */
  templates: [DiagnosticTemplate, ...DiagnosticTemplate[]]
}
/**
 * DiagnosticTemplate is literal text with typed holes: "retrying {count}/{total} in {duration}". Example and counter-example keep the template honest; a test walks them.
 */
export interface DiagnosticTemplate {
  id: string
  text: string
  /**
   * Hole → type: int duration url path id text literal version enum http-reason template
   */
  holes?: {
    [k: string]: string
  }
  class: StderrClass
  /**
   * Where the message was seen or is defined
   */
  source: string
  releases?: string
  /**
   * @minItems 1
   */
  match: [string, ...string[]]
  /**
   * @minItems 1
   */
  no_match: [string, ...string[]]
}
