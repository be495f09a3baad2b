import assert from 'node:assert/strict'
import { appendFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { OLD_SHAPE, SHAPE, load, records } from './package.js'

test('supported shapes carry what a parser test needs', async (t) => {
  const { contracts } = await load(t)
  assert.deepEqual(contracts.supportedShapes(), [{
    agent: 'sample', protocolFamily: 'json-event-stream/v1', shape: SHAPE, validityLevel: 'runtime_observed', backends: ['scripted'], versions: ['1.2.0'],
    platforms: ['linux-x64'], modes: ['json'], probes: ['chat'], sanitizedFixture: '{"type":"message"}\n{"type":"ping"}\n', allowedRawEvents: ['ping'],
    requiredDaemonEvents: ['assistant_text', 'done'],
    expectedDaemonEvents: [{ event: 'assistant_text', fields: { text: 'Hello.' } }, { event: 'raw', fields: { event_type: 'ping' } }, { event: 'done' }],
  }])
  assert.equal(contracts.default.supportedShapes, contracts.supportedShapes)
})

test('a parser without a golden of the shape has no expected events; one without goldens is an error', async (t) => {
  const { contracts } = await load(t, { ...records(), 'data/goldens/other/plain/sha256-0.events.json': {} })
  assert.equal(contracts.supportedShapes({ parser: 'other' })[0].expectedDaemonEvents, undefined)
  assert.throws(() => contracts.supportedShapes({ parser: 'nope' }), /no goldens of this parser; it has those of reference, other/)
  assert.throws(() => contracts.supportedShapes({ parsers: 'other' }), /no option parsers; there are parser/)
})

test('a fixture gives both streams and the end', async (t) => {
  const { contracts } = await load(t)
  const fixture = contracts.fixture(OLD_SHAPE)
  assert.equal(fixture.shape, SHAPE)
  assert.equal(fixture.stderr, 'note\n')
  assert.equal(fixture.transcript.length, 5)
  assert.deepEqual(fixture.exit, { event: 'exit', code: 0, signal: null })
})

test('a fixture of an RPC family gives its frames as lines, and only those of the CLI', async (t) => {
  const data = records()
  data[Object.keys(data).find((path) => path.startsWith('data/fixtures/'))] = [
    { dir: 'server->cli', stream: 'stdin', at_ms: 1, frame: { jsonrpc: '2.0', id: 1, method: 'initialize' } },
    { dir: 'cli->server', stream: 'stdout', at_ms: 2, data: 'noise\n' },
    { dir: 'cli->server', stream: 'stdout', at_ms: 3, frame: { jsonrpc: '2.0', id: 1, result: {} } },
  ].map((line) => JSON.stringify(line) + '\n').join('')
  const { contracts } = await load(t, data)
  assert.equal(contracts.fixture(SHAPE).stdout, 'noise\n{"jsonrpc":"2.0","id":1,"result":{}}\n')
})

test('records are found by shape, agent and probe', async (t) => {
  const { contracts } = await load(t)
  assert.equal(contracts.golden(SHAPE).events.length, 3)
  assert.equal(contracts.golden(SHAPE.replace(':', '-')).parser, 'reference')
  assert.equal(contracts.shape(OLD_SHAPE).signature, SHAPE)
  assert.deepEqual(Object.keys(contracts.schemas()), ['shape'])
  assert.equal(contracts.observations({ agent: 'sample', version: '1.2.0', probe: 'chat' }).length, 1)
  assert.equal(contracts.agent('sample').name, 'Sample CLI')
  assert.equal(contracts.probe('chat').prompt, 'Say hello.')
  assert.deepEqual(contracts.errorCases(), [])
})

test('names are found in every spelling, and what is unknown is an error', async (t) => {
  const data = records()
  data['data/probes/chat-text.json'] = { ...data['data/probes/chat.json'], id: 'chat-text' }
  data['data/agents/sample.json'].aliases = ['sample_cli']
  for (const path of Object.keys(data)) if (path.endsWith('.observation.json')) data[path].probe = 'chat-text'
  const { contracts } = await load(t, data)
  assert.equal(contracts.observations({ probe: 'chat_text' }).length, 1)
  assert.equal(contracts.observations({ agent: 'sample_cli' }).length, 1)
  assert.equal(contracts.agent('sample_cli').id, 'sample')
  assert.throws(() => contracts.observations({ agents: 'sample' }), /no option agents; there are agent, version, probe, withdrawn/)
  assert.throws(() => contracts.observations({ agent: 'smaple' }), /it has sample/)
  assert.throws(() => contracts.observations({ probe: 'chat_txt' }), /it has chat-text, chat/)
})

test('what is not there is an error that names it', async (t) => {
  const { contracts } = await load(t)
  const unknown = 'sha256:' + 'c'.repeat(64)
  assert.throws(() => contracts.fixture(unknown), (e) => e instanceof contracts.ContractsError && e.message.includes(unknown))
  assert.throws(() => contracts.golden(SHAPE, 'other'), /no goldens\/other for the shape/)
  assert.throws(() => contracts.agent('../../etc/passwd'), /it has sample/)
  assert.throws(() => contracts.probe('other'), /no probe/)
})

test('withdrawn observations are left out', async (t) => {
  const data = records()
  data[Object.keys(data).find((path) => path.endsWith('.evidence.json'))].withdrawn = { at: '2026-06-28T10:00:00Z', reason: 'wrong' }
  const { contracts } = await load(t, data)
  assert.equal(contracts.observations().length, 0)
  assert.equal(contracts.observations({ withdrawn: true }).length, 1)
  assert.equal(contracts.supportedShapes().length, 0)
})

test('a higher schema version needs a migration', async (t) => {
  const data = records()
  data['data/support-matrix.json'].schema_version = 2
  const { contracts } = await load(t, data)
  assert.throws(() => contracts.supportMatrix(), /schema version 2/)
  contracts.registerMigration('support-matrix', 2, (record) => ({ ...record, schema_version: 1 }))
  assert.equal(contracts.supportMatrix().schema_version, 1)
})

test('a caller cannot change what the next one gets', async (t) => {
  const { contracts } = await load(t)
  contracts.supportMatrix().agents.length = 0
  assert.equal(contracts.supportMatrix().agents.length, 1)
})

test('the manifest verifies, and names the first file that differs', async (t) => {
  const cases = {
    'data/agents.json': (dir) => appendFileSync(join(dir, 'data/agents.json'), ' '),
    'index.js': (dir) => rmSync(join(dir, 'index.js')),
    'data/stray.json': (dir) => writeFileSync(join(dir, 'data/stray.json'), '{}'),
    'link.json': (dir) => symlinkSync('package.json', join(dir, 'link.json')),
  }
  const { contracts } = await load(t)
  assert.equal(contracts.verifyManifest().name, '@example/contracts')
  for (const [file, edit] of Object.entries(cases)) {
    const { dir, contracts } = await load(t)
    edit(dir)
    assert.throws(() => contracts.verifyManifest(), (e) => e.file === file, file)
  }
})

test('events are compared in order, without values', async (t) => {
  const { contracts } = await load(t)
  const golden = [{ event: 'session_started' }, { event: 'assistant_text', fields: { text: 'a', n: 1 } }, { event: 'done' }]
  assert.deepEqual(contracts.compareEvents(golden, structuredClone(golden)), [])
  assert.deepEqual(contracts.compareEvents(golden, [golden[0], { event: 'warning' }, { event: 'assistant_text', fields: { text: 'b', n: 1 } }]), [
    { kind: 'extra', index: 1, event: 'warning' },
    { kind: 'changed', index: 1, event: 'assistant_text', fields: ['text'] },
    { kind: 'lost', index: 2, event: 'done' },
  ])
})

test('a golden is compared as it comes, and what is no list of events is an error', async (t) => {
  const { contracts } = await load(t)
  const golden = contracts.golden(SHAPE)
  assert.deepEqual(contracts.compareEvents(golden, golden.events), [])
  assert.deepEqual(contracts.compareEvents(golden, []).map((d) => d.kind), ['lost', 'lost', 'lost'])
  for (const [expected, events] of [[undefined, []], [{}, []], [golden, undefined], [golden, golden], [golden, [null]], ['done', []]]) {
    assert.throws(() => contracts.compareEvents(expected, events), contracts.ContractsError)
  }
})
