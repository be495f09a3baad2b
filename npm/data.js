// Reads the files of the package. Nothing is read before it is asked for, and nothing leaves the machine.
import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('./', import.meta.url)

/** The version of records that this library reads. */
export const SCHEMA_VERSION = 1

/** Says that the package does not hold what was asked for, or is not what it should be. */
export class ContractsError extends Error {
  constructor(message, details = {}) {
    super(message)
    this.name = 'ContractsError'
    Object.assign(this, details)
  }
}

const migrations = new Map()

/**
 * Registers how records of a kind with another schema_version become records of SCHEMA_VERSION. Without one, records
 * of a higher version are refused.
 */
export function registerMigration(kind, from, migrate) {
  migrations.set(`${kind}@${from}`, migrate)
}

const cache = new Map()

function bytes(path) {
  try {
    return readFileSync(new URL(path, root))
  } catch (cause) {
    throw new ContractsError(`${path} is missing: install the package again`, { file: path, cause })
  }
}

/** Reads a text file of the package. */
export function text(path) {
  return bytes(path).toString('utf8')
}

/** Reads a JSON file of the package, once. Callers get their own copy. */
export function json(path) {
  if (!cache.has(path)) {
    try {
      cache.set(path, JSON.parse(text(path)))
    } catch (cause) {
      if (cause instanceof ContractsError) throw cause
      throw new ContractsError(`${path} is not JSON: install the package again`, { file: path, cause })
    }
  }
  return structuredClone(cache.get(path))
}

/** Reads a record and brings it to the schema version of this library. */
export function record(kind, path) {
  let value = json(path)
  for (let steps = 0; value.schema_version > SCHEMA_VERSION; steps++) {
    const migrate = migrations.get(`${kind}@${value.schema_version}`)
    if (!migrate || steps > migrations.size) {
      throw new ContractsError(
        `${path} has schema version ${Number(value.schema_version)}, this library reads ${SCHEMA_VERSION}: update it, or register a migration`,
        { file: path },
      )
    }
    value = migrate(value)
  }
  return value
}

/** The manifest: path → sha256 and size. */
export function manifest() {
  return json('MANIFEST.json')
}

let sorted

/** Lists the paths of the package below a prefix, sorted. */
export function files(prefix) {
  sorted ??= Object.keys(json('MANIFEST.json').files).sort()
  return sorted.filter((path) => path.startsWith(prefix))
}

/** Whether the package holds a file. */
export function has(path) {
  files('')
  return Object.hasOwn(cache.get('MANIFEST.json').files, path)
}

function walk(dir, into) {
  for (const name of readdirSync(new URL(dir || './', root))) {
    const path = dir + name
    const info = lstatSync(new URL(path, root))
    if (info.isDirectory()) walk(path + '/', into)
    else into.set(path, info.isFile())
  }
  return into
}

/**
 * Hashes every file of the package again and holds it against the manifest. Throws a ContractsError that names the
 * first file that differs.
 */
export function verifyManifest() {
  const { files: listed, name, version } = manifest()
  const present = walk('', new Map())
  present.delete('MANIFEST.json')
  const fail = (file, reason) => {
    throw new ContractsError(`${file}: ${reason}`, { file })
  }
  const paths = [...new Set([...Object.keys(listed), ...present.keys()])].sort()
  for (const path of paths) {
    const want = listed[path]
    if (!want) fail(path, 'the file is not in the manifest')
    if (!present.has(path)) fail(path, 'the file is missing')
    if (!present.get(path)) fail(path, 'the entry is no regular file')
    const data = bytes(path)
    if (data.length !== want.size) fail(path, `the file has ${data.length} bytes, the manifest says ${want.size}`)
    if ('sha256:' + createHash('sha256').update(data).digest('hex') !== want.sha256) fail(path, "the file's hash is not the manifest's")
  }
  return { name, version, files: paths.length }
}

/** The absolute path of a file of the package. */
export function absolute(path) {
  return fileURLToPath(new URL(path, root))
}
