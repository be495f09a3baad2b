package contract

import "slices"

// ClientID names a client profile: the file registry/clients/<id>.json.
type ClientID string

// Pattern is the regular expression of the JSON Schema.
func (ClientID) Pattern() string { return `^[a-z0-9][a-z0-9-]{0,62}$` }

// Client is a client profile: how one host speaks the RPC families. What a runner sends is part of a contract, so it
// is data with a source, and not the habit of a library.
type Client struct {
	SchemaVersion int            `json:"schema_version" jsonschema:"minimum=1,maximum=1"`
	ID            ClientID       `json:"id"`
	Description   string         `json:"description,omitempty" jsonschema:"maxLength=500"`
	Sources       []ClientSource `json:"sources" jsonschema:"minItems=1"`
	ACP           *ACPClient     `json:"acp,omitempty" jsonschema:"description=How the host speaks acp-json-rpc/v1"`
	Commands      *CommandClient `json:"commands,omitempty" jsonschema:"description=How the host speaks the RPC family in which it sends commands and the CLI events"`
}

// Speaks reports whether the profile says how its host speaks the family.
func (c Client) Speaks(f Family) bool {
	return f == FamilyACP && c.ACP != nil || f == FamilyPiRPC && c.Commands != nil
}

// ClientSource is where the host's frames were read.
type ClientSource struct {
	Repository string `json:"repository" jsonschema:"pattern=^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$"`
	Commit     Commit `json:"commit"`
	Path       string `json:"path" jsonschema:"minLength=1,maxLength=300"`
}

// ACPClient is a host's side of the Agent Client Protocol.
type ACPClient struct {
	ProtocolVersion int            `json:"protocol_version" jsonschema:"minimum=0,maximum=1000"`
	Capabilities    map[string]any `json:"client_capabilities"`
	Info            ClientInfo     `json:"client_info"`
	Steps           []ACPStep      `json:"steps" jsonschema:"minItems=3,uniqueItems=true,description=What the host does\\, in this order; authenticate where the mode names a method\\, model where the mode selects one"`
	ModelSelection  []ModelMethod  `json:"model_selection,omitempty" jsonschema:"uniqueItems=true,description=Ways to select a model\\, in order of preference; config-option is taken where the agent offers such an option"`
	ModelErrors     []int          `json:"model_errors,omitempty" jsonschema:"uniqueItems=true,description=Error codes of a model selection after which the host goes on with the agent's own model"`
	Permission      []PermitRule   `json:"permission" jsonschema:"minItems=1,description=The option that the host takes when it allows: the first rule that an option fits"`
	UnknownRequests UnknownRequest `json:"unknown_requests"`
	// Loads says that the host continues a session by session/load, with the same folder and servers as for a new one.
	Loads  bool       `json:"loads_sessions,omitempty" jsonschema:"description=The host continues a session by session/load\\, with the folder and servers of a new one"`
	Cancel CancelForm `json:"cancel"`
	// Images says how the host names an image: the first form whose agents hold the one that it drives. Without one the path alone.
	Images []LinkForm `json:"images,omitempty" jsonschema:"description=How the host links to an image\\, by agent: the first form that fits; without one the path alone"`
}

// LinkForm is how a host links to an image in a prompt.
type LinkForm struct {
	Agents    []AgentID `json:"agents,omitempty" jsonschema:"uniqueItems=true,description=Agents that get this form; none means all"`
	FileURL   bool      `json:"file_url,omitempty" jsonschema:"description=The link is a file URL and not a path"`
	MediaType bool      `json:"media_type,omitempty" jsonschema:"description=The link says the media type"`
}

// Link is how the host links to an image for an agent.
func (c ACPClient) Link(agent AgentID) LinkForm {
	for _, form := range c.Images {
		if len(form.Agents) == 0 || slices.Contains(form.Agents, agent) {
			return form
		}
	}
	return LinkForm{}
}

// ClientInfo is how the host introduces itself.
type ClientInfo struct {
	Name    string `json:"name" jsonschema:"minLength=1,maxLength=100"`
	Version string `json:"version" jsonschema:"minLength=1,maxLength=100"`
}

// ACPStep is one step of a host's turn.
type ACPStep string

// The steps.
const (
	StepInitialize   ACPStep = "initialize"
	StepAuthenticate ACPStep = "authenticate"
	StepSession      ACPStep = "session/new"
	StepModel        ACPStep = "model"
	StepPrompt       ACPStep = "session/prompt"
)

// Values lists the enum in the one order that the protocol allows.
func (ACPStep) Values() []string {
	return []string{"initialize", "authenticate", "session/new", "model", "session/prompt"}
}

// ModelMethod is a way to select a model.
type ModelMethod string

// The ways.
const (
	ModelByConfigOption ModelMethod = "config-option"
	ModelBySetModel     ModelMethod = "set-model"
)

// Values lists the enum.
func (ModelMethod) Values() []string { return []string{"config-option", "set-model"} }

// PermitRule fits an option of a permission request by its id or by its kind.
type PermitRule struct {
	OptionID string `json:"option_id,omitempty" jsonschema:"maxLength=100"`
	Kind     string `json:"kind,omitempty" jsonschema:"enum=allow_once,enum=allow_always"`
}

// UnknownRequest is what a host does with a request of the agent that it does not implement.
type UnknownRequest string

// The two ways: the answer of JSON-RPC, or none at all.
const (
	UnknownRefused UnknownRequest = "method-not-found"
	UnknownIgnored UnknownRequest = "ignore"
)

// Values lists the enum.
func (UnknownRequest) Values() []string { return []string{"method-not-found", "ignore"} }

// CancelForm is how a host cancels a turn.
type CancelForm struct {
	AsRequest bool `json:"as_request,omitempty" jsonschema:"description=session/cancel carries an id\\, although the protocol makes it a notification"`
	Closes    bool `json:"closes_stdin,omitempty" jsonschema:"description=Standard input closes at once\\, without waiting for the answer of the prompt"`
}

// CommandClient is a host's side of the RPC family in which it sends commands and the CLI events.
type CommandClient struct {
	FirstID int    `json:"first_id" jsonschema:"minimum=0,maximum=1000"`
	EndsAt  string `json:"ends_at" jsonschema:"pattern=^[a-z_]{1\\,60}$,description=Type of the frame at which the turn is over for the host"`
	// Confirm is the answer to a yes-or-no dialog; a selection takes the first option.
	Confirm bool `json:"confirm"`
	// AbortEnds says that the host's turn is over when it has aborted: it answers nothing more, leaves standard input open
	// and ends the process after a grace.
	AbortEnds bool `json:"abort_ends,omitempty" jsonschema:"description=The turn is over for the host when it has aborted; standard input stays open until the process is ended"`
	// Silent are methods of UI requests that expect no answer.
	Silent []string `json:"silent" jsonschema:"uniqueItems=true,description=Methods of UI requests that expect no answer"`
}

// HostPolicy is host.json of a probe: what the host does in the turn besides sending the prompt.
type HostPolicy struct {
	Permission PermissionPolicy `json:"permission,omitempty" jsonschema:"default=allow"`
	CancelAt   CancelMoment     `json:"cancel_at,omitempty" jsonschema:"description=When the host cancels the turn; never where absent"`
	MCPServers []MCPServer      `json:"mcp_servers,omitempty"`
	Images     []Image          `json:"images,omitempty" jsonschema:"maxItems=10"`
	Script     *HostScript      `json:"script,omitempty" jsonschema:"description=Requests that the host makes in place of its turn"`
}

// HostScript is what a host asks in place of its turn, one request after the other, whatever the answers are. What stays
// without an answer for a while is passed over.
type HostScript struct {
	// After is the last of the host's own steps before its requests.
	After    ACPStep       `json:"after,omitempty" jsonschema:"enum=initialize,enum=session/new,description=The last of the host's own steps that comes before; none where this is left out"`
	Requests []HostRequest `json:"requests" jsonschema:"minItems=1,maxItems=50"`
}

// HostRequest is one request of a host. Strings in it may hold {cwd}, and {session}, {session_mode}, {session_model}: what
// the session said of itself, or "none".
type HostRequest struct {
	Method string         `json:"method" jsonschema:"pattern=^[a-z_][a-z_/]{0\\,59}$"`
	Params map[string]any `json:"params"`
}

// PermissionPolicy says how the host answers a permission request.
type PermissionPolicy string

// The policies.
const (
	PermissionAllow  PermissionPolicy = "allow"
	PermissionDeny   PermissionPolicy = "deny"
	PermissionCancel PermissionPolicy = "cancel"
)

// Values lists the enum.
func (PermissionPolicy) Values() []string { return []string{"allow", "deny", "cancel"} }

// CancelMoment is when the host cancels: right behind the prompt, at the first text or tool call, or in place of an
// answer to a permission request.
type CancelMoment string

// The moments.
const (
	CancelAtPrompt     CancelMoment = "prompt"
	CancelAtText       CancelMoment = "text"
	CancelAtTool       CancelMoment = "tool"
	CancelAtPermission CancelMoment = "permission"
)

// Values lists the enum.
func (CancelMoment) Values() []string { return []string{"prompt", "text", "tool", "permission"} }

// MCPServer is a server that the host hands to the session. The command may hold {cwd} and {home}.
type MCPServer struct {
	Name    string            `json:"name" jsonschema:"minLength=1,maxLength=100"`
	Command string            `json:"command" jsonschema:"minLength=1,maxLength=300"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// Image is an attachment of the prompt. It is also written into the workspace.
type Image struct {
	Name     string `json:"name" jsonschema:"pattern=^[A-Za-z0-9][A-Za-z0-9._-]{0\\,99}\\.(png|jpg|jpeg|gif|webp)$"`
	MIMEType string `json:"mime_type" jsonschema:"enum=image/png,enum=image/jpeg,enum=image/gif,enum=image/webp"`
	Base64   string `json:"base64" jsonschema:"minLength=4,maxLength=100000,pattern=^[A-Za-z0-9+/]+={0\\,2}$"`
}
