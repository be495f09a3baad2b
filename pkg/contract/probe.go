package contract

// Probe is one folder probes/<id>, assembled: a fixed prompt, workspace and script that exercises one behaviour.
// Each part is a file of the folder: prompt.md, fixture-files/, expected-min-events.json, env-policy.json,
// script.json, host.json.
type Probe struct {
	ID        ProbeID           `json:"id"`
	Prompt    string            `json:"prompt,omitempty"`
	Files     map[string]string `json:"fixture_files,omitempty" jsonschema:"description=Name → content"`
	Expected  *MinEvents        `json:"expected_min_events,omitempty"`
	EnvPolicy *EnvPolicy        `json:"env_policy,omitempty"`
	Script    *Script           `json:"script,omitempty"`
	Host      *HostPolicy       `json:"host,omitempty"`
}

// NeedsModel reports whether a capture must reach a model: the probe has a script, and a run without any request is no
// answer to it.
func (p Probe) NeedsModel() bool { return p.Script != nil && p.Script.Requests != "optional" }

// HostOnly reports whether nothing captures the probe: a host's own runs are recorded under it.
func (p Probe) HostOnly() bool { return p.Expected != nil && p.Expected.Kind == "host" }

// ImplicitMode is the mode that no agent file declares and that the probe starts; empty where it starts one of the agent's own.
func (p Probe) ImplicitMode() ModeID {
	if p.Expected != nil && ModeID(p.Expected.Kind).Implicit() {
		return ModeID(p.Expected.Kind)
	}
	return ""
}

// MustSee lists the events that a run must show before it counts.
func (p Probe) MustSee() []EventName {
	if p.Expected == nil {
		return nil
	}
	return p.Expected.MustSee
}

// Ends lists how a run of the probe may end. A timeout must be named: else a stalled machine would be recorded as a CLI
// that hangs.
func (p Probe) Ends() []ExitClass {
	if p.Expected != nil && len(p.Expected.Exit) > 0 {
		return p.Expected.Exit
	}
	return []ExitClass{ExitSuccess, ExitNonzero, ExitSignal, ExitUnknown}
}

// MinEvents is expected-min-events.json: what a capture must show before it counts.
type MinEvents struct {
	Description string        `json:"description,omitempty" jsonschema:"maxLength=500"`
	Kind        string        `json:"kind,omitempty" jsonschema:"enum=run,enum=version,enum=help,enum=models,enum=host,default=run,description=What the probe starts: a mode of the agent or its version or help command or its listing of models; host: nothing; only a host's own runs are recorded under it"`
	MustSee     []EventName   `json:"must_see"`
	Optional    []EventName   `json:"optional,omitempty"`
	Forbidden   []FindingName `json:"forbidden"`
	TimeLimits  *TimeLimits   `json:"time_limits,omitempty"`
	// Exit lists how the run may end; see Probe.Ends.
	Exit []ExitClass    `json:"exit,omitempty" jsonschema:"uniqueItems=true,description=How the run may end; where it is left out any end will do but a timeout"`
	Run  *RunConditions `json:"run,omitempty"`
}

// TimeLimits bound a run, in seconds.
type TimeLimits struct {
	Total      int `json:"total,omitempty" jsonschema:"minimum=1,maximum=3600,default=120"`
	FirstByte  int `json:"first_byte,omitempty" jsonschema:"minimum=1,maximum=3600,default=60"`
	Inactivity int `json:"inactivity,omitempty" jsonschema:"minimum=1,maximum=3600,default=60"`
}

// EnvPolicy is env-policy.json: what an error probe takes away from the child, or sets.
type EnvPolicy struct {
	Unset           []string          `json:"unset,omitempty" jsonschema:"description=Variable names; {secrets} stands for the agent's own secret names"`
	Set             map[string]string `json:"set,omitempty"`
	CredentialFiles string            `json:"credential_files,omitempty" jsonschema:"enum=remove,enum=keep,default=keep,description=Whether home files that hold a {secret} are left out"`
	HomeFiles       string            `json:"home_files,omitempty" jsonschema:"enum=keep,enum=break,default=keep,description=break: text that is no configuration takes the place of the agent's own"`
}

// Script is script.json: what the model server answers, step by step, one step a model request.
type Script struct {
	Description string `json:"description,omitempty" jsonschema:"maxLength=500"`
	// Requests says whether a run without any model request is an error (required, the default) or an answer (optional).
	Requests string `json:"requests,omitempty" jsonschema:"enum=required,enum=optional,default=required"`
	// Expects is what the requests must carry to the model: without it a run is no answer to the probe.
	Expects string       `json:"expects,omitempty" jsonschema:"enum=image,description=What a model request must carry"`
	Usage   Usage        `json:"usage"`
	Steps   []ScriptStep `json:"steps" jsonschema:"minItems=1"`
}

// Usage is the token usage that each answer reports.
type Usage struct {
	InputTokens     int `json:"input_tokens" jsonschema:"minimum=0"`
	CachedTokens    int `json:"cached_tokens" jsonschema:"minimum=0"`
	OutputTokens    int `json:"output_tokens" jsonschema:"minimum=0"`
	ReasoningTokens int `json:"reasoning_tokens" jsonschema:"minimum=0"`
}

// ScriptStep is one answer; exactly one of its fields is set. The last step repeats for further requests when
// Repeat is true; otherwise a request beyond the script is answered with an error and is a finding.
type ScriptStep struct {
	Text   []string   `json:"text,omitempty" jsonschema:"description=Assistant text in the deltas given"`
	Tool   *ToolStep  `json:"tool,omitempty"`
	Error  *ErrorStep `json:"error,omitempty"`
	Drop   *DropStep  `json:"drop,omitempty"`
	Stall  *StallStep `json:"stall,omitempty"`
	Empty  bool       `json:"empty,omitempty" jsonschema:"description=A complete answer without content"`
	Repeat bool       `json:"repeat,omitempty"`
}

// ToolStep calls a tool. The intent is looked up in the mode's tools; the first one that the CLI offers is called.
type ToolStep struct {
	Intent string `json:"intent" jsonschema:"pattern=^[a-z0-9-]{1\\,60}$"`
}

// ErrorStep answers with an HTTP status and a body in the dialect's own error form.
type ErrorStep struct {
	Status     int    `json:"status" jsonschema:"minimum=400,maximum=599"`
	Type       string `json:"type" jsonschema:"pattern=^[a-z0-9_]{1\\,60}$"`
	Message    string `json:"message" jsonschema:"minLength=1,maxLength=500"`
	RetryAfter int    `json:"retry_after,omitempty" jsonschema:"minimum=0,maximum=3600,description=Seconds in the Retry-After header"`
}

// DropStep sends the start of a text answer and breaks it off.
type DropStep struct {
	Text []string `json:"text"`
	How  string   `json:"how,omitempty" jsonschema:"enum=cut,enum=end,enum=malformed,default=cut,description=cut: the connection; end: the body ends as if all were said; malformed: an event that is no JSON and then the end"`
}

// StallStep sends the start of a text answer and then nothing, with the connection open.
type StallStep struct {
	Text    []string `json:"text"`
	Seconds int      `json:"seconds" jsonschema:"minimum=1,maximum=3600,description=How long the connection stays open"`
}
