package compare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// TestProperties draws random histories: every new observation gets one verdict, whatever the order of the files, and
// what was accepted is the same shape when it comes again.
func TestProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	texts := []string{"a\n $ object\n $.x number", "a\n $ object\n $.x number\n $.y string?", "a\n $ object\nb\n $ object", "b\n $ object"}
	events := []string{"init_or_status,done", "init_or_status,assistant_text,done", "session_started,done", "done"}
	seen := map[Verdict]int{}
	for round := range 25 {
		w := &world{TB: t, shapes: map[string]contract.Shape{}}
		for i, text := range texts {
			w.shapes[fmt.Sprint(i)] = sketch(t, text)
		}
		draw := func(n, from int) []run {
			var out []run
			for i := range n {
				pick := func(list ...string) string { return list[r.IntN(len(list))] }
				shape := r.IntN(len(texts))
				one := parse(t, fmt.Sprintf("shape=%d events=%s", shape, events[shape]))
				one.version, one.platform, one.backend = pick("1.0.0", "1.10.0", "1.9.0"), pick("linux-x64", "darwin-arm64"), pick("live", "scripted")
				one.at = fmt.Sprintf("2026-01-01T00:%02d:%02dZ", from, i)
				if r.IntN(12) == 0 {
					one.status = "failed"
				}
				out = append(out, one)
			}
			return out
		}
		known, fresh := draw(r.IntN(6), 1), draw(1+r.IntN(6), 2)
		for i := range known {
			known[i].status = ""
		}
		base := w.tree(known)
		report := w.classify(base, w.tree(fresh))
		if len(report.Items) != len(fresh) {
			t.Fatalf("round %d: %d verdicts for %d observations", round, len(report.Items), len(fresh))
		}
		worst := 0
		for _, i := range report.Items {
			seen[i.Verdict]++
			worst = max(worst, i.Verdict.Rank())
			if i.Verdict.Rank() == 0 || i.Reason == "" {
				t.Fatalf("round %d: no verdict or no reason: %+v", round, i)
			}
		}
		if report.Worst.Rank() != worst || report.Found() != (report.Worst != SameShape) {
			t.Fatalf("round %d: worst is %q, found %v", round, report.Worst, report.Found())
		}

		// The same observations in another order of files.
		moved := slices.Clone(fresh)
		for i := range moved {
			moved[i].at = fmt.Sprintf("2026-01-01T00:03:%02dZ", len(moved)-i)
		}
		if diff := cmp.Diff(verdictsByRun(report, w, fresh), verdictsByRun(w.classify(base, w.tree(moved)), w, moved)); diff != "" {
			t.Fatalf("round %d: the order of the files changes verdicts: -first +second\n%s", round, diff)
		}

		// Accepted, then captured again.
		again := w.classify(w.tree(slices.Concat(known, fresh)), w.tree(moved))
		for _, i := range again.Items {
			if i.Verdict != SameShape && i.Verdict != RedactionFailed {
				t.Fatalf("round %d: a known shape is %s", round, i.Verdict)
			}
		}
	}
	for _, v := range Verdict("").Values() {
		if seen[Verdict(v)] == 0 {
			t.Errorf("no round drew %s", v)
		}
	}
}

func (w *world) classify(base, fresh *registry.Tree) *Report {
	w.Helper()
	report, err := Classify(base, fresh, catalog())
	if err != nil {
		w.Fatal(err)
	}
	return report
}

// verdictsByRun gives the verdicts in the order of the runs.
func verdictsByRun(r *Report, w *world, runs []run) []Verdict {
	byPath := map[contract.RelPath]Verdict{}
	for _, i := range r.Items {
		byPath[i.Observation] = i.Verdict
	}
	var out []Verdict
	for _, one := range runs {
		out = append(out, byPath[registry.ObservationPath(w.observation(one, w.shapes[one.shape]))])
	}
	return out
}
