package protocol

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Whatever an agent answers, and however often, the host makes each step once, and both sides are recorded as they came.
func TestRPCStrangeAnswers(t *testing.T) {
	const (
		greeting = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`
		session  = `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`
		ask      = `{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","options":[{"optionId":"y","kind":"allow_once"}]}}`
		allowed  = `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}`
		unknown  = `{"jsonrpc":"2.0","id":8,"method":"x/unheard-of","params":{}}`
		refused  = `{"jsonrpc":"2.0","id":8,"error":{"code":-32601,"message":"Method not found"}}`
	)
	tests := map[string]struct {
		profile string
		say     [][]string // the agent's frames in answer to each of the three steps
		more    []string   // what the host says beyond its steps
	}{
		"answers out of order":       {"open-design", [][]string{{ended, session, greeting}, {session}, {ended}}, nil},
		"an id answered twice":       {"open-design", [][]string{{greeting, greeting}, {session, session, greeting}, {ended, ended}}, nil},
		"an error behind the answer": {"open-design", [][]string{{greeting, `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`}, {session}, {ended}}, nil},
		"an id of another type":      {"open-design", [][]string{{`{"jsonrpc":"2.0","id":"1","result":{}}`, greeting}, {session}, {ended}}, nil},
		"permission asked twice":     {"open-design", [][]string{{greeting}, {session}, {ask, ask, ended}}, []string{allowed, allowed}},
		"an unknown method":          {"standard", [][]string{{greeting}, {session}, {unknown, unknown, ended}}, []string{refused, refused}},
		"an unknown method, ignored": {"open-design", [][]string{{greeting}, {session}, {unknown, ended}}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := []string{}
			o := converse(t, tt.profile, Turn{}, patient, func(p *peer) {
				for _, frames := range tt.say {
					p.read()
					for _, f := range frames {
						said = append(said, f)
						p.say("%s", f)
					}
				}
				for p.read() != "" {
				}
				p.exitAll()
			})
			if o.stop != StopEOF || o.err != nil {
				t.Fatal(o.stop, o.err)
			}
			if diff := cmp.Diff(said, o.frames(contract.CLIToServer)); diff != "" {
				t.Errorf("the agent's side: -want +got:\n%s", diff)
			}
			host := o.frames(contract.ServerToCLI)
			if len(host) < 3 {
				t.Fatalf("the host's side: %s", host)
			}
			if diff := cmp.Diff(tt.more, host[3:], cmp.Transformer("none", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
				t.Errorf("beyond the steps: -want +got:\n%s", diff)
			}
		})
	}
}
