package capture

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/modelserver"
)

// heard reports whether a request told the model the prompt: its first line, since CLIs may wrap and trim the rest. Where a
// request was not kept nobody knows, and it counts.
func heard(report modelserver.Report, prompt string) bool {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	if line = strings.TrimSpace(line); line == "" || report.Unkept > 0 {
		return true
	}
	return told(report, line)
}

// told reports whether a text of a kept request holds what was said.
func told(report modelserver.Report, said string) bool {
	for _, x := range report.Exchanges {
		dec := json.NewDecoder(bytes.NewReader(x.Body()))
		for {
			token, err := dec.Token()
			if err != nil {
				break
			}
			if text, ok := token.(string); ok && strings.Contains(text, said) {
				return true
			}
		}
	}
	return false
}
