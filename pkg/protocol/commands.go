package protocol

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// commandClient is a host's side of Pi's RPC mode: commands with ids of the host, dialogs with ids of the CLI.
type commandClient struct {
	profile          contract.CommandClient
	turn             Turn
	id               int // of the next command
	parentID, prompt string
	cancelled        bool
	done             bool
	out              [][]byte
}

type hostCommand struct {
	ID      int            `json:"id"`
	Type    string         `json:"type"`
	Parent  string         `json:"parentSession,omitempty"`
	Message string         `json:"message,omitempty"`
	Images  []commandImage `json:"images,omitempty"`
}

type commandImage struct {
	Type string `json:"type"`
	Data string `json:"data"`
	MIME string `json:"mimeType"`
}

type dialogReply struct {
	Type      string          `json:"type"`
	ID        json.RawMessage `json:"id"`
	Confirmed *bool           `json:"confirmed,omitempty"`
	Value     *string         `json:"value,omitempty"`
	Cancelled bool            `json:"cancelled,omitempty"`
}

func (c *commandClient) Done() bool { return c.done }

func (c *commandClient) HoldsStdin() bool { return c.cancelled && c.profile.AbortEnds }

// Unanswered: the host waits on.
func (c *commandClient) Unanswered() [][]byte { return nil }

// Start sends the prompt, or first asks for the session that it continues: a prompt into the wrong session would
// silently lose the conversation.
func (c *commandClient) Start() [][]byte {
	c.out = nil
	if c.turn.Parent != "" {
		c.parentID = c.issue(hostCommand{Type: "new_session", Parent: c.turn.Parent})
	} else {
		c.sendPrompt()
	}
	return c.out
}

// issue sends a command and gives its id as it will come back.
func (c *commandClient) issue(cmd hostCommand) string {
	cmd.ID = c.id
	c.id++
	c.out = append(c.out, marshal(cmd))
	return strconv.Itoa(cmd.ID)
}

func (c *commandClient) sendPrompt() {
	cmd := hostCommand{Type: "prompt", Message: c.turn.Prompt}
	for _, image := range c.turn.Host.Images {
		cmd.Images = append(cmd.Images, commandImage{"image", image.Base64, image.MIMEType})
	}
	c.prompt = c.issue(cmd)
	if c.turn.Host.CancelAt == contract.CancelAtPrompt {
		c.abort()
	}
}

func (c *commandClient) abort() {
	if !c.cancelled {
		c.cancelled = true
		c.issue(hostCommand{Type: "abort"})
		c.done = c.profile.AbortEnds
	}
}

func (c *commandClient) Receive(frame *Document) [][]byte {
	c.out = nil
	if c.done {
		return nil
	}
	kind := frame.text("type")
	moment := c.turn.Host.CancelAt
	switch {
	case kind == "extension_ui_request":
		if moment == contract.CancelAtPermission && !slices.Contains(c.profile.Silent, frame.text("method")) {
			c.abort()
		}
		if !c.done {
			c.dialog(frame)
		}
	case kind == "response":
		c.response(frame)
	case kind == c.profile.EndsAt:
		c.done = true
	case kind == "tool_execution_start" && moment == contract.CancelAtTool,
		kind == "message_update" && moment == contract.CancelAtText && frame.text("assistantMessageEvent", "type") == "text_delta":
		c.abort()
	}
	return c.out
}

func (c *commandClient) response(frame *Document) {
	id := frame.id()
	if id == nil {
		return
	}
	success := frame.find(pathExpr{"success"})
	failed := success != nil && success.Kind == 'f'
	switch string(id.Value) {
	case c.parentID:
		c.parentID = ""
		if c.done = failed; !failed {
			c.sendPrompt()
		}
	case c.prompt:
		c.done = failed
	}
}

// dialog answers a question of an extension, so that the CLI does not wait for a user that is not there.
func (c *commandClient) dialog(frame *Document) {
	id := frame.id()
	if id == nil || slices.Contains(c.profile.Silent, frame.text("method")) {
		return
	}
	reply := dialogReply{Type: "extension_ui_response", ID: json.RawMessage(id.Value)}
	allow := c.turn.Host.Permission == contract.PermissionAllow && !c.cancelled
	switch {
	case c.turn.Host.Permission == contract.PermissionCancel || c.cancelled:
		reply.Cancelled = true
	case frame.text("method") == "confirm":
		confirmed := c.profile.Confirm && allow
		reply.Confirmed = &confirmed
	default:
		reply.Value = c.option(frame, allow)
		reply.Cancelled = reply.Value == nil
	}
	c.out = append(c.out, marshal(reply))
}

// option picks the first option where the host allows, the last where it denies: vendors put consent first.
func (c *commandClient) option(frame *Document, allow bool) *string {
	var options []any
	if !frame.decode(&options, "options") {
		frame.decode(&options, "params", "options")
	}
	if len(options) == 0 {
		return nil
	}
	picked := options[0]
	if !allow {
		picked = options[len(options)-1]
	}
	text := ""
	switch o := picked.(type) {
	case string:
		text = o
	case map[string]any:
		for _, key := range []string{"value", "label"} {
			if s, ok := o[key].(string); ok {
				text = s
			}
		}
	}
	return &text
}
