package contract

import (
	"strings"
	"testing"
)

// invalidExamples are the specification's examples that must fail and that one record can show, with the rule that
// each must break and the place. Those that need other files or the scanner are small trees of pkg/lint.
var invalidExamples = map[string]struct{ rule, pointer string }{
	"schema-version-2.observation.json":                   {"record/schema-version", "/schema_version"},
	"passed-without-raw-hash.observation.json":            {"schema/required", "/capture/raw_client_transcript_sha256"},
	"cli-version-unknown.observation.json":                {"observation/cli-version", "/cli_version"},
	"level-source-derived.observation.json":               {"schema/enum", "/validity_level"},
	"level-runtime-observed.source-evidence.json":         {"schema/enum", "/validity_level"},
	"no-source-refs.source-evidence.json":                 {"schema/min-items", "/source_refs"},
	"raw-transcript-hash.source-evidence.json":            {"schema/unknown-field", "/capture"},
	"exit-without-code-or-signal.transcript.jsonl":        {"transcript/exit", ""},
	"data-and-data-ref.transcript.jsonl":                  {"transcript/data", ""},
	"event-type-omitted.shape.json":                       {"shape/event-types", "/event_types"},
	"signature-of-another.shape.json":                     {"shape/signature", "/signature"},
	"status-verified.support-matrix.json":                 {"schema/enum", "/agents/0/support_status"},
	"range-with-empty-shapes.support-matrix.json":         {"schema/min-items", "/agents/0/observed_shapes"},
	"range-without-shapes.support-matrix.json":            {"schema/required", "/agents/0/observed_shapes"},
	"known-breaking-unexplained.support-matrix.json":      {"matrix/known-breaking", "/agents/0/known_breaking_shapes"},
	"known-breaking-without-reason.support-matrix.json":   {"schema/required", "/agents/0/known_breaking_shapes/0/reason"},
	"known-breaking-without-evidence.support-matrix.json": {"schema/min-items", "/agents/0/known_breaking_shapes/0/evidence"},
	"verified-by-synthetic-mock.support-matrix.json":      {"matrix/claim-level", "/agents/0/support_status"},
	"verified-by-source-derived.support-matrix.json":      {"matrix/claim-level", "/agents/0/support_status"},
	"verified-by-vendor-documented.support-matrix.json":   {"matrix/claim-level", "/agents/0/support_status"},
	"failed-without-classification.error-case.json":       {"schema/required", "/expected_failure_classification"},
	"user-action-reauthenticate.error-case.json":          {"schema/enum", "/expected_failure_classification/user_action"},
	"failure-stage-unknown.error-case.json":               {"schema/enum", "/expected_failure_classification/failure_stage"},
}

func TestInvalidExamples(t *testing.T) {
	files := testFiles(t, "invalid")
	for name := range files {
		if _, ok := invalidExamples[name]; !ok {
			t.Errorf("testdata/invalid/%s is listed nowhere", name)
		}
	}
	for name, want := range invalidExamples {
		data, ok := files[name]
		if !ok {
			t.Errorf("testdata/invalid/%s is missing", name)
			continue
		}
		problems := validate(kindOfTestFile(t, name), name, data)
		if len(problems) != 1 {
			t.Errorf("%s: %d problems, want exactly the one of its rule:\n%v", name, len(problems), problems)
			continue
		}
		p := problems[0]
		if p.Rule != want.rule || p.Pointer != want.pointer {
			t.Errorf("%s: broke %s at %q, want %s at %q", name, p.Rule, p.Pointer, want.rule, want.pointer)
		}
		if p.File != name || p.Message == "" || p.Remedy == "" {
			t.Errorf("%s: the problem does not name file, message and remedy: %+v", name, p)
		}
		if strings.HasSuffix(name, ".jsonl") && p.Line != 1 {
			t.Errorf("%s: line %d, want 1", name, p.Line)
		}
	}
}
