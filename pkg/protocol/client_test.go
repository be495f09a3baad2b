package protocol

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func loadClient(t testing.TB, name string) contract.Client {
	t.Helper()
	path := filepath.Join("testdata", name+".client.json")
	if name == "open-design" {
		path = "../../registry/clients/open-design.json" // the one that captures are driven by
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	client, problems := contract.Decode[contract.Client](contract.KindClient, path, data)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return client
}

// turnFile is one conversation: "<" what the CLI sends, "silence" where it sends nothing, ">" each frame of the host in answer, "done" at its end.
type turnFile struct {
	client string
	turn   Turn
	lines  []string
}

func readTurn(t testing.TB, path string) turnFile {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := turnFile{client: "open-design"}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		verb, rest, _ := strings.Cut(line, " ")
		switch verb {
		case "#":
		case "client":
			f.client = rest
		case "turn":
			if err := json.Unmarshal([]byte(rest), &f.turn); err != nil {
				t.Fatal(err)
			}
		default:
			f.lines = append(f.lines, line)
		}
	}
	f.turn.Prompt, f.turn.Cwd = "Say <hi> & go.", "/w"
	return f
}

// What a host says is under contract as much as what it hears: every frame, in canonical JSON, and when the turn is
// over for it.
func TestClientFrames(t *testing.T) {
	files, err := filepath.Glob("testdata/turns/*.turn")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d conversations: %v", len(files), err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".turn")
		t.Run(name, func(t *testing.T) {
			f := readTurn(t, path)
			family := contract.FamilyACP
			if strings.HasPrefix(name, "pi-") {
				family = contract.FamilyPiRPC
			}
			client, err := NewClient(family, loadClient(t, f.client), f.turn)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			say := func(frames [][]byte) {
				for _, frame := range frames {
					got = append(got, "> "+canonical(t, frame))
				}
			}
			say(client.Start())
			var doc Document
			for _, line := range f.lines {
				if line == "silence" {
					got = append(got, line)
					say(client.Unanswered())
				}
				text, fromCLI := strings.CutPrefix(line, "< ")
				if !fromCLI {
					continue
				}
				frame, ok := ParseFrame(family, &doc, []byte(text))
				if !ok {
					t.Fatalf("no frame of %s: %s", family, text)
				}
				got = append(got, "< "+canonical(t, frame))
				say(client.Receive(&doc))
			}
			if client.Done() {
				got = append(got, "done")
				if more := client.Receive(&doc); len(more) > 0 {
					t.Errorf("the host goes on after its turn: %s", more)
				}
			}
			var want []string
			for _, line := range f.lines {
				if verb, text, ok := strings.Cut(line, " "); ok {
					line = verb + " " + canonical(t, []byte(text))
				}
				want = append(want, line)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func canonical(t testing.TB, data []byte) string {
	t.Helper()
	out, err := contract.Canonical(data)
	if err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return string(out)
}

func TestNewClientRefuses(t *testing.T) {
	standard := loadClient(t, "standard")
	if _, err := NewClient(contract.FamilyPiRPC, standard, Turn{}); err == nil {
		t.Error("a profile that does not speak the family is taken")
	}
	if _, err := NewClient(contract.FamilyPlain, standard, Turn{}); err == nil {
		t.Error("a family without frames has a client")
	}
	if _, err := NewClient(contract.FamilyACP, standard, Turn{Parent: "s"}); err == nil {
		t.Error("a session is continued that no step continues")
	}
}

// Another host waits for the CLI to say that the turn is over, and tells the questions in between that they are cancelled.
func TestClientAbortWaits(t *testing.T) {
	profile := loadClient(t, "open-design")
	profile.Commands.AbortEnds = false
	client, err := NewClient(contract.FamilyPiRPC, profile, Turn{Host: contract.HostPolicy{CancelAt: contract.CancelAtPrompt}})
	if err != nil {
		t.Fatal(err)
	}
	if got := client.Start(); len(got) != 2 || client.Done() {
		t.Errorf("%q, %v", got, client.Done())
	}
	var doc Document
	for _, tt := range []struct {
		frame, answer string
		done          bool
	}{
		{`{"type":"extension_ui_request","id":"u","method":"confirm"}`, `{"type":"extension_ui_response","id":"u","cancelled":true}`, false},
		{`{"type":"agent_end"}`, "", true},
	} {
		if _, ok := ParseFrame(contract.FamilyPiRPC, &doc, []byte(tt.frame)); !ok {
			t.Fatal(tt.frame)
		}
		if got := bytes.Join(client.Receive(&doc), nil); string(got) != tt.answer || client.Done() != tt.done || client.HoldsStdin() {
			t.Errorf("%s: %q, done %v", tt.frame, got, client.Done())
		}
	}
}

// The order of members is that of hosts, and nothing is escaped that they do not escape.
func TestClientSpelling(t *testing.T) {
	client, err := NewClient(contract.FamilyPiRPC, loadClient(t, "open-design"), Turn{Prompt: "<a> & é"})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(client.Start()[0]); got != `{"id":1,"type":"prompt","message":"<a> & é"}` {
		t.Error(got)
	}
}
