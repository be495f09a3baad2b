package lint

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// redialect is the base tree with another dialect of the mode run-json: in each pair the first text becomes the second.
func redialect(t *testing.T, pairs ...string) files {
	t.Helper()
	f := base(t)
	for i := 0; i < len(pairs); i += 2 {
		if !bytes.Contains(f["agents/acme.json"], []byte(pairs[i])) {
			t.Fatalf("the agent has no %s", pairs[i])
		}
		f["agents/acme.json"] = bytes.Replace(f["agents/acme.json"], []byte(pairs[i]), []byte(pairs[i+1]), 1)
	}
	return f
}

// migrate changes the files as Migrate says, and generates the rest again.
func (f files) migrate(t *testing.T) (*Migration, error) {
	t.Helper()
	m, err := Migrate(f.tree(t), Options{Probes: baseProbes, Temp: t.TempDir()})
	if err != nil {
		return nil, err
	}
	for _, path := range m.Removed {
		delete(f, string(path))
	}
	for path, data := range m.Files {
		f[string(path)] = data
	}
	return m, f.generate()
}

// migrated migrates, and checks what holds after every migration.
func (f files) migrated(t *testing.T) *Migration {
	t.Helper()
	m, err := f.migrate(t)
	if err != nil {
		t.Fatal(err)
	}
	if findings := lint(t, f.tree(t)); len(findings) > 0 {
		t.Errorf("the migrated tree has findings:\n%v", findings)
	}
	after := maps.Clone(f)
	if again, err := f.migrate(t); err != nil || len(again.Moves)+len(again.Files)+len(again.Removed) > 0 {
		t.Errorf("a second migration does something: %v, %v", again, err)
	}
	if diff := cmp.Diff(after, f); diff != "" {
		t.Errorf("a second migration changed\n%s", diff)
	}
	return m
}

func (f files) records(t *testing.T) *registry.Records {
	t.Helper()
	r, err := registry.LoadRecords(f.tree(t), nil)
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r.Problems)
	}
	return r
}

func TestMigrateNothing(t *testing.T) {
	f := base(t)
	if m := f.migrated(t); len(m.Moves) > 0 {
		t.Errorf("moved: %v", m.Moves)
	}
	if diff := cmp.Diff(base(t), f); diff != "" {
		t.Errorf("a tree that is current changed\n%s", diff)
	}
}

// A shape whose signature moves takes fixture, golden and the references of its records along, and an alias leads to it.
func TestMigrateMoves(t *testing.T) {
	f := redialect(t, `"$.input"`, `"$.nothing"`)
	if got := ruleSet(lint(t, f.tree(t))); !got["fixture/shape"] {
		t.Errorf("a tree whose shapes and dialects disagree is accepted: %v", got)
	}
	before := f.records(t)
	m := f.migrated(t)
	if len(m.Moves) != 1 || m.Moves[0].Observations != 2 {
		t.Fatalf("moves: %v", m.Moves)
	}
	after := f.records(t)
	if after.Resolve(m.Moves[0].From) != m.Moves[0].To {
		t.Error("no alias leads from the old signature to the new one")
	}
	for i, rec := range after.Observations {
		was, is := before.Observations[i].Observation, rec.Observation
		if was.Shape.Signature == m.Moves[0].From {
			was.Shape.Signature, was.Shape.Path = m.Moves[0].To, registry.ShapePath(was.ProtocolFamily, m.Moves[0].To)
		}
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("%s: more than the reference changed\n%s", rec.Path, diff)
		}
		if diff := cmp.Diff(before.Observations[i].Evidence, rec.Evidence); diff != "" {
			t.Errorf("%s: the evidence changed\n%s", rec.Path, diff)
		}
	}
	for name := range f {
		if strings.Contains(name, m.Moves[0].From.FileStem()) {
			t.Errorf("%s is left", name)
		}
	}
	// Back again: the old signature is a shape once more, and no ring of aliases is left.
	f["agents/acme.json"] = base(t)["agents/acme.json"]
	f.migrated(t)
	if after := f.records(t); after.Resolve(m.Moves[0].To) != m.Moves[0].From || len(after.Aliases) != 1 {
		t.Errorf("aliases: %v", after.Aliases)
	}
}

// What became opaque goes from the shape to the vocabulary.
func TestMigrateToOpaque(t *testing.T) {
	f := redialect(t, `"$.input"`, `"$.nothing"`)
	f.migrated(t)
	f["agents/acme.json"] = base(t)["agents/acme.json"]
	m := f.migrated(t)
	for _, rec := range f.records(t).Observations {
		v := rec.Observation.Shape.Vocabulary
		if is := v != nil && slices.Equal(v.Keys, []string{"cmd"}); is != (rec.Shape == m.Moves[0].To) {
			t.Errorf("%s: %v", rec.Path, v)
		}
	}
}

// Two shapes that differed in nothing but what is ambient now become one, with the fixture of the first run.
func TestMigrateMerges(t *testing.T) {
	f := redialect(t, `"event_type": "ping", "reason": "a timer sends it"}`,
		`"event_type": "ping", "reason": "a timer sends it"}, {"event_type": "tool", "reason": "made up"}, {"event_type": "tool_end", "reason": "made up"}`,
		`"pairs": [{"open": "tool", "close": "tool_end", "id": "$.id"}],`, ``)
	for name, data := range f { // standard error is all that is left between the two
		if strings.HasSuffix(name, ".sanitized.jsonl") && bytes.Contains(data, []byte("retrying")) {
			lines := slices.DeleteFunc(slices.Collect(bytes.Lines(data)), func(line []byte) bool { return bytes.Contains(line, []byte("retrying")) })
			fresh := bytes.Join(lines, nil)
			old, now := contract.HashBytes(data), contract.HashBytes(fresh)
			f[name] = fresh
			for other := range f {
				if strings.HasSuffix(other, ".evidence.json") {
					f[other] = bytes.ReplaceAll(f[other], []byte(old), []byte(now))
				}
			}
		}
	}
	m := f.migrated(t)
	if len(m.Moves) == 0 {
		t.Fatal("nothing moved")
	}
	shared := map[contract.Hash]map[contract.ProbeID]bool{}
	for _, rec := range f.records(t).Observations {
		if shared[rec.Shape] == nil {
			shared[rec.Shape] = map[contract.ProbeID]bool{}
		}
		shared[rec.Shape][rec.Observation.Probe] = true
		if rec.Observation.Probe == "list-files" && len(rec.Observation.Shape.Ambient) != 3 {
			t.Errorf("%s: ambient %v", rec.Path, rec.Observation.Shape.Ambient)
		}
	}
	if got := shared[m.Moves[0].To]; !got["greet"] || !got["list-files"] {
		t.Errorf("the two shapes did not become one: %v", shared)
	}
}

// An invariant that the dialect no longer has is no longer broken: signatures stay, the records of the runs change.
func TestMigrateViolations(t *testing.T) {
	f := redialect(t, `"terminal": {"events": ["end"], "per_turn": 1}`, `"terminal": {"events": ["end"], "per_turn": 2}`)
	if m := f.migrated(t); len(m.Moves) > 0 || len(m.Files) == 0 {
		t.Errorf("moved: %v, written: %d", m.Moves, len(m.Files))
	}
	for _, rec := range f.records(t).Observations {
		if is := len(rec.Observation.Shape.Violations) > 0; is != (rec.Observation.Command.Mode == "run-json") {
			t.Errorf("%s: violations %v", rec.Path, rec.Observation.Shape.Violations)
		}
	}
}

// A fixture that redaction writes differently today is written so, and evidence has its hash.
func TestMigrateRedactsAgain(t *testing.T) {
	f := redialect(t, `"opaque": ["$.input"]`, `"opaque": ["$.input"], "enums": {"$.status": ["done"]}`)
	before := f.records(t)
	f.migrated(t)
	changed := 0
	for i, rec := range f.records(t).Observations {
		if rec.Evidence.FixtureSHA256 != before.Observations[i].Evidence.FixtureSHA256 {
			changed++
		}
	}
	if changed != 5 {
		t.Errorf("%d evidence records changed, of 5", changed)
	}
}

// What cannot be migrated is named, and nothing is.
func TestMigrateRefuses(t *testing.T) {
	edited := redialect(t, `"$.input"`, `"$.nothing"`)
	for name, data := range edited {
		if strings.HasSuffix(name, ".sanitized.jsonl") {
			edited[name] = bytes.Replace(data, []byte(`"status\":\"ok`), []byte(`"status\":\"no`), 1)
		}
	}
	split := redialect(t, `"dialects": [`, `"dialects": [{"name": "acme-later", "releases": ">=1.1.0", "event_type": [{"path": "$.type"}], "ids": ["$.session", "$.id"],
		"terminal": {"events": ["end"], "per_turn": 1}, "ambient": [{"event_type": "ping", "reason": "a timer sends it"}], "events": []},`)
	leaking := base(t)
	leaking["reports/diffs/acme/x.md"] = []byte("see /home/somebody/acme\n")
	broken := base(t)
	broken["agents/acme.json"] = broken["agents/acme.json"][1:]
	for name, f := range map[string]files{"edited": edited, "split": split, "leaking": leaking, "broken": broken} {
		m, err := f.migrate(t)
		var problems contract.Problems
		if !errors.As(err, &problems) || m != nil {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	// A withdrawn observation needs no fixture of its own.
	for name, data := range split {
		if strings.HasSuffix(name, ".list-files.evidence.json") && strings.Contains(name, "/1.1.0/") {
			split[name] = bytes.Replace(data, []byte(`"redaction_checked"`), []byte(`"withdrawn": {"at": "2026-03-02T10:00:00Z", "reason": "captured again"}, "redaction_checked"`), 1)
		}
	}
	if m, err := split.migrate(t); err != nil {
		t.Errorf("with the observation withdrawn: %v, %v", m, err)
	}
}
