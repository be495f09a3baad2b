package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"
)

// SchemaVersion is the version that every record of this release carries.
const SchemaVersion = 1

// Hash is a SHA-256 in the form "sha256:" followed by 64 lowercase hexadecimal characters.
type Hash string

// HashBytes returns the Hash of data.
func HashBytes(data []byte) Hash { return HashSum(sha256.Sum256(data)) }

// HashSum renders a finished SHA-256.
func HashSum(sum [sha256.Size]byte) Hash { return Hash("sha256:" + hex.EncodeToString(sum[:])) }

// Pattern is the regular expression of the JSON Schema.
func (Hash) Pattern() string { return `^sha256:[0-9a-f]{64}$` }

// FileStem is the hash as file names write it: "sha256-<hex>".
func (h Hash) FileStem() string { return strings.Replace(string(h), ":", "-", 1) }

// Timestamp is a UTC time in ISO 8601 that ends in Z. Records are written in whole seconds; a fraction is read.
type Timestamp string

const timestampLayout = "2006-01-02T15:04:05Z"

// At renders t as the registry writes it: UTC, whole seconds.
func At(t time.Time) Timestamp { return Timestamp(t.UTC().Format(timestampLayout)) }

// Pattern is the regular expression of the JSON Schema; its format date-time checks the calendar.
func (Timestamp) Pattern() string {
	return `^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?Z$`
}

// Time parses the timestamp. It fails on an impossible date.
func (t Timestamp) Time() (time.Time, error) { return time.Parse(time.RFC3339Nano, string(t)) }

// PathStem is the timestamp as file names write it: without colons, "2026-06-27T100000Z".
func (t Timestamp) PathStem() string { return strings.ReplaceAll(string(t), ":", "") }

// AgentID names an agent: the file registry/agents/<id>.json.
type AgentID string

// Pattern is the regular expression of the JSON Schema.
func (AgentID) Pattern() string { return `^[a-z0-9][a-z0-9-]{0,62}$` }

// ProbeID names a probe: the folder probes/<id>. The canonical spelling has hyphens.
type ProbeID string

// Pattern is the regular expression of the JSON Schema.
func (ProbeID) Pattern() string { return `^[a-z0-9][a-z0-9-]{0,62}$` }

// CanonicalProbe resolves the underscore spelling that older texts use (chat_text_success).
func CanonicalProbe(name string) ProbeID { return ProbeID(strings.ReplaceAll(name, "_", "-")) }

// Alias is the spelling with underscores, which CanonicalProbe resolves; empty where the id has no hyphen. It is never written to
// a record.
func (p ProbeID) Alias() string {
	if alias := strings.ReplaceAll(string(p), "-", "_"); alias != string(p) {
		return alias
	}
	return ""
}

// ModeID names one way to start an agent, unique within the agent.
type ModeID string

// Pattern is the regular expression of the JSON Schema.
func (ModeID) Pattern() string { return `^[a-z0-9][a-z0-9-]{0,62}$` }

// Modes that no agent file declares under its modes; all are plain/v1. Every agent has the first two, and the third where it
// says how it lists its models.
const (
	ModeVersion ModeID = "version"
	ModeHelp    ModeID = "help"
	ModeModels  ModeID = "models"
)

// Implicit reports whether the mode is one that no agent file declares under its modes.
func (m ModeID) Implicit() bool { return m == ModeVersion || m == ModeHelp || m == ModeModels }

// RelPath is a slash-separated path relative to the registry root. It never leaves the root.
type RelPath string

// Pattern is the regular expression of the JSON Schema: no absolute path, no backslash, no dot segment.
func (RelPath) Pattern() string {
	return `^(?:[A-Za-z0-9_+@-]|\.[A-Za-z0-9_+@-])[A-Za-z0-9._+@-]*(?:/(?:[A-Za-z0-9_+@-]|\.[A-Za-z0-9_+@-])[A-Za-z0-9._+@-]*)*$`
}

// HTTPSURL is an absolute https:// address.
type HTTPSURL string

// Pattern is the regular expression of the JSON Schema.
func (HTTPSURL) Pattern() string { return `^https://[^\s/]+(/\S*)?$` }

// Commit is an abbreviated or full git commit of a consumer.
type Commit string

// Pattern is the regular expression of the JSON Schema.
func (Commit) Pattern() string { return `^[0-9a-f]{7,40}$` }

// ToolVersion is the semantic version of one of this project's own tools.
type ToolVersion string

// Pattern is the regular expression of the JSON Schema (semver 2.0.0, no leading v).
func (ToolVersion) Pattern() string {
	return `^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`
}

// CLIVersion is the version token that the agent's version pattern extracted from the CLI's own output.
type CLIVersion string

// Pattern is the regular expression of the JSON Schema: a token that is safe as one path segment.
func (CLIVersion) Pattern() string { return `^[0-9A-Za-z][0-9A-Za-z.+_-]{0,99}$` }
