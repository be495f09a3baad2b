package lint

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// Each archive of testdata/invalid is the valid tree of testdata/base with something wrong in it. Its comment says
// what, and after "breaks:" which rules that must break; no others may. The file "edits" changes the valid tree:
//
//	edit GLOB: OLD => NEW   replaces a text, which must be there
//	sub GLOB: REGEXP => NEW replaces what matches
//	move GLOB: REGEXP => NEW replaces what matches in the path
//	copy GLOB: REGEXP => NEW the same, and the old file stays
//	delete GLOB
//	resign GLOB             gives a shape the signature of its content, wherever the old one stands
//	generate                writes agents.json and support-matrix.json again
//
// Every other file of the archive is added to the tree.
func TestInvalid(t *testing.T) {
	archives, err := filepath.Glob("testdata/invalid/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	broken := map[string]bool{}
	for _, file := range archives {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := breaks(string(archive.Comment))
		for _, rule := range want {
			broken[rule] = true
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			f := base(t)
			for _, added := range archive.Files {
				if added.Name == "edits" {
					for line := range strings.Lines(string(added.Data)) {
						if err := f.change(strings.TrimSpace(line)); err != nil {
							t.Fatalf("%s: %v", strings.TrimSpace(line), err)
						}
					}
					continue
				}
				f[added.Name] = added.Data
			}
			findings := lint(t, f.tree(t))
			if diff := cmp.Diff(want, slices.Sorted(maps.Keys(ruleSet(findings)))); diff != "" {
				t.Errorf("rules broken: -want +got\n%s\n%v", diff, findings)
			}
			for _, finding := range findings {
				if finding.File == "" || finding.Message == "" || finding.Remedy == "" || strings.Contains(finding.String(), "s3cret") {
					t.Errorf("a finding names file, message and remedy, and no value: %v", finding)
				}
			}
		})
	}
	t.Run("every rule", func(t *testing.T) {
		for _, rule := range Rules() {
			if !broken[rule.ID] && !shownElsewhere[rule.ID] {
				t.Errorf("no archive breaks the rule %s", rule.ID)
			}
		}
	})
}

// shownElsewhere are rules that an archive cannot break, because its tree has no base, no links and the probes of the
// valid tree, and one whose findings have the ids of contract.CheckEvidence.
var shownElsewhere = map[string]bool{"observation/end": true, "overlay/folders": true, "overlay/immutable": true, "file/regular": true, "file/readable": true, "evidence/agrees": true}

var breaksLine = regexp.MustCompile(`(?m)^breaks: (.+)$`)

func breaks(comment string) []string {
	m := breaksLine.FindStringSubmatch(comment)
	if m == nil {
		return nil
	}
	rules := strings.Fields(m[1])
	slices.Sort(rules)
	return rules
}

func (f files) change(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	glob, change, _ := strings.Cut(rest, ": ")
	before, after, _ := strings.Cut(change, " => ")
	if verb == "generate" {
		return f.generate()
	}
	pattern, err := regexp.Compile(before)
	if err != nil && verb != "edit" {
		return err
	}
	done := false
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if ok, err := path.Match(glob, name); err != nil || !ok {
			continue
		}
		switch verb {
		case "sub":
			if !pattern.Match(f[name]) {
				continue
			}
			f[name] = pattern.ReplaceAll(f[name], []byte(after))
		case "edit":
			if !bytes.Contains(f[name], []byte(before)) {
				continue
			}
			f[name] = bytes.Replace(f[name], []byte(before), []byte(after), 1)
		case "move":
			f[pattern.ReplaceAllString(name, after)] = f[name]
			delete(f, name)
		case "copy":
			f[pattern.ReplaceAllString(name, after)] = f[name]
		case "delete":
			delete(f, name)
		case "resign":
			if err := f.resign(name); err != nil {
				return err
			}
		default:
			return fmt.Errorf("unknown verb %q", verb)
		}
		done = true
	}
	if !done {
		return fmt.Errorf("nothing to change")
	}
	return nil
}

// Two releases that print nothing until the time limit give the same bytes, if the clock will have it.
func TestSilentRunsOfTwoReleases(t *testing.T) {
	f := base(t)
	for _, edit := range []string{
		`sub observations/acme/1.1.0/linux-x64/*.greet.*.json: ("raw_client_transcript_sha256"|"raw_sha256"): "sha256:[0-9a-f]{64} => $1: "sha256:c2927207a1cc44acee0eb366589c75ec0fbf1f5d1a5779b580ff0608e348c330`,
		"generate",
	} {
		if err := f.change(edit); err != nil {
			t.Fatal(err)
		}
	}
	for _, finding := range lint(t, f.tree(t)) {
		if finding.Rule == "observation/duplicate" {
			t.Error(finding)
		}
	}
}

// A hole may say why the only observation of a probe was withdrawn.
func TestHoleOfWithdrawnRun(t *testing.T) {
	f := base(t)
	for _, edit := range []string{
		`edit agents/acme.json: "environment": => "holes": [{"probe": "talk", "releases": "1.1.0", "reason": "It asks without end."}], "environment":`,
		`sub observations/acme/1.1.0/linux-x64/*.talk.evidence.json: ^\{ => {"withdrawn": {"at": "2026-02-12T10:00:00Z", "reason": "It asked without end."},`,
		"generate",
	} {
		if err := f.change(edit); err != nil {
			t.Fatal(err)
		}
	}
	for _, finding := range lint(t, f.tree(t)) {
		if finding.Rule == "agent/holes" {
			t.Error(finding)
		}
	}
}

// A run that its probe would not accept any more is a finding.
func TestEndThatTheProbeDoesNotAllow(t *testing.T) {
	probes := filepath.Join(t.TempDir(), "probes")
	if err := os.CopyFS(probes, os.DirFS(baseProbes)); err != nil {
		t.Fatal(err)
	}
	stricter := `{"must_see": [], "forbidden": [], "exit": ["timeout"]}`
	if err := os.WriteFile(filepath.Join(probes, "greet", "expected-min-events.json"), []byte(stricter), 0o600); err != nil {
		t.Fatal(err)
	}
	findings, err := Run(base(t).tree(t), Options{Probes: probes, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ended := 0
	for _, finding := range findings {
		if finding.Rule == "observation/end" && strings.Contains(finding.File, ".greet.") {
			ended++
		}
	}
	if ended != 3 {
		t.Errorf("three runs of the probe ended with success: %v", findings)
	}
}

func (f files) resign(name string) error {
	fresh, err := contract.SignatureOf(f[name])
	if err != nil {
		return err
	}
	old := signatureOfPath(name)
	before, after := strings.TrimPrefix(string(old), "sha256:"), strings.TrimPrefix(string(fresh), "sha256:")
	for _, file := range slices.Sorted(maps.Keys(f)) {
		data := bytes.ReplaceAll(f[file], []byte(before), []byte(after))
		delete(f, file)
		f[strings.ReplaceAll(file, before, after)] = data
	}
	return nil
}

// A tree may be hostile: a huge file is a finding, wherever it lies.
func TestHugeFiles(t *testing.T) {
	dir := t.TempDir()
	if err := base(t).write(dir); err != nil {
		t.Fatal(err)
	}
	huge := []string{"observations/acme/1.0.0/linux-x64/2026-02-10T100001Z.greet.observation.json", "agents.json"}
	for _, file := range huge {
		if err := os.Truncate(filepath.Join(dir, filepath.FromSlash(file)), registry.MaxFileSize+1); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := registry.OpenTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close() //nolint:errcheck // read only
	found := map[string]bool{}
	for _, f := range lint(t, tree) {
		if f.Rule == registry.UnreadableRule {
			found[f.File] = true
		}
	}
	for _, file := range huge {
		if !found[file] {
			t.Errorf("no finding about the size of %s", file)
		}
	}
}

func TestLinkInTree(t *testing.T) {
	f := base(t)
	dir := t.TempDir()
	if err := f.write(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("agents.json", filepath.Join(dir, "README.md")); err != nil {
		t.Skip("no links here")
	}
	tree, err := registry.OpenTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close() //nolint:errcheck // read only
	findings := lint(t, tree)
	if got := ruleSet(findings); len(got) != 1 || !got["file/regular"] {
		t.Errorf("want a finding of file/regular only, got\n%v", findings)
	}
}
