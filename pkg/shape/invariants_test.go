package shape

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
)

// What a run leaves out because its host stopped it is no broken promise; what it does too often is.
func TestInvariantsOfAStoppedRun(t *testing.T) {
	d, err := protocol.Compile(contract.Dialect{
		Name: "d", EventType: []contract.EventTypeRule{{Path: "$.type"}}, Terminal: contract.Terminal{Events: []string{"end"}, PerTurn: 1},
		Pairs: []contract.PairRule{{Open: "ask", Close: "answer", ID: "$.id"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	run := func(frames ...string) *invariants {
		v := newInvariants(d)
		for _, f := range frames {
			var pairs []protocol.Pair
			if f == "ask" {
				pairs = []protocol.Pair{{Rule: 0, ID: "1", Open: true}}
			}
			v.frame(f, pairs)
		}
		return v
	}
	if diff := cmp.Diff([]string{"pair: ask without answer", "terminal: no frame of the turn's end instead of 1"}, run("start", "ask").finish(false)); diff != "" {
		t.Error(diff)
	}
	if got := run("start", "ask").finish(true); len(got) > 0 {
		t.Errorf("stopped: %v", got)
	}
	if diff := cmp.Diff([]string{"terminal: 2 frames of the turn's end instead of 1"}, run("end", "end").finish(true)); diff != "" {
		t.Error(diff)
	}
}

// A host whose session is refused asks for no turn, and is promised no end of one.
func TestInvariantsOfARefusedSession(t *testing.T) {
	d, err := protocol.Compile(contract.Dialect{
		Name: "d", EventType: []contract.EventTypeRule{{Path: "$.method"}}, Terminal: contract.Terminal{Events: []string{"response/prompt"}, PerTurn: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	run := func(requests []string, frames ...string) []string {
		v := newInvariants(d)
		for _, r := range requests {
			v.request(r)
		}
		for _, f := range frames {
			v.frame(f, nil)
		}
		return v.finish(false)
	}
	if got := run([]string{"hello", "new"}, "response/hello", "error/new"); len(got) > 0 {
		t.Errorf("refused: %v", got)
	}
	if got := run([]string{"hello", "new"}, "response/hello"); len(got) != 1 {
		t.Errorf("neither refused nor served: %v", got)
	}
	if got := run([]string{"new", "prompt"}, "error/new"); len(got) != 1 {
		t.Errorf("asked all the same: %v", got)
	}
}

// A CLI that tries again takes back the end that it told.
func TestInvariantsOfATurnThatGoesOn(t *testing.T) {
	d, err := protocol.Compile(contract.Dialect{
		Name: "d", EventType: []contract.EventTypeRule{{Path: "$.type"}},
		Terminal: contract.Terminal{Events: []string{"end"}, PerTurn: 1, Reopen: []string{"retry"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	run := func(frames ...string) []string {
		v := newInvariants(d)
		for _, f := range frames {
			v.frame(f, nil)
		}
		return v.finish(false)
	}
	if got := run("start", "end", "retry", "start", "end"); len(got) > 0 {
		t.Errorf("retried: %v", got)
	}
	if got := run("end", "retry"); len(got) != 1 {
		t.Errorf("a retry without an end: %v", got)
	}
	if got := run("end", "start"); len(got) != 1 {
		t.Errorf("a frame after the end: %v", got)
	}
}
