// Builds a small package in a temporary folder: the library's own files and a tree of records.
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const library = fileURLToPath(new URL('..', import.meta.url))

export const SHAPE = 'sha256:' + 'a'.repeat(64)
export const OLD_SHAPE = 'sha256:' + 'b'.repeat(64)

const file = SHAPE.replace(':', '-')
const at = '2026-06-27T10:00:00Z'

/** The records of the package; tests change them before they write it. */
export function records() {
  const observation = (name) => `data/observations/sample/1.2.0/linux-x64/2026-06-27T100000Z.${name}`
  return {
    'data/support-matrix.json': {
      schema_version: 1, generated_at: at,
      agents: [{
        agent: 'sample', version_ranges: ['1.2.0'], platforms: ['linux-x64'], protocol_families: ['json-event-stream/v1'], support_status: 'version_range_verified',
        observed_shapes: [{ shape: SHAPE, validity_level: 'runtime_observed', observed_at: at, backends: ['scripted'] }], last_observed_at: at,
      }],
    },
    'data/agents.json': { schema_version: 1, agents: [{ id: 'sample', name: 'Sample CLI' }] },
    'data/agents/sample.json': { schema_version: 1, id: 'sample', name: 'Sample CLI' },
    'data/shape-aliases.json': { [OLD_SHAPE]: SHAPE },
    'data/schemas/shape.schema.json': { title: 'shape' },
    'data/probes/chat.json': { id: 'chat', prompt: 'Say hello.', expected_min_events: { must_see: ['assistant_text', 'done'], forbidden: [] } },
    [observation('chat.observation.json')]: {
      schema_version: 1, agent: 'sample', cli_version: '1.2.0', platform: 'linux-x64', probe: 'chat', protocol_family: 'json-event-stream/v1',
      command: { mode: 'json' }, shape: { signature: OLD_SHAPE },
    },
    [observation('chat.evidence.json')]: { schema_version: 1 },
    [`data/shapes/json-event-stream/${file}.shape.json`]: { schema_version: 1, signature: SHAPE },
    [`data/goldens/reference/json-event-stream/${file}.events.json`]: {
      parser: 'reference', shape: SHAPE, events: [{ event: 'assistant_text', fields: { text: 'Hello.' } }, { event: 'raw', fields: { event_type: 'ping' } }, { event: 'done' }],
    },
    [`data/fixtures/json-event-stream/${file}.sanitized.jsonl`]: [
      { dir: 'process', event: 'spawn', at_ms: 0 },
      { dir: 'cli->server', stream: 'stdout', at_ms: 1, data: '{"type":"message"}\n' },
      { dir: 'cli->server', stream: 'stderr', at_ms: 2, data: 'note\n' },
      { dir: 'cli->server', stream: 'stdout', at_ms: 3, data: '{"type":"ping"}\n' },
      { dir: 'process', event: 'exit', at_ms: 4, exit_code: 0, signal: null },
    ].map((line) => JSON.stringify(line) + '\n').join(''),
  }
}

/** Writes a package and imports it. Each has module state of its own. */
export async function load(t, data = records()) {
  const dir = mkdtempSync(join(tmpdir(), 'contracts-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const files = {}
  const put = (path, bytes) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), bytes)
    files[path] = { sha256: 'sha256:' + createHash('sha256').update(bytes).digest('hex'), size: bytes.length }
  }
  for (const name of readdirSync(library).filter((name) => name.endsWith('.js') || name === 'package.json')) put(name, readFileSync(join(library, name)))
  for (const [path, value] of Object.entries(data)) put(path, Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)))
  writeFileSync(join(dir, 'MANIFEST.json'), JSON.stringify({ schema_version: 1, name: '@example/contracts', version: '1.2.3', generated_at: at, files }))
  return { dir, contracts: await import(pathToFileURL(join(dir, 'index.js'))) }
}
