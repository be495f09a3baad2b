package registry

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Selector names records from coarse to fine: codex, codex@0.133.0, codex@0.133.0:chat-tool-success or
// codex@0.133.0#sha256-<hex>.
type Selector struct {
	Agent   string
	Version contract.CLIVersion
	Probe   string
	Shape   contract.Hash
}

var selectorForm = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9_-]*)(?:@([0-9A-Za-z][0-9A-Za-z.+_-]*))?(?::([a-z0-9_-]+))?(?:#sha256[-:]([0-9a-f]{64}))?$`)

// ParseSelector reads a selector.
func ParseSelector(s string) (Selector, error) {
	m := selectorForm.FindStringSubmatch(s)
	if m == nil {
		return Selector{}, fmt.Errorf("%q is not a selector: write AGENT, AGENT@VERSION, AGENT@VERSION:PROBE or AGENT@VERSION#sha256-HEX", s)
	}
	sel := Selector{Agent: m[1], Version: contract.CLIVersion(m[2]), Probe: strings.ReplaceAll(m[3], "_", "-")}
	if m[4] != "" {
		sel.Shape = contract.Hash("sha256:" + m[4])
	}
	return sel, nil
}
