package modelserver

import (
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// sideRequest returns the first of the mode's side requests that req is, or nil for one of the conversation itself.
func sideRequest(known []contract.SideRequest, req request) *contract.SideRequest {
	for i, side := range known {
		if (side.Model == "" || side.Model == req.model) &&
			(!side.WithoutTools || len(req.offered) == 0) &&
			(side.MaxTokens == 0 || req.limit > 0 && req.limit <= side.MaxTokens) &&
			strings.Contains(req.instructions, side.Instructions) {
			return &known[i]
		}
	}
	return nil
}

// choose returns the call of the first candidate that the CLI offers and that can be called with its arguments.
func choose(candidates []contract.Tool, offered []offeredTool, fill *strings.Replacer) *call {
	for _, candidate := range candidates {
		for _, tool := range offered {
			switch {
			case tool.listed() == candidate.Name && callable(tool, candidate):
			case candidate.Behind != "" && tool.listed() == candidate.Behind:
				tool = hidden(candidate.Name)
			default:
				continue
			}
			return &call{tool: tool, arguments: contract.FillJSON(candidate.Arguments, fill).(map[string]any)}
		}
	}
	return nil
}

// hidden is a tool that no request lists.
func hidden(listed string) offeredTool {
	if i := strings.LastIndexByte(listed, '.'); i >= 0 {
		return offeredTool{namespace: listed[:i], name: listed[i+1:], kind: toolFunction}
	}
	return offeredTool{name: listed, kind: toolFunction}
}

func callable(tool offeredTool, candidate contract.Tool) bool {
	switch tool.kind {
	case toolFunction, toolShell:
		return true
	case toolCustom:
		_, ok := candidate.Arguments["input"].(string)
		return ok
	default:
		return false
	}
}
