// Package publish builds the npm package of a tree: the data, the consumer library, a manifest of hashes, and the
// tarball that npm would upload.
//
// Everything is deterministic: the same tree, version and library give the same bytes, wherever and whenever they are
// built. Nothing gets into a package but what this package knows; transcripts get in only as redact.Sanitized.
package publish
