// Package redact turns a raw transcript into a sanitized one, or fails.
//
// It works by allow-list: the structure of a frame survives, and of its content only what is known to be public: the
// probe's own literals, enum-like tokens at declared places, the CLI's declared vocabulary, numbers that a dialect
// declares, and messages that an allow-listed template recognises. Everything else becomes a typed placeholder.
// The result is then scanned in decoded forms for canaries, known values and secret patterns; any hit is a failure.
//
// Redaction is idempotent, and that is the structure check: Read redacts a public file again and requires that
// nothing changes. Redact and Read are the only makers of a Sanitized, which every writer and publisher asks for.
package redact
