//go:build integration

package stage_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/open-design/agent-cli-contracts/internal/stage"
)

// A CLI that is a script runs on the Node that its record pins; the same script given by hand prints the same shape.
func TestRealScript(t *testing.T) {
	s := openReal(t)
	agent := s.Checkout.Catalog.Agents["gemini"]
	installed, err := s.NPM.Install(t.Context(), agent, "0.61.0", s.Platform)
	if err != nil {
		t.Fatal(err)
	}
	if got := installed.Runtime.Record.Version; got != agent.Install[0].Runtime.Version {
		t.Errorf("runtime %s, pinned is %s", got, agent.Install[0].Runtime.Version)
	}
	link := filepath.Join(t.TempDir(), "gemini") // a package manager's command is a link
	if err := os.Symlink(installed.Bin, link); err != nil {
		t.Fatal(err)
	}
	request := stage.CaptureRequest{Selector: "gemini@0.61.0:chat-tool-success", Repeat: 1}
	first, err := s.Capture(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	request.Bin = link
	byHand, err := s.Capture(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if first.Probes[0].Signature != byHand.Probes[0].Signature {
		t.Errorf("installed %s, by hand %s", first.Probes[0].Signature, byHand.Probes[0].Signature)
	}
}
