package protocol

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

const methodNotFound = -32601

// rpcFrame is a JSON-RPC frame of the host, with its members in the order in which hosts write them.
type rpcFrame struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// acpClient is a host's side of the Agent Client Protocol. It has one request open at a time, but for a cancellation.
type acpClient struct {
	profile   contract.ACPClient
	turn      Turn
	step      int // of profile.Steps: the next one
	lastID    int
	waiting   map[string]contract.ACPStep // raw id → what was asked
	session   string
	modelBy   string // id of the option that selects the model; empty where the agent offers none
	mode      string // that the session says to be in
	model     string // that the session says to use
	asked     int    // requests of the probe's script that were made
	cancelled bool
	done      bool
	out       [][]byte
}

func (c *acpClient) HoldsStdin() bool { return false }

func (c *acpClient) Done() bool { return c.done }

func (c *acpClient) Start() [][]byte {
	c.out = nil
	c.next()
	return c.out
}

// Receive handles requests and updates of the agent, and answers to what the host asked. Answers to nothing are
// ignored, as are those whose result is no object: hosts wait on.
func (c *acpClient) Receive(frame *Document) [][]byte {
	c.out = nil
	if c.done {
		return nil
	}
	switch method := frame.text("method"); {
	case method == "session/request_permission":
		c.permission(frame)
	case method == "session/update":
		c.update(frame.text("params", "update", "sessionUpdate"))
	case method != "":
		if id := frame.id(); id != nil && c.profile.UnknownRequests == contract.UnknownRefused {
			c.send(rpcFrame{ID: json.RawMessage(id.Value), Error: &rpcError{methodNotFound, "Method not found"}})
		}
	default:
		c.answer(frame)
	}
	return c.out
}

func (c *acpClient) send(f rpcFrame) {
	f.JSONRPC = "2.0"
	c.out = append(c.out, marshal(f))
}

// request asks the agent for a step.
func (c *acpClient) request(step contract.ACPStep, method string, params any) {
	c.lastID++
	id := strconv.Itoa(c.lastID)
	c.waiting[id] = step
	c.send(rpcFrame{ID: json.RawMessage(id), Method: method, Params: params})
}

type initializeParams struct {
	ProtocolVersion int                 `json:"protocolVersion"`
	Capabilities    map[string]any      `json:"clientCapabilities"`
	Info            contract.ClientInfo `json:"clientInfo"`
}

type loadSessionParams struct {
	Session string `json:"sessionId"`
	newSessionParams
}

type newSessionParams struct {
	Cwd        string          `json:"cwd"`
	MCPServers []sessionServer `json:"mcpServers"`
}

// sessionServer is a server as session/new takes it.
type sessionServer struct {
	Type    string     `json:"type"`
	Name    string     `json:"name"`
	Command string     `json:"command"`
	Args    []string   `json:"args"`
	Env     []variable `json:"env"`
}

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type contentBlock struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	URI      string `json:"uri,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
}

// next goes on to the next step that the turn needs.
func (c *acpClient) next() {
	if script := c.turn.Host.Script; script != nil && (script.After == "" || c.step > 0 && c.profile.Steps[c.step-1] == script.After) {
		c.ask()
		return
	}
	for c.step < len(c.profile.Steps) {
		step := c.profile.Steps[c.step]
		c.step++
		switch step {
		case contract.StepInitialize:
			c.request(step, "initialize", initializeParams{c.profile.ProtocolVersion, c.profile.Capabilities, c.profile.Info})
			return
		case contract.StepAuthenticate:
			if c.turn.Authenticate != "" {
				c.request(step, "authenticate", map[string]string{"methodId": c.turn.Authenticate})
				return
			}
		case contract.StepSession:
			place := newSessionParams{c.turn.Cwd, c.servers()}
			if c.session = c.turn.Parent; c.session != "" {
				c.request(step, "session/load", loadSessionParams{c.session, place})
			} else {
				c.request(step, "session/new", place)
			}
			return
		case contract.StepModel:
			if c.turn.Model != "" {
				c.selectModel()
				return
			}
		case contract.StepPrompt:
			c.prompt()
			return
		}
	}
	c.done = true // a host that only wanted to know who is there
}

func (c *acpClient) servers() []sessionServer {
	servers := []sessionServer{}
	for _, s := range c.turn.Host.MCPServers {
		server := sessionServer{Type: "stdio", Name: s.Name, Command: s.Command, Args: append([]string{}, s.Args...), Env: []variable{}}
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			server.Env = append(server.Env, variable{name, s.Env[name]})
		}
		servers = append(servers, server)
	}
	return servers
}

func (c *acpClient) selectModel() {
	for _, way := range c.profile.ModelSelection {
		switch {
		case way == contract.ModelByConfigOption && c.modelBy != "":
			c.request(contract.StepModel, "session/set_config_option", struct {
				Session string `json:"sessionId"`
				Option  string `json:"configId"`
				Value   string `json:"value"`
			}{c.session, c.modelBy, c.turn.Model})
			return
		case way == contract.ModelBySetModel:
			c.request(contract.StepModel, "session/set_model", struct {
				Session string `json:"sessionId"`
				Model   string `json:"modelId"`
			}{c.session, c.turn.Model})
			return
		}
	}
	c.next() // no way that the agent offers: its own model answers
}

func (c *acpClient) prompt() {
	blocks := []contentBlock{{Type: "text", Text: c.turn.Prompt}}
	for _, image := range c.turn.Host.Images {
		blocks = append(blocks, c.link(image))
	}
	c.request(contract.StepPrompt, "session/prompt", struct {
		Session string         `json:"sessionId"`
		Prompt  []contentBlock `json:"prompt"`
	}{c.session, blocks})
	if c.turn.Host.CancelAt == contract.CancelAtPrompt {
		c.cancel()
	}
}

// link is how the host links to an image for this agent.
func (c *acpClient) link(image contract.Image) contentBlock {
	form := c.profile.Link(c.turn.Agent)
	block := contentBlock{Type: "resource_link", URI: c.turn.Cwd + "/" + image.Name}
	if form.FileURL {
		block.URI = "file://" + block.URI
	}
	if form.MediaType {
		block.MIMEType = image.MIMEType
	}
	return block
}

func (c *acpClient) cancel() {
	if c.cancelled {
		return
	}
	c.cancelled = true
	f := rpcFrame{Method: "session/cancel", Params: map[string]string{"sessionId": c.session}}
	if c.profile.Cancel.AsRequest {
		c.lastID++
		f.ID = json.RawMessage(strconv.Itoa(c.lastID))
	}
	c.send(f)
	c.done = c.profile.Cancel.Closes
}

func (c *acpClient) update(kind string) {
	switch moment := c.turn.Host.CancelAt; {
	case moment == contract.CancelAtText && kind == "agent_message_chunk", moment == contract.CancelAtTool && kind == "tool_call":
		c.cancel()
	}
}

type permissionOption struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

// permission answers a request for permission. A host that finds no option to take gives the turn up.
func (c *acpClient) permission(frame *Document) {
	if c.turn.Host.CancelAt == contract.CancelAtPermission {
		c.cancel()
	}
	id := frame.id()
	if c.done || id == nil {
		c.done = true
		return
	}
	type outcome struct {
		Outcome string `json:"outcome"`
		Option  string `json:"optionId,omitempty"`
	}
	choice := outcome{Outcome: "cancelled"}
	if !c.cancelled && c.turn.Host.Permission != contract.PermissionCancel {
		var options []permissionOption
		frame.decode(&options, "params", "options")
		option, ok := c.choose(options)
		if !ok {
			c.done = true
			return
		}
		choice = outcome{"selected", option}
	}
	c.send(rpcFrame{ID: json.RawMessage(id.Value), Result: map[string]any{"outcome": choice}})
}

func (c *acpClient) choose(options []permissionOption) (string, bool) {
	rules := c.profile.Permission
	if c.turn.Host.Permission == contract.PermissionDeny {
		rules = []contract.PermitRule{{Kind: "reject_once"}, {Kind: "reject_always"}}
	}
	for _, rule := range rules {
		for _, o := range options {
			if o.ID != "" && (o.ID == rule.OptionID || o.Kind != "" && o.Kind == rule.Kind) {
				return o.ID, true
			}
		}
	}
	return "", false
}

// answer goes on where the agent did what it was asked, and ends the turn where it refused.
func (c *acpClient) answer(frame *Document) {
	id := frame.id()
	if id == nil {
		return
	}
	step, ok := c.waiting[string(id.Value)]
	if !ok {
		return
	}
	if step == stepScript {
		delete(c.waiting, string(id.Value))
		c.noteSession(frame)
		c.ask()
		return
	}
	if frame.find(pathExpr{"error"}) != nil {
		delete(c.waiting, string(id.Value))
		var refusal rpcError
		frame.decode(&refusal, "error")
		if step == contract.StepModel && slices.Contains(c.profile.ModelErrors, refusal.Code) {
			c.next()
			return
		}
		c.done = true
		return
	}
	if result := frame.find(pathExpr{"result"}); result == nil || result.Kind != '{' {
		return
	}
	delete(c.waiting, string(id.Value))
	switch step {
	case contract.StepSession:
		if c.noteSession(frame); c.session == "" {
			c.done = true
			return
		}
		c.modelBy = modelOption(frame)
	case contract.StepPrompt:
		c.done = true
		return
	}
	c.next()
}

// modelOption finds the option of a session that selects its model.
func modelOption(frame *Document) string {
	var options []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Category string `json:"category"`
		Name     string `json:"name"`
	}
	frame.decode(&options, "result", "configOptions")
	same := func(a, b string) bool { return strings.EqualFold(strings.TrimSpace(a), b) }
	for _, o := range options {
		if o.ID == "" || o.Type != "" && o.Type != "select" {
			continue
		}
		if same(o.Category, "model") || same(o.ID, "model") || o.Category == "" && same(o.Name, "model") {
			return o.ID
		}
	}
	return ""
}
