package contract

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// kindOfTestFile reads "<name>.<kind>.json" and "<name>.<kind>.jsonl".
func kindOfTestFile(t *testing.T, name string) Kind {
	t.Helper()
	parts := strings.Split(name, ".")
	if len(parts) != 3 {
		t.Fatalf("testdata file %s is not named <name>.<kind>.json", name)
	}
	return Kind(parts[1])
}

// validate is Validate for test files, whose folder does not name the family of a transcript; the file name does.
func validate(kind Kind, file string, data []byte) Problems {
	if kind != KindTranscript {
		return Validate(kind, file, data)
	}
	family := FamilyJSONEvent
	if strings.Contains(file, "acp") {
		family = FamilyACP
	} else if strings.Contains(file, "pi-rpc") {
		family = FamilyPiRPC
	}
	return ValidateTranscript(file, family, strings.NewReader(string(data)))
}

func testFiles(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join("testdata", dir))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join("testdata", dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = data
	}
	return files
}

// The examples of the specification, with their placeholders filled in, and one record of each kind that has every
// field.
func TestValidExamples(t *testing.T) {
	kinds := map[Kind]bool{}
	for name, data := range testFiles(t, "valid") {
		kind := kindOfTestFile(t, name)
		kinds[kind] = true
		if problems := validate(kind, name, data); len(problems) > 0 {
			t.Errorf("a valid record has problems:\n%v", problems)
		}
	}
	for _, kind := range Kind("").Values() {
		if !kinds[Kind(kind)] {
			t.Errorf("testdata/valid has no %s", kind)
		}
	}
}

func TestStrictJSON(t *testing.T) {
	valid := string(testFiles(t, "valid")["spec-example.observation.json"])
	tests := map[string]struct{ data, rule, pointer string }{
		"empty":           {"", "json/syntax", ""},
		"cut off":         {valid[:100], "json/syntax", ""},
		"duplicate key":   {strings.Replace(valid, "{", `{"agent":"codex",`, 1), "json/syntax", ""},
		"two values":      {valid + "{}", "json/syntax", ""},
		"invalid UTF-8":   {strings.Replace(valid, "codex", "code\xff", 1), "json/syntax", ""},
		"byte order mark": {"\ufeff" + valid, "json/syntax", ""},
		"huge number":     {strings.Replace(valid, `"schema_version": 1`, `"schema_version": 1e999`, 1), "json/syntax", ""},
		"deep":            {strings.Repeat("[", 100) + strings.Repeat("]", 100), "json/depth", ""},
		"large":           {strings.Repeat(" ", MaxRecordBytes+1), "json/size", ""},
		"a list":          {"[]", "schema/type", ""},
		"one with a dot":  {strings.Replace(valid, `"schema_version": 1`, `"schema_version": 1.0`, 1), "json/number", "/schema_version"},
	}
	for name, tt := range tests {
		problems := Validate(KindObservation, "file.json", []byte(tt.data))
		if len(problems) != 1 || problems[0].Rule != tt.rule || problems[0].Pointer != tt.pointer {
			t.Errorf("%s: want %s at %q, got %v", name, tt.rule, tt.pointer, problems)
		}
	}
	if problems := Validate("nothing", "file.json", []byte(valid)); len(problems) != 1 || problems[0].Rule != "json/kind" {
		t.Errorf("an unknown kind gives %v", problems)
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	data := edit(t, testFiles(t, "valid")["spec-example.observation.json"], object{"/agent": "A", "/platform": "amiga", "/capture/runner": gone{}, "/foo": 1})
	got := Validate(KindObservation, "dir/x.json", data).Error()
	want := strings.Join([]string{
		"dir/x.json: /agent: the text does not have the form that the field needs (schema/pattern) — AgentID names an agent: the file registry/agents/<id>.json.; match ^[a-z0-9][a-z0-9-]{0,62}$",
		"dir/x.json: /capture/runner: the field is required and missing (schema/required) — add it: see the schema of this record",
		"dir/x.json: /foo: the field is unknown (schema/unknown-field) — remove it; legal fields here: agent, capture, cli_version, command, extensions, install, parser_replay, platform, probe, protocol_family, redaction, schema_version, shape, validity_level",
		"dir/x.json: /platform: the value is not one of the legal ones (schema/enum) — use one of darwin-arm64, darwin-x64, linux-x64, linux-arm64, win32-x64, unknown",
	}, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if Problems(nil).Err() != nil {
		t.Error("no problems are an error")
	}
}

func TestMigrations(t *testing.T) {
	newer := edit(t, testFiles(t, "valid")["spec-example.observation.json"], object{"/schema_version": 3, "/machine": "darwin-arm64", "/platform": gone{}})
	step := func(from, to float64, changes object) func([]byte) ([]byte, error) {
		return func(data []byte) ([]byte, error) {
			value, err := parseStrict(data)
			if err != nil {
				return nil, err
			}
			if value.(map[string]any)["schema_version"] != from {
				t.Errorf("the migration from %v was given another version", from)
			}
			changes["/schema_version"] = to
			return edit(t, data, changes), nil
		}
	}
	toTwo := step(3, 2, object{"/machine": gone{}, "/platform": "darwin-arm64"})
	toOne := step(2, 1, object{})
	failing := func([]byte) ([]byte, error) { return nil, errors.New("cannot") }
	tests := map[string]struct {
		migrations Migrations
		rule       string
	}{
		"none":               {nil, "record/schema-version"},
		"of another kind":    {Migrations{{KindShape, 3}: toTwo, {KindShape, 2}: toOne}, "record/schema-version"},
		"half of the way":    {Migrations{{KindObservation, 3}: toTwo}, "record/schema-version"},
		"that fails":         {Migrations{{KindObservation, 3}: failing}, "record/migration"},
		"that goes nowhere":  {Migrations{{KindObservation, 3}: func(data []byte) ([]byte, error) { return data, nil }}, "record/schema-version"},
		"all of the way":     {Migrations{{KindObservation, 3}: toTwo, {KindObservation, 2}: toOne}, ""},
		"to no valid record": {Migrations{{KindObservation, 3}: step(3, 1, object{})}, "schema/"},
	}
	for name, tt := range tests {
		v := Validator{Migrations: tt.migrations}
		problems := v.Validate(KindObservation, "x.json", newer)
		if tt.rule == "" {
			o, more := DecodeWith[Observation](v, KindObservation, "x.json", newer)
			if len(problems)+len(more) > 0 || o.SchemaVersion != 1 || o.Platform != "darwin-arm64" {
				t.Errorf("migration %s: %v, %+v", name, problems, o)
			}
		} else if len(problems) == 0 || !strings.HasPrefix(problems[0].Rule, tt.rule) {
			t.Errorf("migration %s: want %s, got %v", name, tt.rule, problems)
		}
	}
}

func TestDecodeDefaults(t *testing.T) {
	files := testFiles(t, "valid")
	o, _ := Decode[Observation](KindObservation, "o", edit(t, files["spec-example.observation.json"], object{"/parser_replay": gone{}}))
	if o.ParserReplay == nil || o.ParserReplay.Status != ReplayNotRun || o.Capture.Backend != BackendLive {
		t.Errorf("observation: %+v, %+v", o.ParserReplay, o.Capture)
	}
	s, _ := Decode[SourceEvidence](KindSourceEvidence, "s", edit(t, files["all-fields.source-evidence.json"], object{"/cli_version": gone{}}))
	if s.CLIVersion != "unknown" {
		t.Errorf("source evidence: %+v", s)
	}
	shape, _ := Decode[Shape](KindShape, "s", files["no-frames.shape.json"])
	if shape.StderrClass != StderrNone {
		t.Errorf("shape: %+v", shape)
	}
	e, _ := Decode[ErrorCase](KindErrorCase, "e", files["success.error-case.json"])
	if e.ClassifierInput.Events == nil || e.ClassifierInput.ErrorCode != nil {
		t.Errorf("error case: %+v", e)
	}
	m, _ := Decode[MinEvents](KindMinEvents, "m", files["spec-example.expected-min-events.json"])
	if diff := cmp.Diff(&TimeLimits{Total: 120, FirstByte: 60, Inactivity: 60}, m.TimeLimits); diff != "" || m.Kind != "run" {
		t.Errorf("minimum events: %s (-want +got)\n%s", m.Kind, diff)
	}
	p, problems := Decode[Probe](KindProbe, "p", []byte(`{"id": "x", "script": {"usage": {"input_tokens": 0, "cached_tokens": 0, "output_tokens": 0, "reasoning_tokens": 0}, "steps": [{"empty": true}]}, "env_policy": {}}`))
	if len(problems) > 0 || p.Script.Requests != "required" || p.EnvPolicy.CredentialFiles != "keep" {
		t.Errorf("probe: %v %+v", problems, p)
	}
	a, _ := Decode[Agent](KindAgent, "a", edit(t, files["all-fields.agent.json"], object{"/freshness_days": gone{}, "/range_policy": gone{}}))
	if a.FreshnessDays != 14 || a.RangePolicy != RangeExact {
		t.Errorf("agent: %d %s", a.FreshnessDays, a.RangePolicy)
	}
	blocking := map[SupportStatus]bool{TooOld: true, KnownBreaking: true, KnownBreakingShape: true}
	for _, status := range SupportStatus("").Values() {
		data := edit(t, files["spec-range.support-matrix.json"], object{
			"/agents/0/support_status": status, "/agents/0/policy": gone{}, "/agents/0/server_variants": gone{}, "/agents/0/notes": gone{}, "/agents/0/latest_seen": gone{},
		})
		m, problems := Decode[SupportMatrix](KindSupportMatrix, "m", data)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		entry, want := m.Agents[0], AllowRun("warn")
		if blocking[SupportStatus(status)] {
			want = "block"
		}
		if entry.Policy.AllowRun != want || entry.ServerVariants == nil || entry.Notes == nil || entry.LatestSeen != nil || !slices.Equal(entry.ObservedShapes[0].Backends, []Backend{BackendLive}) {
			t.Errorf("%s: %+v", status, entry)
		}
	}
	if _, problems := Decode[Shape](KindObservation, "o", files["spec-example.observation.json"]); len(problems) != 1 || problems[0].Rule != "json/kind" {
		t.Errorf("decoding into another type gives %v", problems)
	}
}

// Writing a record that was read changes nothing about what it says.
func TestMarshalRoundTrip(t *testing.T) {
	for name, data := range testFiles(t, "valid") {
		kind := kindOfTestFile(t, name)
		if kind == KindTranscript {
			continue
		}
		record, problems := Validator{}.load(kind, name, data)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		written, err := Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		if problems := Validate(kind, name, written); len(problems) > 0 {
			t.Errorf("%s: what was written is not valid: %v", name, problems)
		}
		again, _ := Validator{}.load(kind, name, written)
		if diff := cmp.Diff(record, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s changes when it is written (-before +after)\n%s", name, diff)
		}
	}
}

func TestPairs(t *testing.T) {
	files := testFiles(t, "valid")
	decode := func() (Observation, Shape, Evidence) {
		s, p1 := Decode[Shape](KindShape, "s", files["all-fields.shape.json"])
		o, p2 := Decode[Observation](KindObservation, "o", files["all-fields.observation.json"])
		e, p3 := Decode[Evidence](KindEvidence, "e", files["all-fields.evidence.json"])
		if len(p1)+len(p2)+len(p3) > 0 {
			t.Fatal(p1, p2, p3)
		}
		o.Shape.Signature, o.ValidityLevel = s.Signature, "community_confirmed"
		return o, s, e
	}
	hash := HashBytes(nil)
	tests := map[string]func(*Observation, *Shape, *Evidence){
		"":                        func(*Observation, *Shape, *Evidence) {},
		"observation/shape":       func(o *Observation, _ *Shape, _ *Evidence) { o.Shape.Signature = hash },
		"observation/stdout-hash": func(o *Observation, _ *Shape, _ *Evidence) { o.Capture.RawStdoutSHA256 = nil },
		"observation/stderr-hash": func(_ *Observation, s *Shape, _ *Evidence) { s.StderrClass = "auth" },
		"evidence/raw-hash":       func(_ *Observation, _ *Shape, e *Evidence) { e.RawSHA256 = hash },
		"evidence/run":            func(_ *Observation, _ *Shape, e *Evidence) { e.BinarySHA256 = nil },
		"evidence/retention":      func(_ *Observation, _ *Shape, e *Evidence) { e.RetentionDays = 0 },
		"evidence/level":          func(o *Observation, _ *Shape, _ *Evidence) { o.ValidityLevel = "confirmed" },
	}
	for rule, change := range tests {
		o, s, e := decode()
		change(&o, &s, &e)
		problems := append(CheckShape("o", o, s), CheckEvidence("e", e, o)...)
		if rule == "" && len(problems) > 0 || rule != "" && (len(problems) != 1 || problems[0].Rule != rule) {
			t.Errorf("want %q, got %v", rule, problems)
		}
	}
	// Without frames on standard output, or where it is speech of two sides, the hash may be missing.
	o, s, _ := decode()
	o.Capture.RawStdoutSHA256, o.ProtocolFamily, s.ProtocolFamily = nil, FamilyACP, FamilyACP
	if problems := CheckShape("o", o, s); len(problems) > 0 {
		t.Error(problems)
	}
}

func TestKindOfPath(t *testing.T) {
	tests := map[string]Kind{
		"agents.json": KindAgentsIndex, "support-matrix.json": KindSupportMatrix, "agents/a.json": KindAgent, "releases/a.json": KindReleases, "diagnostics/a.json": KindDiagnostics, "clients/a.json": KindClient, "probes/p/host.json": KindHostPolicy,
		"shapes/plain/sha256-0.shape.json": KindShape, "fixtures/plain/sha256-0.sanitized.jsonl": KindTranscript, "fixtures/pi-rpc/sha256-0.transcript.jsonl": KindTranscript,
		"observations/a/1/linux-x64/t.p.observation.json": KindObservation, "observations/a/1/linux-x64/t.p.evidence.json": KindEvidence,
		"source-evidence/a/x.json": KindSourceEvidence, "error-cases/a/p.error-case.json": KindErrorCase, "probes/p/script.json": KindScript,
		"probes/p/env-policy.json": KindEnvPolicy, "probes/p/expected-min-events.json": KindMinEvents,
		"shape-aliases.json": "", "agents/x/y.json": "", "probes/p/prompt.md": "", "shapes/plain/README": "", "goldens/x.json": "", "observations/x.json": "",
	}
	for path, want := range tests {
		got, ok := KindOfPath(path)
		if ok != (want != "") || (ok && got != want) {
			t.Errorf("KindOfPath(%q) = %q, %v; want %q", path, got, ok, want)
		}
	}
	for _, family := range Family("").Values() {
		if got, ok := FamilyOfDir(Family(family).Dir()); !ok || got != Family(family) {
			t.Errorf("FamilyOfDir does not read the folder of %s", family)
		}
	}
}

func FuzzValidate(f *testing.F) {
	for _, dir := range []string{"valid", "invalid"} {
		for _, data := range testFiles(f, dir) {
			f.Add(uint8(0), data)
		}
	}
	kinds := Kind("").Values()
	for i := range kinds {
		f.Add(uint8(i), []byte(`{"schema_version":1}`))
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		k := Kind(kinds[int(kind)%len(kinds)])
		for _, p := range Validate(k, "fixtures/acp-json-rpc/x", data) {
			if p.Rule == "" || p.Message == "" || p.Remedy == "" {
				t.Fatalf("an incomplete problem: %+v", p)
			}
		}
	})
}

func BenchmarkValidateObservation(b *testing.B) {
	data := testFiles(b, "valid")["spec-example.observation.json"]
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if problems := Validate(KindObservation, "x", data); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}
