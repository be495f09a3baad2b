// Generates npm/types/*.d.ts from registry/schemas: node pkg/contract/schemagen/types.mjs [--check], at the root of
// the repository. The header of each file carries the SHA-256 of its schema, so that a test without Node can see
// whether types and schemas are in step; --check generates again and compares.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from 'json-schema-to-typescript'

const schemaDir = 'registry/schemas'
const typesDir = 'npm/types'
const suffix = '.schema.json'

// The compiler makes one type per definition only where a reference stands alone, without siblings.
function bareReferences(node) {
  if (Array.isArray(node)) return node.map(bareReferences)
  if (node === null || typeof node !== 'object') return node
  if (typeof node.$ref === 'string') return { $ref: node.$ref }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, bareReferences(value)]))
}

async function declarations(name) {
  const source = readFileSync(join(schemaDir, name))
  const hash = createHash('sha256').update(source).digest('hex')
  const schema = bareReferences(JSON.parse(source))
  const body = await compile(schema, schema.title, { bannerComment: '', additionalProperties: false, style: { semi: false, singleQuote: true } })
  return { title: schema.title, text: `// Generated from ${schemaDir}/${name}; do not edit.\n// schema-sha256: ${hash}\n\n${body}` }
}

const files = new Map()
const exports = []
for (const name of readdirSync(schemaDir).filter((name) => name.endsWith(suffix)).sort()) {
  const { title, text } = await declarations(name)
  const stem = name.slice(0, -suffix.length)
  files.set(`${stem}.d.ts`, text)
  exports.push(`export type { ${title} } from './${stem}.js'\n`)
}
files.set('index.d.ts', `// Generated from ${schemaDir}; do not edit.\n${exports.join('')}`)

if (process.argv.includes('--check')) {
  const present = readdirSync(typesDir).filter((name) => name.endsWith('.d.ts'))
  const stale = [...new Set([...present, ...files.keys()])].filter((name) => !present.includes(name) || readFileSync(join(typesDir, name), 'utf8') !== files.get(name))
  if (stale.length > 0) {
    console.error(`out of date: ${stale.map((name) => join(typesDir, name)).join(', ')}; run: npm run generate`)
    process.exit(1)
  }
} else {
  for (const [name, text] of files) writeFileSync(join(typesDir, name), text)
}
