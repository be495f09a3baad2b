package contract

import (
	"strings"
	"testing"
)

type object = map[string]any
type list = []any

// Each case changes a valid record so that it breaks one rule of its kind, at one place.
var brokenRules = []struct {
	file    string // of testdata/valid
	rule    string
	pointer string
	changes map[string]any
}{
	{"all-fields.observation.json", "observation/cli-version", "/cli_version", object{"/cli_version": "Unknown"}},
	{"all-fields.observation.json", "observation/stdin-mode", "/command/stdin_mode", object{"/command/stdin_mode": "rpc"}},
	{"all-fields.observation.json", "observation/implicit-mode", "/protocol_family", object{"/command/mode": "version"}},
	{"all-fields.observation.json", "observation/argv-template", "/command/argv_template/6", object{"/command/argv_template/6": "/home/someone/project"}},
	{"all-fields.observation.json", "observation/argv-template", "/command/argv_template/6", object{"/command/argv_template/6": "--dir=C:\\work"}},
	{"all-fields.observation.json", "observation/argv-template", "/command/argv_template/6", object{"/command/argv_template/6": "~/x"}},
	{"all-fields.observation.json", "observation/raw-public", "/capture/raw_artifact_visibility", object{"/capture/raw_artifact_visibility": "public"}},
	{"all-fields.observation.json", "observation/shape-path", "/shape/path", object{"/shape/path": "shapes/plain/sha256-" + strings.Repeat("0", 64) + ".shape.json"}},
	{"all-fields.observation.json", "observation/vocabulary", "/shape/vocabulary/tools", object{"/shape/vocabulary/tools": list{"b", "a"}}},
	{"all-fields.observation.json", "observation/help", "/shape/vocabulary/help", object{"/shape/vocabulary/help": list{object{"command": "", "flags": list{}}}}},
	{"spec-example.observation.json", "observation/help", "/shape/vocabulary/help/0/flags", helpPages(list{object{"command": "", "flags": list{object{"flag": "--b"}, object{"flag": "--a"}}}})},
	{"spec-example.observation.json", "observation/help", "/shape/vocabulary/help/0/flags/1", helpPages(list{object{"command": "", "flags": list{object{"flag": "--a"}, object{"flag": "--a"}}}})},
	{"spec-example.observation.json", "observation/help", "/shape/vocabulary/help/0/flags", helpPages(list{object{"command": "", "unavailable": true, "flags": list{object{"flag": "--a"}}}})},
	{"spec-example.observation.json", "observation/help", "/shape/vocabulary/help/1", helpPages(list{object{"command": "x", "flags": list{}}, object{"command": "x", "flags": list{}}})},
	{"spec-example.observation.json", "schema/pattern", "/shape/vocabulary/help/0/flags/0/flag", helpPages(list{object{"command": "", "flags": list{object{"flag": "a text"}}}})},
	{"all-fields.observation.json", "observation/golden", "/parser_replay/golden", object{"/parser_replay/status": "compatible"}},
	{"spec-example.observation.json", "observation/golden", "/parser_replay/golden", object{"/parser_replay/status": gone{}}},
	{"spec-example.observation.json", "observation/golden", "/parser_replay/golden", object{"/parser_replay/golden": "goldens/reference/json-event-stream/sha256-" + strings.Repeat("0", 64) + ".events.json"}},
	{"spec-example.observation.json", "schema/format", "/capture/captured_at", object{"/capture/captured_at": "2026-02-30T10:00:00Z"}},
	{"spec-example.observation.json", "schema/pattern", "/capture/captured_at", object{"/capture/captured_at": "2026-02-20T10:00:00+01:00"}},
	{"spec-example.observation.json", "schema/type", "/capture/captured_at", object{"/capture/captured_at": 1}},
	{"spec-example.observation.json", "schema/pattern", "/capture/raw_stdout_sha256", object{"/capture/raw_stdout_sha256": "sha256:" + strings.Repeat("A", 64)}},
	{"spec-example.observation.json", "schema/type", "/capture/raw_stdout_sha256", object{"/capture/raw_stdout_sha256": 7}},
	{"spec-example.observation.json", "schema/pattern", "/capture/workflow_run_url", object{"/capture/workflow_run_url": "http://example.com/"}},
	{"spec-example.observation.json", "schema/pattern", "/redaction/tool_version", object{"/redaction/tool_version": "latest"}},
	{"spec-example.observation.json", "schema/pattern", "/install/source", object{"/install/source": ""}},
	{"spec-example.observation.json", "schema/pattern", "/parser_replay/open_design_commit", object{"/parser_replay/open_design_commit": "main"}},
	{"spec-example.observation.json", "schema/pattern", "/shape/path", object{"/shape/path": "shapes/plain/x.shape.json"}},
	{"spec-example.observation.json", "schema/minimum", "/schema_version", object{"/schema_version": 0}},
	{"spec-example.observation.json", "schema/type", "/schema_version", object{"/schema_version": 1.5}},
	{"spec-example.observation.json", "schema/type", "/schema_version", object{"/schema_version": "1"}},
	{"spec-example.observation.json", "schema/key", "/extensions/plain", object{"/extensions": object{"plain": 1}}},
	{"all-fields.evidence.json", "evidence/promotions", "/promotions/1/to", object{"/promotions/1/to": "runtime_observed"}},
	{"all-fields.evidence.json", "evidence/promotions", "/promotions/1/at", object{"/promotions/1/at": "2026-06-01T00:00:00Z"}},
	{"all-fields.evidence.json", "evidence/reproduction", "/promotions/1/to", object{"/reproduction_url": nil}},
	{"all-fields.evidence.json", "evidence/isolation", "/isolation/namespaces", object{"/isolation/kind": "process-group", "/isolation/network": "host"}},
	{"all-fields.evidence.json", "evidence/isolation", "/isolation/network", object{"/isolation/namespaces": list{"mount"}}},
	{"all-fields.source-evidence.json", "source-evidence/shape-path", "/derived_shape/path", object{"/protocol_family": "plain/v1"}},
	{"all-fields.source-evidence.json", "schema/min-length", "/source_refs/0", object{"/source_refs/0": ""}},
	{"all-fields.shape.json", "shape/signature", "/signature", object{"/exit": "nonzero"}},
	{"all-fields.shape.json", "shape/transport", "/transport", object{"/transport": "plain", "/signature": nil}},
	{"all-fields.shape.json", "shape/frame-count", "/frame_count", object{"/frame_count": 3, "/signature": nil}},
	{"all-fields.shape.json", "shape/event-types", "/event_types", object{"/event_types": list{"thread.started", "item.completed"}, "/signature": nil}},
	{"all-fields.shape.json", "shape/event-types", "/event_types", object{"/event_types/-": "turn.failed", "/signature": nil}},
	{"all-fields.shape.json", "shape/frame-kinds", "/frame_shapes/1", object{"/frame_shapes/1/event_type": "thread.started", "/event_types": list{"thread.started"}, "/signature": nil}},
	{"all-fields.shape.json", "shape/direction", "/frame_shapes/0/stream", object{"/frame_shapes/0/stream": "stdin", "/signature": nil}},
	{"all-fields.shape.json", "shape/direction", "/frame_shapes/0/direction", object{"/frame_shapes/0/stream": "stdin", "/frame_shapes/0/direction": "server->cli", "/signature": nil}},
	{"no-frames.shape.json", "shape/direction", "/frame_shapes/0", object{"/frame_shapes/0/event_type": "exit", "/event_types": list{"exit"}, "/signature": nil}},
	{"all-fields.shape.json", "shape/paths", "/frame_shapes/0/paths/1/path", object{"/frame_shapes/0/paths/1/path": "$.a b", "/signature": nil}},
	{"all-fields.shape.json", "shape/paths", "/frame_shapes/0/paths/2", object{"/frame_shapes/0/paths/2/path": "$.thread_id", "/frame_shapes/0/enums": object{}, "/signature": nil}},
	{"all-fields.shape.json", "shape/enums", "/frame_shapes/0/enums/{key}", object{"/frame_shapes/0/enums": object{"$.thread_id": list{"a"}}, "/signature": nil}},
	{"all-fields.shape.json", "shape/enums", "/frame_shapes/0/enums/{key}", object{"/frame_shapes/0/enums": object{"$.role": list{"a"}}, "/signature": nil}},
	{"all-fields.shape.json", "shape/enums", "/frame_shapes/0/enums/{key}", object{"/frame_shapes/0/enums": object{"$.type": list{"b", "a"}}, "/signature": nil}},
	{"all-fields.shape.json", "shape/enums", "/frame_shapes/0/enums/{key}/0", object{"/frame_shapes/0/enums": object{"$.type": list{"free text"}}, "/signature": nil}},
	{"spec-range.support-matrix.json", "matrix/ranges", "/agents/0/version_ranges/0", object{"/agents/0/version_ranges/0": "recent"}},
	{"spec-range.support-matrix.json", "matrix/ranges", "/agents/0/version_ranges/0", object{"/agents/0/version_ranges/0": ""}},
	{"spec-range.support-matrix.json", "matrix/platforms", "/agents/0/platforms/2", object{"/agents/0/platforms/-": "unknown"}},
	{"spec-range.support-matrix.json", "matrix/claim-level", "/agents/0/support_status", object{"/agents/0/observed_shapes/0/validity_level": "server_variant"}},
	{"spec-range.support-matrix.json", "matrix/known-breaking", "/agents/0/known_breaking_shapes", object{"/agents/0/known_breaking_shapes": gone{}, "/agents/0/support_status": "known_breaking_shape"}},
	{"spec-range.support-matrix.json", "matrix/evidence", "/agents/0/known_breaking_shapes/0/evidence", object{"/agents/0/known_breaking_shapes/0/evidence": "http://example.com/"}},
	{"spec-range.support-matrix.json", "matrix/evidence", "/agents/0/known_breaking_shapes/0/evidence/1", object{"/agents/0/known_breaking_shapes/0/evidence": list{"reports/x.md", "../x"}}},
	{"spec-variants.support-matrix.json", "matrix/shapes", "/agents/0/server_variants/0/shape", object{"/agents/0/server_variants/0/shape": "sha256:" + strings.Repeat("0", 64)}},
	{"spec-range.support-matrix.json", "matrix/last-observed", "/agents/0/last_observed_at", object{"/agents/0/last_observed_at": "2026-06-27T10:00:01Z"}},
	{"spec-range.support-matrix.json", "matrix/latest", "/agents/0/latest_seen", object{"/agents/0/latest_seen": "0.132.9"}},
	{"all-fields.support-matrix.json", "matrix/disjoint", "/agents/1", object{"/agents/1/version_ranges/0": "0.133.5"}},
	{"spec-example.error-case.json", "error-case/classification", "/expected_failure_classification", object{"/classifier_input/result": "success"}},
	{"success.error-case.json", "error-case/classification", "/expected_failure_classification", object{"/classifier_input/result": "cancelled"}},
	{"all-fields.agent.json", "agent/upstream", "/upstreams", object{"/upstreams": object{}}},
	{"all-fields.agent.json", "agent/names", "/aliases/0", object{"/aliases/0": "example"}},
	{"all-fields.agent.json", "agent/names", "/channels/1/name", object{"/channels/1/name": "latest"}},
	{"all-fields.agent.json", "agent/names", "/help/1/command", object{"/help/1/command": ""}},
	{"all-fields.agent.json", "agent/channels", "/channels/0", object{"/channels/0/dist_tag": gone{}}},
	{"all-fields.agent.json", "agent/patterns", "/version_probe/pattern", object{"/version_probe/pattern": "("}},
	{"all-fields.agent.json", "agent/patterns", "/version_probe/pattern", object{"/version_probe/pattern": "(a)(b)"}},
	{"all-fields.agent.json", "agent/patterns", "/channels/1/pattern", object{"/channels/1/pattern": "(?<n>"}},
	{"all-fields.agent.json", "agent/version-template", "/version_probe/template", object{"/version_probe/template": "example"}},
	{"all-fields.agent.json", "agent/ranges", "/install/0/releases", object{"/install/0/releases": "old"}},
	{"all-fields.agent.json", "agent/ranges", "/install/2", object{"/install/1/releases": gone{}}},
	{"all-fields.agent.json", "agent/install", "/install/2/runtime/range", object{"/install/2/runtime/range": "twenty"}},
	{"all-fields.agent.json", "agent/install", "/install/2/runtime/version", object{"/install/2/runtime/version": "18.20.0"}},
	{"all-fields.agent.json", "agent/install", "/install/2/runtime/version", object{"/install/2/runtime/version": "22"}},
	{"all-fields.agent.json", "agent/install", "/install/2/runtime", object{"/install/2/runtime": gone{}}},
	{"all-fields.agent.json", "agent/install", "/install/2/script", object{"/install/2/script": "../index.js"}},
	{"all-fields.agent.json", "agent/install", "/install/2/platform_package", object{"/install/2/platform_package": object{"linux-x64": "@example/cli-linux-x64"}}},
	{"all-fields.agent.json", "agent/install", "/install/1", object{"/install/1/script": "dist/index.js"}},
	{"all-fields.agent.json", "agent/install", "/install/1", object{"/install/1/bin": object{}}},
	{"all-fields.agent.json", "agent/install", "/install/1/bin/linux-x64", object{"/install/1/bin/linux-x64": "../bin/x"}},
	{"all-fields.agent.json", "agent/environment", "/environment/pass/0", object{"/environment/pass/0": "A-B"}},
	{"all-fields.agent.json", "agent/environment", "/environment/pass/0", object{"/environment/pass/0": "EXAMPLE_KEY"}},
	{"all-fields.agent.json", "agent/environment", "/modes/0/env/{key}", object{"/modes/0/env": object{"A B": "x"}}},
	{"all-fields.agent.json", "agent/home-files", "/home_files/0/path", object{"/home_files/0/path": "/etc/passwd"}},
	{"all-fields.agent.json", "agent/placeholders", "/modes/0/argv/1/argv/2", object{"/modes/0/argv/1/argv/2": "{prompt} {secret}"}},
	{"all-fields.agent.json", "agent/placeholders", "/home_files/0/lines/0", object{"/home_files/0/lines/0": "{prompt}"}},
	{"all-fields.agent.json", "mode/images", "/modes/0/images/0", object{"/modes/0/images": list{object{"argv": list{"--image"}}}}},
	{"all-fields.agent.json", "mode/images", "/modes/0/images/0/prompt", object{"/modes/0/images": list{object{"prompt": "@{image}"}}}},
	{"all-fields.agent.json", "mode/images", "/modes/0/images/0/stdin_message", object{"/modes/0/images": list{object{"stdin_message": object{"a": "{image} {prompt}"}}}}},
	{"all-fields.agent.json", "mode/images", "/modes/3/images/0/stdin_message", object{"/modes/3/images": list{object{"stdin_message": object{"a": list{"{image_base64}"}}}}}},
	{"all-fields.agent.json", "agent/placeholders", "/modes/0/images/0/argv/0", object{"/modes/0/images": list{object{"argv": list{"{image} {other}"}}}}},
	{"all-fields.agent.json", "agent/ranges", "/modes/0/images/1", object{"/modes/0/images": list{object{"argv": list{"{image}"}}, object{"argv": list{"{image}"}}}}},
	{"all-fields.agent.json", "mode/forbidden-flags", "/modes/0/images/0/argv/0", object{"/modes/0/images": list{object{"argv": list{"--no-sandbox", "{image}"}}}}},
	{"all-fields.agent.json", "agent/models", "/models/0", object{"/models/0/json": "$.models[].id"}},
	{"all-fields.agent.json", "agent/models", "/models/0", object{"/models/0/line": gone{}}},
	{"all-fields.agent.json", "agent/models", "/models/0/line", object{"/models/0/line": "^(a)(b)$"}},
	{"all-fields.agent.json", "agent/models", "/models/0/line", object{"/models/0/line": "("}},
	{"all-fields.agent.json", "agent/models", "/models/1/below", object{"/models/1/below": "Models:"}},
	{"all-fields.agent.json", "agent/ranges", "/models/1/releases", object{"/models/1/releases": "new"}},
	{"all-fields.agent.json", "agent/placeholders", "/models/0/argv/0", object{"/models/0/argv/0": "{prompt}"}},
	{"all-fields.agent.json", "mode/forbidden-flags", "/models/0/argv/1", object{"/models/0/argv": list{"models", "--no-sandbox"}}},
	{"all-fields.agent.json", "schema/pattern", "/models/1/json", object{"/models/1/json": "models[].id"}},
	{"all-fields.agent.json", "agent/hosts", "/hosts/0/mode", object{"/hosts/0/mode": "other"}},
	{"all-fields.agent.json", "mode/mcp-server", "/modes/0/mcp_server/0", object{"/modes/0/mcp_server": list{object{"argv": list{"--mcp"}}}}},
	{"all-fields.agent.json", "mode/forbidden-flags", "/modes/0/mcp_server/0/argv/0", object{"/modes/0/mcp_server": list{object{"argv": list{"--no-sandbox", "{mcp_server}"}}}}},
	{"all-fields.agent.json", "agent/placeholders", "/modes/0/mcp_server/0/env/A", object{"/modes/0/mcp_server": list{object{"env": object{"A": "{mcp_server} {secret}"}}}}},
	{"all-fields.agent.json", "agent/environment", "/modes/0/mcp_server/0/env/{key}", object{"/modes/0/mcp_server": list{object{"env": object{"A B": "{mcp_server}"}}}}},
	{"all-fields.agent.json", "agent/home-files", "/modes/0/mcp_server/0/home_files/0/path", object{"/modes/0/mcp_server": list{object{"home_files": list{object{"path": "../x", "lines": list{"{mcp_server}"}}}}}}},
	{"all-fields.agent.json", "agent/ranges", "/modes/0/mcp_server/1", object{"/modes/0/mcp_server": list{object{"argv": list{"{mcp_server}"}}, object{"argv": list{"{mcp_server}"}}}}},
	{"all-fields.agent.json", "mode/resume", "/modes/0/resume/0/argv", object{"/modes/0/resume": list{object{"argv": list{"resume", "{prompt}"}, "session": "$.id"}}}},
	{"all-fields.agent.json", "mode/resume", "/modes/0/resume/0/session", object{"/modes/0/resume": list{object{"argv": list{"resume", "{session}", "{prompt}"}}}}},
	{"all-fields.agent.json", "mode/forbidden-flags", "/modes/0/resume/0/argv/1", object{"/modes/0/resume": list{object{"argv": list{"{session}", "--no-sandbox", "{prompt}"}, "session": "$.id"}}}},
	{"all-fields.agent.json", "agent/placeholders", "/modes/0/resume/0/argv/0", object{"/modes/0/resume": list{object{"argv": list{"{session} {other}", "{prompt}"}, "session": "$.id"}}}},
	{"all-fields.agent.json", "schema/pattern", "/modes/0/resume/0/session", object{"/modes/0/resume": list{object{"argv": list{"{session}", "{prompt}"}, "session": "id"}}}},
	{"all-fields.agent.json", "agent/ranges", "/modes/0/resume/1", object{"/modes/0/resume": list{object{"argv": list{"{session}", "{prompt}"}, "session": "$.id"}, object{"argv": list{"{session}", "{prompt}"}, "session": "$.id"}}}},
	{"all-fields.agent.json", "agent/live", "/live/0/modes/0", object{"/live": list{object{"modes": list{"other"}, "egress": list{"a.example:443"}, "secrets": list{"K"}}}}},
	{"all-fields.agent.json", "agent/live", "/live/0/egress/0", object{"/live": list{object{"modes": list{"exec-json"}, "egress": list{"127.0.0.1:443"}, "secrets": list{"K"}}}}},
	{"all-fields.agent.json", "agent/live", "/live/0/egress/0", object{"/live": list{object{"modes": list{"exec-json"}, "egress": list{"*.com:443"}, "secrets": list{"K"}}}}},
	{"all-fields.agent.json", "agent/live", "/live/0/egress/0", object{"/live": list{object{"modes": list{"exec-json"}, "egress": list{"a.example:53"}, "secrets": list{"K"}}}}},
	{"all-fields.agent.json", "agent/live", "/live/0/secrets/0", object{"/live": list{object{"modes": list{"exec-json"}, "egress": list{"a.example:443"}, "secrets": list{"A B"}}}}},
	{"all-fields.agent.json", "agent/live", "/live/0/secrets/0", object{"/live": list{object{"modes": list{"exec-json"}, "egress": list{"a.example:443"}, "secrets": list{"K"}, "set": object{"K": "x"}}}}},
	{"all-fields.agent.json", "agent/live", "/live/0/set/A", object{"/live": list{object{"modes": list{"exec-json"}, "egress": list{"a.example:443"}, "secrets": list{"K"}, "set": object{"A": "{base_url}"}}}}},
	{"all-fields.agent.json", "agent/live", "/live/0/argv/0", object{"/live": list{object{"modes": list{"exec-json"}, "egress": list{"a.example:443"}, "secrets": list{"K"}, "argv": list{"{secret}"}}}}},
	{"all-fields.agent.json", "agent/live", "/live/0/home_files/0/lines/0", object{"/live": list{object{"modes": list{"exec-json"}, "egress": list{"a.example:443"}, "secrets": list{"K"}, "home_files": list{object{"path": "x", "lines": list{"{base_url}"}}}}}}},
	{"all-fields.agent.json", "agent/live", "/live/0/home_files/0/path", object{"/live": list{object{"modes": list{"exec-json"}, "egress": list{"a.example:443"}, "secrets": list{"K"}, "home_files": list{object{"path": "../x", "lines": list{"x"}}}}}}},
	{"all-fields.agent.json", "agent/ranges", "/live/0/releases", object{"/live": list{object{"modes": list{"exec-json"}, "egress": list{"a.example:443"}, "secrets": list{"K"}, "releases": "early"}}}},
	{"all-fields.agent.json", "mode/forbidden-flags", "/live/0/argv/0", object{"/live": list{object{"modes": list{"exec-json"}, "egress": list{"a.example:443"}, "secrets": list{"K"}, "argv": list{"--no-sandbox"}}}}},
	{"all-fields.agent.json", "schema/min-items", "/live/0/secrets", object{"/live": list{object{"modes": list{"exec-json"}, "egress": list{"a.example:443"}, "secrets": list{}}}}},
	{"all-fields.agent.json", "agent/holes", "/holes/0/mode", object{"/holes/0/mode": "other"}},
	{"all-fields.agent.json", "agent/holes", "/holes/1", object{"/holes/-": object{"probe": "chat-text-success", "releases": "<1.0.0", "mode": "exec-json", "reason": "The same again."}}},
	{"all-fields.agent.json", "agent/ranges", "/holes/0/releases", object{"/holes/0/releases": "early"}},
	{"all-fields.agent.json", "schema/min-length", "/holes/0/reason", object{"/holes/0/reason": "no"}},
	{"all-fields.agent.json", "mode/id", "/modes/2/id", object{"/modes/1/id": "file"}},
	{"all-fields.agent.json", "mode/id", "/modes/1/id", object{"/modes/1/id": "version"}},
	{"all-fields.agent.json", "mode/trust-argv", "/modes/0/trust_argv/0", object{"/modes/0/trust_argv/0": "--no"}},
	{"all-fields.agent.json", "mode/default", "/modes", object{"/modes/0/default": gone{}}},
	{"all-fields.agent.json", "mode/default", "/modes/1/default", object{"/modes/1/default": true}},
	{"all-fields.agent.json", "mode/transport", "/modes/0/transport", object{"/modes/0/transport": "json-rpc"}},
	{"all-fields.agent.json", "mode/transport", "/modes/1/stdin_mode", object{"/modes/1/stdin_mode": "none"}},
	{"all-fields.agent.json", "mode/prompt", "/modes/2/argv/0/argv", object{"/modes/2/argv/0/argv": list{"run"}}},
	{"all-fields.agent.json", "mode/prompt", "/modes/0/argv/1/argv", object{"/modes/0/argv/1/argv": list{"exec", "hello"}}},
	{"all-fields.agent.json", "mode/forbidden-flags", "/modes/0/argv/1/argv/1", object{"/modes/0/argv/1/argv/1": "--no-sandbox=true"}},
	{"all-fields.agent.json", "mode/forbidden-flags", "/modes/0/allow_forbidden/{key}", object{"/modes/0/allow_forbidden/--yes": " "}},
	{"all-fields.agent.json", "mode/forbidden-flags", "/modes/0/allow_forbidden/{key}", object{"/modes/0/allow_forbidden/--other": "why"}},
	{"all-fields.agent.json", "mode/output-of", "/modes/1/output_of", object{"/modes/1/output_of": "other"}},
	{"all-fields.agent.json", "mode/output-of", "/modes/1/output_of", object{"/modes/1/output_of": "acp"}},
	{"all-fields.agent.json", "mode/output-of", "/modes/1/output_of", object{"/modes/1/output_of": "exec-json"}},
	{"all-fields.agent.json", "mode/side-requests", "/modes/0/side_requests/0", object{"/modes/0/side_requests/0": object{"purpose": "a title", "answer": "Title"}}},
	{"all-fields.agent.json", "mode/stdin-message", "/modes/3/stdin_message", object{"/modes/3/stdin_message": gone{}}},
	{"all-fields.agent.json", "mode/stdin-message", "/modes/3/stdin_message", object{"/modes/3/stdin_message/content": list{"prompt"}}},
	{"all-fields.agent.json", "mode/stdin-message", "/modes/0/stdin_message", object{"/modes/0/stdin_message": object{"text": "{prompt}"}}},
	{"all-fields.agent.json", "mode/tools", "/modes/0/tools/{key}", object{"/modes/0/tools/list-files": list{}}},
	{"all-fields.agent.json", "dialect/event-type", "/modes/0/dialects/0/event_type/0", object{"/modes/0/dialects/0/event_type/0/name": "both"}},
	{"all-fields.agent.json", "dialect/event-type", "/modes/0/dialects/0/event_type/1", object{"/modes/0/dialects/0/event_type/1/name": gone{}}},
	{"all-fields.agent.json", "dialect/paths", "/modes/0/dialects/0/event_type/0/path", object{"/modes/0/dialects/0/event_type/0/path": "type"}},
	{"all-fields.agent.json", "dialect/paths", "/modes/0/dialects/0/events/0/fields/id", object{"/modes/0/dialects/0/events/0/fields/id": "$.a[].id"}},
	{"all-fields.agent.json", "dialect/paths", "/modes/0/dialects/0/opaque/0", object{"/modes/0/dialects/0/opaque/0": "$.*.a"}},
	{"all-fields.agent.json", "dialect/paths", "/modes/0/dialects/0/unions/0/path", object{"/modes/0/dialects/0/unions/0/path": "content"}},
	{"all-fields.agent.json", "dialect/paths", "/modes/0/dialects/0/events/2/each", object{"/modes/0/dialects/0/events/2/each": "$.content", "/modes/0/dialects/0/events/2/fields": gone{}}},
	{"all-fields.agent.json", "dialect/paths", "/modes/0/dialects/0/events/2/fields/text", object{"/modes/0/dialects/0/events/2/each": "$.content[other]"}},
	{"all-fields.agent.json", "dialect/paths", "/modes/0/dialects/0/pairs/0/close_id", object{"/modes/0/dialects/0/pairs/0/close_id": "call_id"}},
	{"all-fields.agent.json", "dialect/conditions", "/modes/0/dialects/0/events/2/equals", object{"/modes/0/dialects/0/events/2/when": gone{}}},
	{"all-fields.agent.json", "dialect/terminal", "/modes/0/dialects/0/terminal", object{"/modes/0/dialects/0/terminal/events": gone{}}},
	{"all-fields.agent.json", "dialect/enums", "/modes/0/dialects/0/enums/{key}", object{"/modes/0/dialects/0/enums/$.approval": list{"free text"}}},
	{"all-fields.agents-index.json", "agents-index/order", "/agents/1/id", object{"/agents/1/id": "a"}},
	{"all-fields.releases.json", "releases/unique", "/releases/1", object{"/releases/1/upstream": "npm"}},
	{"all-fields.releases.json", "releases/unique", "/channels/1/name", object{"/channels/-": object{"name": "latest", "version": "1.0.0"}}},
	{"all-fields.diagnostics.json", "diagnostics/unique", "/templates/1/id", object{"/templates/-": object{"id": "retry", "text": "another text", "class": "auth", "source": "s", "match": list{"another text"}, "no_match": list{"x"}}}},
	{"all-fields.diagnostics.json", "diagnostics/holes", "/templates/0/text", object{"/templates/0/holes/delay": gone{}}},
	{"all-fields.diagnostics.json", "diagnostics/holes", "/templates/0/holes/more", object{"/templates/0/holes/more": "int"}},
	{"all-fields.diagnostics.json", "diagnostics/holes", "/templates/0/holes/delay", object{"/templates/0/holes/delay": "word"}},
	{"all-fields.diagnostics.json", "diagnostics/literal", "/templates/0/text", object{"/templates/0/text": "{count}: {total} {delay}"}},
	{"all-fields.diagnostics.json", "diagnostics/ranges", "/templates/0/releases", object{"/templates/0/releases": "old"}},
	{"all-fields.probe.json", "probe/files", "/fixture_files/{key}", object{"/fixture_files/..~1x": "x"}},
	{"all-fields.probe.json", "probe/events", "/expected_min_events/optional/0", object{"/expected_min_events/optional/0": "done"}},
	{"all-fields.probe.json", "probe/time-limits", "/expected_min_events/time_limits/inactivity", object{"/expected_min_events/time_limits/inactivity": 31}},
	{"all-fields.probe.json", "probe/run", "/expected_min_events/run", object{"/expected_min_events/kind": "help"}},
	{"all-fields.probe.json", "probe/run", "/expected_min_events/run/extra_argv/0", object{"/expected_min_events/run/extra_argv/0": "--dir=/home/someone/x"}},
	{"all-fields.probe.json", "probe/prompt-size", "/expected_min_events/run/prompt_repeat", object{"/prompt": strings.Repeat("x", 1<<20)}},
	{"spec-example.expected-min-events.json", "probe/events", "/forbidden/2", object{"/forbidden/-": "raw_secret"}},
	{"spec-example.expected-min-events.json", "probe/time-limits", "/time_limits/first_byte", object{"/time_limits": object{"first_byte": 121}}},
	{"all-fields.env-policy.json", "probe/environment", "/unset/0", object{"/unset/0": "{other}"}},
	{"all-fields.probe.json", "probe/environment", "/env_policy/unset/1", object{"/env_policy/unset/1": "EXAMPLE_MODE"}},
	{"all-fields.script.json", "probe/step", "/steps/0", object{"/steps/0/empty": true}},
	{"all-fields.script.json", "probe/step", "/steps/0", object{"/steps/0": object{}}},
	{"all-fields.probe.json", "probe/repeat", "/script/steps/0/repeat", object{"/script/steps/0/repeat": true}},
	{"all-fields.agent.json", "mode/client", "/modes/1/client", object{"/modes/1/client": gone{}}},
	{"all-fields.agent.json", "mode/client", "/modes/0", object{"/modes/0/select_model": true}},
	{"all-fields.agent.json", "agent/version-probe", "/version_probe", object{"/version_probe/handshake": "acp"}},
	{"all-fields.agent.json", "agent/version-probe", "/version_probe/handshake", object{"/version_probe/handshake": "exec-json", "/version_probe/argv": gone{}}},
	{"all-fields.agent.json", "dialect/extends", "/modes/0/dialects/0", object{"/modes/0/dialects/0/event_type": gone{}}},
	{"all-fields.agent.json", "dialect/extends", "/modes/0/dialects/0/extends", object{"/modes/0/dialects/0/extends": "family"}},
	{"all-fields.client.json", "client/speaks", "", object{"/acp": gone{}, "/commands": gone{}}},
	{"all-fields.client.json", "client/steps", "/acp/steps/4", object{"/acp/steps": list{"initialize", "authenticate", "session/new", "session/prompt", "model"}}},
	{"all-fields.client.json", "client/steps", "/acp/steps", object{"/acp/steps": list{"initialize", "authenticate", "model", "session/prompt"}}},
	{"all-fields.client.json", "client/steps", "/acp/model_selection", object{"/acp/model_selection": gone{}}},
	{"all-fields.client.json", "client/permission", "/acp/permission/1", object{"/acp/permission/1/option_id": "yes"}},
	{"all-fields.host.json", "probe/attachments", "/images/0/base64", object{"/images/0/base64": "aGVsb"}},
	{"all-fields.host.json", "probe/attachments", "/mcp_servers/1/name", object{"/mcp_servers/-": object{"name": "s", "command": "x"}}},
	{"all-fields.probe.json", "probe/attachments", "/host/images/1/name", object{"/host/images/-": object{"name": "dot.png", "mime_type": "image/png", "base64": "aGVsbG8="}}},
	{"all-fields.host.json", "probe/host-script", "/cancel_at", object{"/script": object{"requests": list{object{"method": "session/list", "params": object{}}}}}},
	{"all-fields.script.json", "probe/text", "/steps/0/text", object{"/steps/0/text": list{" "}}},
}

// helpPages makes an observation one of a help command.
func helpPages(pages list) object {
	return object{
		"/command/mode": "help", "/protocol_family": "plain/v1", "/shape/vocabulary": object{"help": pages}, "/parser_replay": gone{},
		"/shape/path": "shapes/plain/sha256-f58940a313992e6838ac3fc1f2356916cf8b53c42920a3f59cabc510f1236ec9.shape.json",
	}
}

func TestRules(t *testing.T) {
	files := testFiles(t, "valid")
	broken := map[string]bool{}
	for _, tt := range brokenRules {
		broken[tt.rule] = true
		kind := kindOfTestFile(t, tt.file)
		data := edit(t, files[tt.file], tt.changes)
		if _, resign := tt.changes["/signature"]; resign {
			signature, err := SignatureOf(data)
			if err != nil {
				t.Fatal(err)
			}
			data = edit(t, data, object{"/signature": string(signature)})
		}
		problems := Validate(kind, tt.file, data)
		if len(problems) != 1 || problems[0].Rule != tt.rule || problems[0].Pointer != tt.pointer {
			t.Errorf("%s with %v: want %s at %s, got:\n%v", tt.file, tt.changes, tt.rule, tt.pointer, problems)
		}
	}
	ids := map[string]bool{}
	for _, rule := range Rules() {
		if ids[rule.ID] || rule.Purpose == "" || len(rule.Kinds) == 0 {
			t.Errorf("rule %q is listed twice, or lacks purpose or kinds", rule.ID)
		}
		ids[rule.ID] = true
		if !broken[rule.ID] {
			t.Errorf("no case breaks the rule %s", rule.ID)
		}
	}
}

func TestMCPHomeFileMayStandInPlaceOfTheAgents(t *testing.T) {
	file := HomeFile{Path: ".example/config", Lines: []string{"{base_url} {model} {secret} {home} {cwd}", "{mcp_server}"}}
	agent := Agent{Modes: []Mode{{MCP: []MCPForm{{HomeFiles: []HomeFile{file}}}}}}
	checkPlaceholders(agent, func(at, problem, _ string) { t.Errorf("%s: %s", at, problem) })
}
