package shape

import (
	"fmt"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/protocol"
)

// invariants watches what a dialect promises about a whole run: the session comes first, a turn ends as declared and
// nothing follows, and what one frame opens another closes. A broken promise is a violation, not part of the hash.
type invariants struct {
	dialect   *protocol.Dialect
	frames    int
	asked     bool // the host asked for a turn, by the request whose answer ends it
	session   bool // a session began
	refused   bool // the CLI refused a request
	terminals int
	open      map[pairKey]bool
	broken    map[string]bool
}

type pairKey struct {
	rule int
	id   string
}

func newInvariants(d *protocol.Dialect) *invariants {
	return &invariants{dialect: d, open: map[pairKey]bool{}, broken: map[string]bool{}}
}

func (v *invariants) broke(what string) { v.broken[what] = true }

// frame takes in one frame that is not ambient.
func (v *invariants) frame(eventType string, pairs []protocol.Pair) {
	v.frames++
	if v.dialect == nil {
		return
	}
	v.session = v.session || v.dialect.Starts(eventType)
	v.refused = v.refused || strings.HasPrefix(eventType, "error/")
	src := &v.dialect.Source
	if v.frames == 1 && src.Session != "" && eventType != src.Session {
		v.broke(fmt.Sprintf("session: the first frame is not %s", src.Session))
	}
	if v.dialect.Reopens(eventType) {
		v.terminals = 0
	}
	if v.terminals > 0 && !v.dialect.Terminal(eventType) && !v.dialect.After(eventType) {
		v.broke("terminal: a frame follows the end of the turn")
	}
	if v.dialect.Terminal(eventType) {
		v.terminals++
	}
	for _, p := range pairs {
		key := pairKey{p.Rule, p.ID}
		if p.Open {
			v.open[key] = true
			continue
		}
		delete(v.open, key)
	}
}

// request takes in a request of the host.
func (v *invariants) request(method string) {
	v.asked = v.asked || v.dialect.Terminal("response/"+method)
}

// unanswered takes in the requests of the host that the CLI has left open.
func (v *invariants) unanswered(names []string) {
	for _, name := range names {
		if !v.dialect.After("response/" + name) { // else its answer may come late, or never
			v.broke(fmt.Sprintf("rpc: %s without an answer", name))
		}
	}
}

// finish gives the violations, sorted. A run that its host stopped promises no end: what is missing of it is no violation.
func (v *invariants) finish(stopped bool) []string {
	if v.dialect != nil && v.frames > 0 {
		want := v.dialect.Source.Terminal.PerTurn
		if (v.session || v.refused) && !v.asked && v.dialect.EndsByAnswer() {
			want = 0 // a host that has a session, or is refused one, and asks for no turn is promised no end of one
		}
		if want > 0 && v.terminals != want && (!stopped || v.terminals > want) {
			v.broke(fmt.Sprintf("terminal: %s of the turn's end instead of %d", times(v.terminals), want))
		}
		for key := range v.open {
			if stopped {
				break
			}
			open, closing := v.dialect.PairNames(key.rule)
			v.broke(fmt.Sprintf("pair: %s without %s", open, closing))
		}
	}
	return sorted(v.broken)
}

func times(n int) string {
	if n == 0 {
		return "no frame"
	}
	if n == 1 {
		return "one frame"
	}
	return fmt.Sprintf("%d frames", n)
}
