package rawbundle

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

const secret = "what the CLI printed about somebody"

func record(t *testing.T) *transcript.Raw {
	t.Helper()
	rec, err := transcript.NewRecorder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rec.Record(transcript.Entry{Dir: contract.FromProcess, Event: contract.EventSpawn})
	rec.Record(transcript.Entry{Dir: contract.CLIToServer, Stream: contract.Stdout, AtMs: 3, Data: []byte(strings.Repeat(secret+"\n", 10_000))})
	raw, err := rec.Finish()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	return raw
}

func identity(t *testing.T) *age.X25519Identity {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestRoundTrip(t *testing.T) {
	raw, first, second := record(t), identity(t), identity(t)
	dir := filepath.Join(t.TempDir(), "private")
	h := Header{Agent: "codex", Version: "1.2.3", Platform: "linux-x64", Mode: "exec", Probe: "chat-text-success", Cwd: "/run/work", Home: "/run/home", Offered: []string{"shell"}}
	name, err := Write(dir, h, raw, []age.Recipient{first.Recipient(), second.Recipient()})
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, raw.Hash().FileStem()+Suffix); name != want {
		t.Errorf("name %s, want %s", name, want)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{secret, "/run/work", "codex"} {
		if bytes.Contains(data, []byte(part)) {
			t.Errorf("the bundle holds %q in the clear", part)
		}
	}
	for _, id := range []age.Identity{first, second} {
		got, opened, err := Open(bytes.NewReader(data), []age.Identity{id}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		h.Format = 1
		if diff := cmp.Diff(&h, got); diff != "" {
			t.Errorf("header (-want +got):\n%s", diff)
		}
		if opened.Hash() != raw.Hash() {
			t.Error("the transcript is another one")
		}
		_ = opened.Close()
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".bundle-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestOpenRefuses(t *testing.T) {
	raw, id := record(t), identity(t)
	name, err := Write(t.TempDir(), Header{}, raw, []age.Recipient{id.Recipient()})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(bytes.NewReader(data), []age.Identity{identity(t)}, t.TempDir()); !errors.Is(err, ErrIdentity) {
		t.Errorf("another identity: %v", err)
	}
	flipped := bytes.Clone(data)
	flipped[len(flipped)/2] ^= 1
	for name, bad := range map[string][]byte{"cut off": data[:len(data)/2], "changed": flipped, "empty": nil, "no bundle": []byte("age-encryption.org/v1\n")} {
		_, _, err := Open(bytes.NewReader(bad), []age.Identity{id}, t.TempDir())
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRecipients(t *testing.T) {
	key, private := identity(t).Recipient().String(), identity(t).String()
	for _, tt := range []struct {
		name, text string
		want       int
		message    string
	}{
		{"none", "# nobody yet\n\n", 0, ""},
		{"two", key + " # first\n" + identity(t).Recipient().String() + "\n", 2, ""},
		{"a private key", "# x\n" + private + "\n", 0, ":2: "},
		{"not a key", "hello\n", 0, ":1: "},
	} {
		name := filepath.Join(t.TempDir(), "recipients")
		if err := os.WriteFile(name, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Recipients(name)
		switch {
		case tt.message == "" && (err != nil || len(got) != tt.want):
			t.Errorf("%s: %d recipients, %v", tt.name, len(got), err)
		case tt.message != "" && (err == nil || !strings.Contains(err.Error(), tt.message) || strings.Contains(err.Error(), private)):
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if got, err := Recipients(filepath.Join(t.TempDir(), "missing")); got != nil || err != nil {
		t.Errorf("no file: %v, %v", got, err)
	}
	bad := filepath.Join(t.TempDir(), "identity")
	if err := os.WriteFile(bad, []byte(private+"x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Identities(bad); err == nil || strings.Contains(err.Error(), private) {
		t.Errorf("identities: %v", err)
	}
}
