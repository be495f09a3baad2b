package protocol

import (
	"cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// stepScript stands for a request of the probe's script among the steps of the host.
const stepScript contract.ACPStep = "script"

// NoSession stands in a request of a script where a session has said nothing of what is asked for.
const NoSession = "none"

// ask makes the next request of the probe's script; behind the last one the host is done.
func (c *acpClient) ask() {
	requests := c.turn.Host.Script.Requests
	if c.asked == len(requests) {
		c.done = true
		return
	}
	r := requests[c.asked]
	c.asked++
	fill := contract.Placeholders(map[string]string{
		"cwd": c.turn.Cwd, "session": cmp.Or(c.session, NoSession), "session_mode": cmp.Or(c.mode, NoSession), "session_model": cmp.Or(c.model, NoSession),
	})
	c.request(stepScript, r.Method, contract.FillJSON(r.Params, fill))
}

// Unanswered passes over a request of the script. A host waits for the answers of its own steps as long as the run lasts.
func (c *acpClient) Unanswered() [][]byte {
	c.out = nil
	for id, step := range c.waiting {
		if step == stepScript && !c.done {
			delete(c.waiting, id)
			c.ask()
			break // there is one at a time
		}
	}
	return c.out
}

// noteSession keeps what an answer says of the first session that there is.
func (c *acpClient) noteSession(frame *Document) {
	if c.session == "" {
		c.session = frame.text("result", "sessionId")
		c.mode = frame.text("result", "modes", "currentModeId")
		c.model = frame.text("result", "models", "currentModelId")
	}
}
