package contract

import (
	"encoding/base64"
	"slices"
)

var clientRules = []Rule{
	ruleFor(KindClient, "client/speaks", "A client profile speaks at least one RPC family.", func(c Client, report reporter) {
		if c.ACP == nil && c.Commands == nil {
			report("", "the profile speaks no family", "describe the host's side in acp or commands")
		}
	}),
	ruleFor(KindClient, "client/steps", "The steps of a turn stand in the order of the protocol.", func(c Client, report reporter) {
		if c.ACP == nil {
			return
		}
		last := -1
		for i, step := range c.ACP.Steps {
			at := slices.Index(step.Values(), string(step))
			if at <= last {
				report(pointer("acp", "steps", i), "the step comes too late", "order the steps as "+oneOf(step.Values()))
			}
			last = max(last, at)
		}
		for _, step := range []ACPStep{StepInitialize, StepSession, StepPrompt} {
			if !slices.Contains(c.ACP.Steps, step) {
				report("/acp/steps", "the step "+string(step)+" is missing, and no turn goes without it", "add it")
			}
		}
		if slices.Contains(c.ACP.Steps, StepModel) != (len(c.ACP.ModelSelection) > 0) {
			report("/acp/model_selection", "the step model and the ways to select one belong together", "give both or neither")
		}
	}),
	ruleFor(KindClient, "client/permission", "A rule fits options in one way.", func(c Client, report reporter) {
		if c.ACP == nil {
			return
		}
		for i, rule := range c.ACP.Permission {
			if (rule.OptionID == "") == (rule.Kind == "") {
				report(pointer("acp", "permission", i), "the rule has neither or both of its two forms", "give exactly one of option_id and kind")
			}
		}
	}),
}

var hostPolicyChecks = []partCheck[HostPolicy]{
	{"probe/host-script", "A host that makes requests in place of its turn has no turn to cancel.", func(h HostPolicy, report reporter) {
		if h.Script != nil && h.CancelAt != "" {
			report("/cancel_at", "the host sends no prompt, so there is nothing to cancel", "leave out cancel_at or script")
		}
	}},
	{"probe/attachments", "Attachments and servers are named once, and what is base64 decodes.", func(h HostPolicy, report reporter) {
		unique(h.Images, func(i Image) string { return i.Name }, func(i int) {
			report(pointer("images", i, "name"), "the image is there already", "name it otherwise")
		})
		unique(h.MCPServers, func(s MCPServer) string { return s.Name }, func(i int) {
			report(pointer("mcp_servers", i, "name"), "the server is there already", "name it otherwise")
		})
		for i, image := range h.Images {
			if _, err := base64.StdEncoding.DecodeString(image.Base64); err != nil {
				report(pointer("images", i, "base64"), "the text does not decode", "write standard base64 with padding")
			}
		}
	}},
}
