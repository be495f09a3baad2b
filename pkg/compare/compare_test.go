package compare

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

var update = flag.Bool("update", false, "rewrite the wanted reports in testdata")

// TestRules reads one archive for each rule or edge of one: shapes, a line for each known and new observation, and the
// report in text, or in another format where the archive asks for it.
func TestRules(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	verdicts := map[Verdict]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := &world{TB: t, shapes: map[string]contract.Shape{}}
			var known, fresh []run
			var failures []Failure
			for _, f := range archive.Files {
				text := string(f.Data)
				name, isShape := strings.CutPrefix(f.Name, "shapes/")
				switch {
				case isShape:
					w.shapes[name] = sketch(t, text)
				case f.Name == "known":
					known = w.runs(text)
				case f.Name == "new":
					fresh = w.runs(text)
				case strings.HasPrefix(f.Name, "private/"):
					failure, err := ParseFailure(f.Name, f.Data)
					if err != nil {
						t.Fatal(err)
					}
					failures = append(failures, failure)
				}
			}
			report, err := Classify(w.tree(known), w.tree(fresh), catalog(), failures...)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range report.Items {
				verdicts[i.Verdict] = true
			}
			asked := false
			for n, f := range archive.Files {
				format, ok := strings.CutPrefix(f.Name, "want.")
				if !ok {
					continue
				}
				asked = true
				got := w.render(report, format)
				if *update {
					archive.Files[n].Data = []byte(got)
				} else if diff := cmp.Diff(string(f.Data), got); diff != "" {
					t.Errorf("%s: -want +got\n%s", f.Name, diff)
				}
			}
			if !asked {
				t.Error("the archive asks for no report")
			}
			if *update {
				w.put(".", contract.RelPath(file), txtar.Format(archive))
			}
		})
	}
	for _, rule := range Rules() {
		if !verdicts[rule.Verdict] {
			t.Errorf("no archive shows %s", rule.Verdict)
		}
		if rule.Purpose == "" || (rule.Verdict != SameShape && len(rule.Review) == 0) {
			t.Errorf("%s says too little", rule.Verdict)
		}
	}
	if last := rules[len(rules)-1]; last.Verdict != CompatibleNewShape {
		t.Errorf("the last rule is %s: an observation may stay without a verdict", last.Verdict)
	}
}

func (w *world) runs(text string) []run {
	var runs []run
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			runs = append(runs, parse(w, line))
		}
	}
	return runs
}

// render writes the report in a format, or its report files.
func (w *world) render(r *Report, format string) string {
	if format == "files" {
		var b strings.Builder
		files := r.Reports()
		for _, p := range slices.Sorted(maps.Keys(files)) {
			fmt.Fprintf(&b, "%s\n%s", p, files[p])
		}
		return b.String()
	}
	out, err := r.Render(Format(format))
	if err != nil {
		w.Fatal(err)
	}
	return string(out)
}

func TestUnknownFormat(t *testing.T) {
	if _, err := (&Report{}).Render("html"); err == nil || !strings.Contains(err.Error(), "markdown") {
		t.Errorf("got %v, want an error that lists the formats", err)
	}
}

func TestEmpty(t *testing.T) {
	w := &world{TB: t, shapes: map[string]contract.Shape{"a": sketch(t, "a\n $ object")}}
	runs := []run{parse(t, "shape=a"), parse(t, "shape=a version=2.0.0")}
	report, err := Classify(w.tree(runs), w.tree(runs), catalog())
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Items) != 0 || report.Found() || report.Worst != "" {
		t.Errorf("observations that the base holds were compared: %+v", report)
	}
	for _, f := range []Format{FormatText, FormatMarkdown} {
		if got := w.render(report, string(f)); !strings.Contains(got, "Nothing was compared") {
			t.Errorf("%s does not say that nothing was compared: %q", f, got)
		}
	}
}

func TestCannotTell(t *testing.T) {
	shapes := map[string]contract.Shape{"a": sketch(t, "a\n $ object"), "b": sketch(t, "b\n $ object")}
	tests := []struct {
		name, known, fresh string
		spoil              func(w *world, dir string)
		want               string
	}{
		{"shape missing", "shape=a no-shape", "shape=b version=2.0.0", nil, "shapes/"},
		{"golden that is none", "shape=a", "shape=b version=2.0.0 no-golden", func(w *world, dir string) {
			w.put(dir, registry.GoldenPath(registry.ReferenceParser, contract.FamilyJSONEvent, shapes["b"].Signature), []byte("SECRET"))
		}, "is no golden"},
		{"invalid observation", "shape=a", "shape=b version=2.0.0", func(w *world, dir string) {
			w.put(dir, "observations/sample/2.0.0/linux-x64/2026-01-01T000000Z.chat.observation.json", []byte(`{"agent":"SECRET"}`))
		}, "the new tree is invalid"},
		{"shape of another signature", "shape=a", "shape=b version=2.0.0 no-shape", func(w *world, dir string) {
			data, err := contract.Marshal(shapes["a"])
			if err != nil {
				w.Fatal(err)
			}
			w.put(dir, registry.ShapePath(contract.FamilyJSONEvent, shapes["b"].Signature), data)
		}, "another signature"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{TB: t, shapes: shapes}
			dir := t.TempDir()
			w.write(dir, w.runs(tt.fresh))
			if tt.spoil != nil {
				tt.spoil(w, dir)
			}
			fresh, err := registry.OpenTree(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer fresh.Close() //nolint:errcheck // read only
			_, err = Classify(w.tree(w.runs(tt.known)), fresh, catalog())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want an error with %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "SECRET") {
				t.Errorf("the error quotes the file: %v", err)
			}
		})
	}
}

func TestMissingShapeIsNamed(t *testing.T) {
	w := &world{TB: t, shapes: map[string]contract.Shape{"a": sketch(t, "a\n $ object"), "b": sketch(t, "b\n $ object")}}
	_, err := Classify(w.tree(w.runs("shape=a no-shape")), w.tree(w.runs("shape=b version=2.0.0")), catalog())
	if !errors.Is(err, registry.ErrMissing) {
		t.Errorf("got %v, want ErrMissing", err)
	}
}

func TestReadFailures(t *testing.T) {
	w := &world{TB: t}
	good := `{"agent":"sample","cli_version":"1.0.0","probe":"chat","captured_at":"2026-01-01T00:00:00Z","raw_client_transcript_sha256":"sha256:00","verdict":"redaction_failed",
		"failure":{"rule":"scan/canary","entry":3,"path":"$.SECRET","remedy":"SECRET"}}`
	dir := filepath.Join(t.TempDir(), "private[1]*")
	if got, err := ReadFailures(dir); err != nil || got != nil {
		t.Errorf("a folder that does not exist: %v, %v", got, err)
	}
	w.put(dir, "a"+FailureSuffix, []byte(good))
	w.put(dir, "raw.age", []byte("other"))
	got, err := ReadFailures(dir)
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	report, err := Classify(w.tree(nil), w.tree(nil), catalog(), got...)
	if err != nil {
		t.Fatal(err)
	}
	if report.Worst != RedactionFailed || !report.Found() {
		t.Errorf("worst is %q", report.Worst)
	}
	for _, f := range Format("").Values() {
		if out := w.render(report, f); strings.Contains(out, "SECRET") || !strings.Contains(out, "scan/canary") {
			t.Errorf("%s: %s", f, out)
		}
	}
	if files := report.Reports(); len(files) != 0 {
		t.Errorf("a failed redaction has report files: %v", files)
	}
	for name, bad := range map[string]string{
		"agent": strings.Replace(good, `"sample"`, `"../SECRET"`, 1), "failure.rule": strings.Replace(good, "scan/canary", "SECRET x", 1), "no failure record": `SECRET`,
		"cli_version": strings.Replace(good, "1.0.0", "SECRET\\n", 1),
	} {
		_, err := ParseFailure("f", []byte(bad))
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	// A record that cannot be read fails the whole.
	w.put(dir, "b"+FailureSuffix, []byte("{"))
	if _, err := ReadFailures(dir); err == nil {
		t.Error("a broken failure record went unnoticed")
	}
}

func FuzzParseFailure(f *testing.F) {
	f.Add([]byte(`{"agent":"a","cli_version":"1","probe":"p","captured_at":"2026-01-01T00:00:00Z","failure":{"rule":"a/b","entry":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		failure, err := ParseFailure("f", data)
		if err != nil {
			return
		}
		report := newReport([]Item{failure.item()})
		if out := report.annotations(); strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "::error") {
			t.Errorf("not one command: %q", out)
		}
	})
}

func TestFailureItemChecksRule(t *testing.T) {
	f := Failure{Agent: "sample", Failure: redact.Failure{Rule: "x\n::error::y", Entry: 1}}
	if got := f.item().Reason; strings.Contains(got, "::") {
		t.Errorf("a rule that is none reached the report: %q", got)
	}
}

func TestGroundingOf(t *testing.T) {
	want := map[contract.ValidityLevel]Grounding{
		contract.RuntimeObserved: GroundedObserved, contract.Confirmed: GroundedConfirmed, contract.CommunityConfirmed: GroundedConfirmed, contract.ServerVariant: GroundedObserved,
		contract.SourceDerived: GroundedSource, contract.VendorDocumented: GroundedSource, contract.SyntheticMock: GroundedSynthetic,
	}
	for _, level := range contract.ValidityLevel("").Values() {
		if got := GroundingOf(contract.ValidityLevel(level)); got != want[contract.ValidityLevel(level)] || got == "" {
			t.Errorf("%s: %q", level, got)
		}
	}
}

func TestNearest(t *testing.T) {
	w := &world{TB: t}
	records := func(text string) []record {
		var out []record
		for _, r := range w.runs(text) {
			o := w.observation(r, contract.Shape{})
			out = append(out, record{path: registry.ObservationPath(o), Observation: o})
		}
		return out
	}
	tests := []struct{ name, new, known, want string }{
		{"lower before higher", "version=1.5.0", "version=1.4.0\nversion=1.10.0\nversion=1.6.0\nversion=1.0.0", "1.4.0 1.0.0 1.6.0 1.10.0"},
		{"equal first", "version=1.5.0", "version=1.4.0\nversion=1.5.0", "1.5.0 1.4.0"},
		{"own platform first", "version=1.5.0", "version=1.5.0 platform=darwin-x64\nversion=1.0.0", "1.0.0 1.5.0"},
		{"opaque last", "version=1.5.0", "version=nightly\nversion=2.0.0", "2.0.0 nightly"},
		{"opaque by time", "version=nightly", "version=b at=2026-01-01T00:00:00Z\nversion=a at=2026-01-02T00:00:00Z\nversion=1.0.0 at=2025-01-01T00:00:00Z", "a b 1.0.0"},
		{"prerelease", "version=1.5.0-alpha.2", "version=1.5.0\nversion=1.5.0-alpha.10\nversion=1.5.0-alpha.1", "1.5.0-alpha.1 1.5.0-alpha.10 1.5.0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, r := range nearest(records(tt.new)[0].Observation, records(tt.known)) {
				got = append(got, string(r.CLIVersion))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestCode(t *testing.T) {
	for in, want := range map[string]string{
		"a.b":    "`a.b`",
		"a`b``c": "```a`b``c```",
		"`":      "`` ` ``",
		"":       "(empty)",
		" ":      "`   `",
		"a\nb":   "`\"a\\nb\"`",
	} {
		if got := code(in); got != want {
			t.Errorf("code(%q) = %q, want %q", in, got, want)
		}
	}
}
