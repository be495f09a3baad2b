package contracts_test

import (
	"os"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/capture/rawbundle"
)

// Whoever can change the recipients without a review can read the raw output of every capture after that.
func TestRecipientsAreProtected(t *testing.T) {
	if _, err := rawbundle.Recipients(rawbundle.RecipientsFile); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(".github/CODEOWNERS")
	if err != nil {
		t.Fatal(err)
	}
	owned := false
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || !strings.HasPrefix("/"+rawbundle.RecipientsFile, fields[0]) {
			continue
		}
		owned = len(fields) > 1 && strings.HasPrefix(fields[1], "@") // the last line that matches counts
	}
	if !owned {
		t.Errorf(".github/CODEOWNERS names no owner of %s", rawbundle.RecipientsFile)
	}
}
