// Holds a parser's events against a golden. The rules are those of the registry's own replay.
import { ContractsError } from './data.js'

function same(a, b) {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]))
}

function changed(a, b) {
  const left = a.fields ?? {}
  const right = b.fields ?? {}
  return [...new Set([...Object.keys(left), ...Object.keys(right)])]
    .filter((name) => !Object.hasOwn(left, name) || !Object.hasOwn(right, name) || !same(left[name], right[name]))
    .sort()
}

// Pairs events of equal name in order: a longest common subsequence.
function align(a, b) {
  if (a.length * b.length > 4_000_000) {
    return a.flatMap((event, i) => (i < b.length && event.event === b[i].event ? [[i, i]] : []))
  }
  const best = Array.from({ length: a.length + 1 }, () => new Int32Array(b.length + 1))
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      best[i][j] = Math.max(best[i + 1][j], best[i][j + 1], a[i].event === b[j].event ? best[i + 1][j + 1] + 1 : 0)
    }
  }
  const pairs = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i].event === b[j].event && best[i][j] === best[i + 1][j + 1] + 1) pairs.push([i++, j++])
    else if (best[i + 1][j] >= best[i][j + 1]) i++
    else j++
  }
  return pairs
}

// Anything but a list would compare as an empty one: a pass that proves nothing.
function list(value, what) {
  if (!Array.isArray(value) || value.some((e) => typeof e?.event !== 'string')) throw new ContractsError(`${what} no array of { event, fields }`)
  return value
}

/**
 * Lists what differs between a golden, or its events, and a parser's events. It never holds a value, only names and
 * places.
 */
export function compareEvents(expected, events) {
  const golden = list(expected?.events ?? expected, 'the golden has')
  list(events, "the parser's events are")
  const differences = []
  let i = 0
  let j = 0
  const until = (end, other) => {
    for (; i < end; i++) differences.push({ kind: 'lost', index: i, event: golden[i].event })
    for (; j < other; j++) differences.push({ kind: 'extra', index: j, event: events[j].event })
  }
  for (const [at, other] of align(golden, events)) {
    until(at, other)
    const fields = changed(golden[i], events[j])
    if (fields.length > 0) differences.push({ kind: 'changed', index: i, event: golden[i].event, fields })
    i++
    j++
  }
  until(golden.length, events.length)
  return differences
}
