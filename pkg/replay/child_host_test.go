package replay

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

func talking(t *testing.T) *Fixture {
	t.Helper()
	return &Fixture{Sanitized: readTalk(t, talk), Path: "talk", Mode: registry.Mode{Family: contract.FamilyPiRPC, Stdin: contract.StdinRPC}}
}

// The host that captures are driven by speaks with the recorded agent, counting its ids from elsewhere.
func TestChildSpeaksWithAHost(t *testing.T) {
	profile := openDesign(t)
	profile.Commands.FirstID = 41
	host, err := protocol.NewClient(contract.FamilyPiRPC, profile, protocol.Turn{Prompt: "Something else."})
	if err != nil {
		t.Fatal(err)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	f := talking(t)
	ended := make(chan error, 1)
	go func() {
		end, err := Child{Stdin: inR, Stdout: outW, Stderr: io.Discard}.Play(context.Background(), f)
		if err == nil && (end.Code != 0 || end.StdinBytes == 0) {
			err = errors.New("another end than the recorded one")
		}
		_ = outW.Close()
		ended <- err
	}()
	say := func(frames [][]byte) {
		for _, frame := range frames {
			_, _ = inW.Write(append(bytes.Clone(frame), '\n'))
		}
	}
	go say(host.Start())
	var doc protocol.Document
	var heard []string
	for lines := bufio.NewScanner(outR); lines.Scan(); {
		heard = append(heard, lines.Text())
		if _, ok := protocol.ParseFrame(contract.FamilyPiRPC, &doc, lines.Bytes()); !ok {
			t.Errorf("no frame: %s", lines.Text())
		}
		say(host.Receive(&doc))
	}
	if err := <-ended; err != nil || !host.Done() {
		t.Errorf("%v, the host's turn is over: %v", err, host.Done())
	}
	if len(heard) != 3 || !strings.Contains(heard[0], `"id":41`) {
		t.Errorf("the answer has another id than the host's request: %q", heard)
	}
}

func TestChildRefusesAnotherHost(t *testing.T) {
	const prompt = `{"id":1,"type":"prompt","message":"a secret"}` + "\n"
	tests := map[string]struct {
		stdin string
		entry int // 0: the host has gone
		want  string
	}{
		"another command": {`{"id":1,"type":"abort"}` + "\n", 1, "prompt"},
		"no frame":        {"a secret\n", 1, "prompt"},
		"no id":           {`{"type":"prompt"}` + "\n", 1, "prompt"},
		"no answer":       {prompt + prompt, 4, "extension_ui_response"},
		"too little":      {prompt, 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Child{Stdin: strings.NewReader(tt.stdin), Stdout: io.Discard, Stderr: io.Discard}.Play(context.Background(), talking(t))
			var wrong *FrameError
			switch {
			case tt.entry == 0 && !errors.Is(err, ErrHostGone):
				t.Error(err)
			case tt.entry > 0 && (!errors.As(err, &wrong) || wrong.Entry != tt.entry || wrong.Want != tt.want || strings.Contains(err.Error(), "secret")):
				t.Error(err)
			}
		})
	}
}
