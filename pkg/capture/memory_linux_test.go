package capture

import (
	"context"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/capture/isolation"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// A CLI that the kernel ends for want of memory has not crashed by itself, so that is no observation of a signal.
func TestCaptureMemory(t *testing.T) {
	before := runLimits
	runLimits.Memory = 160 << 20
	t.Cleanup(func() { runLimits = before })
	c := newCapturer(t, true)
	target := fakeTarget(t, "eat")
	target.Probe.Expected.MustSee, target.Probe.Expected.Exit = []contract.EventName{"init_or_status"}, []contract.ExitClass{contract.ExitSignal}
	if _, err := c.Capture(context.Background(), target); !isA[*isolation.LimitError](err) {
		t.Errorf("got error %v", err)
	}
	nothingPublic(t, c)
}
