// What a host asks this package: which shapes are supported, what a CLI printed, and what a parser should make of it.
import { ContractsError, SCHEMA_VERSION, absolute, files, has, json, manifest, record, registerMigration, text, verifyManifest } from './data.js'
import { compareEvents } from './replay.js'

export { ContractsError, SCHEMA_VERSION, compareEvents, manifest, registerMigration, verifyManifest }

// A filter that is spelled otherwise would be none: a pass that proves nothing.
function known(options, names) {
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  if (unknown !== undefined) throw new ContractsError(`there is no option ${unknown}; there are ${names.join(', ')}`)
}

const stem = (signature) => String(signature).replace(':', '-')

/** Follows migrated shapes to the signature of today. */
export function resolveShape(signature) {
  const aliases = has('data/shape-aliases.json') ? json('data/shape-aliases.json') : {}
  let current = String(signature).replace('sha256-', 'sha256:')
  for (let i = Object.keys(aliases).length; i > 0 && Object.hasOwn(aliases, current); i--) current = aliases[current]
  return current
}

// The file of a shape below a folder. Shapes are named by hash, so at most one family has it.
function find(folder, signature, suffix) {
  const name = `/${stem(resolveShape(signature))}.`
  const path = files(`data/${folder}/`).find((p) => p.includes(name) && p.endsWith(suffix))
  if (!path) throw new ContractsError(`the package has no ${folder} for the shape ${resolveShape(signature)}`, { shape: String(signature) })
  return path
}

/** The support matrix. */
export function supportMatrix() {
  return record('support-matrix', 'data/support-matrix.json')
}

/** The index of agents. */
export function agents() {
  return record('agents-index', 'data/agents.json').agents
}

/** The full record of one agent, by id or alias. */
export function agent(name) {
  const path = `data/agents/${name}.json`
  if (has(path)) return record('agent', path)
  const ids = agents().map((a) => a.id)
  for (const id of ids) {
    const path = `data/agents/${id}.json`
    if (!has(path)) continue
    const found = record('agent', path)
    if (found.aliases?.includes(name)) return found
  }
  throw new ContractsError(`the package has no agent of this id; it has ${ids.join(', ')}`)
}

/** All observations, sorted by path; withdrawn ones only on request. An agent or probe that the package does not know is an error. */
export function observations(filter = {}) {
  known(filter, ['agent', 'version', 'probe', 'withdrawn'])
  const { version, withdrawn = false } = filter
  const id = filter.agent && agent(filter.agent).id
  const probe = filter.probe && probePath(filter.probe).id
  const found = []
  for (const path of files('data/observations/')) {
    if (!path.endsWith('.observation.json')) continue
    const observation = record('observation', path)
    if ((id && observation.agent !== id) || (version && observation.cli_version !== version) || (probe && observation.probe !== probe)) continue
    const evidence = evidenceOf(path)
    if (withdrawn || !evidence?.withdrawn) found.push({ ...observation, path, evidence })
  }
  return found
}

function evidenceOf(path) {
  const sidecar = path.replace(/\.observation\.json$/, '.evidence.json')
  return has(sidecar) ? record('evidence', sidecar) : undefined
}

/** The shape record of a signature. */
export function shape(signature) {
  return record('shape', find('shapes', signature, '.shape.json'))
}

/**
 * The sanitized transcript of a shape: that of the first accepted run. Runs of equal structure share it, so its texts may be
 * those of another probe, release or agent than the one whose signature was asked for.
 */
export function fixture(signature) {
  const path = find('fixtures', signature, '.jsonl')
  const transcript = text(path).split('\n').filter(Boolean).map((line) => JSON.parse(line))
  // The RPC families are recorded as parsed frames; each was a line.
  const bytes = (e) => (e.frame === undefined ? (e.data ?? '') : JSON.stringify(e.frame) + '\n')
  const stream = (name) => transcript.filter((e) => e.dir === 'cli->server' && e.stream === name).map(bytes).join('')
  const end = transcript.findLast((e) => e.dir === 'process' && e.event !== 'spawn')
  return {
    shape: resolveShape(signature),
    path,
    file: absolute(path),
    transcript,
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    exit: end && { event: end.event, code: end.exit_code ?? null, signal: end.signal ?? null },
  }
}

/** The expected events of a parser for a shape. */
export function golden(signature, parser = 'reference') {
  return json(find(`goldens/${parser}`, signature, '.events.json'))
}

/** The JSON Schemas by kind of record. */
export function schemas() {
  return Object.fromEntries(files('data/schemas/').map((path) => [path.replace(/^.*\/|\.schema\.json$/g, ''), json(path)]))
}

function probePath(name) {
  const id = String(name).replaceAll('_', '-')
  const path = `data/probes/${id}.json`
  if (!has(path)) {
    const ids = files('data/probes/').map((path) => path.replace(/^.*\/|\.json$/g, ''))
    throw new ContractsError(`the package has no probe of this id; it has ${ids.join(', ')}`)
  }
  return { id, path }
}

/** One probe: prompt, workspace, script and what a run must show. */
export function probe(id) {
  return record('probe', probePath(id).path)
}

/** What a host's classifier must say of failures. */
export function errorCases() {
  return files('data/error-cases/').map((path) => ({ ...record('error-case', path), path }))
}

/**
 * Every shape that backs a claim of the support matrix, with what a parser test needs: the fixture, which events it
 * must give, and the golden of the parser that is named, or of the reference one.
 */
export function supportedShapes(options = {}) {
  known(options, ['parser'])
  const { parser = 'reference' } = options
  const parsers = [...new Set(['reference', ...files('data/goldens/').map((path) => path.split('/')[2])])]
  if (!parsers.includes(parser)) throw new ContractsError(`the package has no goldens of this parser; it has those of ${parsers.join(', ')}`)
  const bySignature = new Map()
  for (const o of observations()) {
    const signature = resolveShape(o.shape.signature)
    bySignature.set(signature, [...(bySignature.get(signature) ?? []), o])
  }
  const shapes = []
  for (const entry of supportMatrix().agents) {
    for (const claim of entry.observed_shapes) {
      const runs = (bySignature.get(resolveShape(claim.shape)) ?? []).filter((o) => o.agent === entry.agent)
      if (runs.length === 0) continue
      const family = runs[0].protocol_family
      const probes = [...new Set(runs.map((o) => o.probe))].sort()
      const expected = probes.map((id) => probe(id).expected_min_events).filter(Boolean)
      const path = `data/goldens/${parser}/${family.replace(/\/v1$/, '')}/${stem(resolveShape(claim.shape))}.events.json`
      const golden = has(path) ? json(path) : undefined
      shapes.push({
        agent: entry.agent,
        protocolFamily: family,
        shape: resolveShape(claim.shape),
        validityLevel: claim.validity_level,
        backends: claim.backends ?? ['live'],
        versions: [...new Set(runs.map((o) => o.cli_version))],
        platforms: [...new Set(runs.map((o) => o.platform))],
        modes: [...new Set(runs.map((o) => o.command.mode).filter(Boolean))],
        probes,
        sanitizedFixture: fixture(claim.shape).stdout,
        // A raw event is one that the golden's parser has no name for either.
        allowedRawEvents: [...new Set((golden?.events ?? []).filter((e) => e.event === 'raw').map((e) => e.fields?.event_type))].filter(Boolean).sort(),
        // What one probe must show may be optional for another that printed the same shape.
        requiredDaemonEvents: expected.length === 0 ? [] : expected.map((e) => e.must_see).reduce((a, b) => a.filter((name) => b.includes(name))),
        expectedDaemonEvents: golden?.events,
      })
    }
  }
  return shapes
}

export default {
  ContractsError, SCHEMA_VERSION, agent, agents, compareEvents, errorCases, fixture, golden, manifest, observations, probe, registerMigration,
  resolveShape, schemas, shape, supportMatrix, supportedShapes, verifyManifest,
}
