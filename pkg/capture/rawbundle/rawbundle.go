// Package rawbundle keeps raw transcripts for maintainers: encrypted with age before they get a name, and with what is
// needed to redact them once more.
package rawbundle

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// Suffix ends the name of every bundle.
const Suffix = ".raw.jsonl.age"

// RecipientsFile lists who can open bundles, relative to a checkout. CODEOWNERS protects it. Nothing else may name a
// recipient: whoever could would read the raw output of live accounts.
const RecipientsFile = ".github/raw-recipients.txt"

// format is the version of what is inside the encryption.
const format = 1

// A Header is the first line of a bundle: what the run was, and what redaction was told of it.
type Header struct {
	Format   int                 `json:"format"`
	Agent    contract.AgentID    `json:"agent"`
	Version  contract.CLIVersion `json:"cli_version"`
	Platform contract.Platform   `json:"platform"`
	Mode     contract.ModeID     `json:"mode"`
	Probe    contract.ProbeID    `json:"probe"`
	At       contract.Timestamp  `json:"captured_at"`
	// Cwd and Home were the run's folders, Offered the tools that the CLI offered to the model.
	Cwd     string   `json:"cwd,omitempty"`
	Home    string   `json:"home,omitempty"`
	Offered []string `json:"offered,omitempty"`
}

// Recipients reads a list of age public keys, one a line; # starts a comment. A file without any is no error. No message
// quotes a line: somebody may have put a private key there.
func Recipients(name string) ([]age.Recipient, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the recipients of raw bundles: %w", err)
	}
	var list []age.Recipient
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		r, err := age.ParseX25519Recipient(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: this is no age public key: write one as age-keygen -y prints it (age1…)", name, n)
		}
		list = append(list, r)
	}
	return list, nil
}

// Write encrypts a run to the recipients into dir, under the hash of its raw transcript, and returns the file's name. The
// bytes are encrypted as they are read; nothing else of them reaches a disk.
func Write(dir string, h Header, raw *transcript.Raw, to []age.Recipient) (name string, err error) {
	fail := func(err error) (string, error) { return "", fmt.Errorf("encrypting the raw bundle: %w", err) }
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fail(err)
	}
	f, err := os.CreateTemp(dir, ".bundle-*") // mode 0600
	if err != nil {
		return fail(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	h.Format = format
	if err := errors.Join(encrypt(f, h, raw, to), f.Close()); err != nil {
		return fail(err)
	}
	name = filepath.Join(dir, raw.Hash().FileStem()+Suffix)
	if err := os.Rename(f.Name(), name); err != nil { //nolint:forbidigo // a finished file of this folder
		return fail(err)
	}
	return name, nil
}

func encrypt(f *os.File, h Header, raw *transcript.Raw, to []age.Recipient) error {
	w, err := age.Encrypt(f, to...)
	if err != nil {
		return err
	}
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return err
	}
	if err := raw.WriteBundle(w); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return f.Sync()
}

// maxHeader bounds the first line of a bundle.
const maxHeader = 1 << 20

// ErrIdentity says that none of the identities opens the bundle.
var ErrIdentity = errors.New("none of the identities opens this bundle: take the private key of one of its recipients")

// Open decrypts a bundle. The transcript lies in an unlinked spool in dir; the caller closes it. The hash of the transcript
// is that of the bytes that were decrypted, so a bundle proves itself only against a hash from elsewhere.
func Open(r io.Reader, identities []age.Identity, dir string) (*Header, *transcript.Raw, error) {
	plain, err := age.Decrypt(r, identities...)
	var none *age.NoIdentityMatchError
	if errors.As(err, &none) {
		return nil, nil, ErrIdentity
	}
	if err != nil {
		return nil, nil, fmt.Errorf("opening a raw bundle: %w", err)
	}
	br := bufio.NewReaderSize(plain, maxHeader)
	line, err := br.ReadSlice('\n')
	if err != nil {
		return nil, nil, errors.New("opening a raw bundle: it has no first line, or is cut off")
	}
	var h Header
	if err := json.Unmarshal(line, &h); err != nil || h.Format != format {
		return nil, nil, fmt.Errorf("opening a raw bundle: its format is not %d: use the version of the tool that wrote it", format)
	}
	raw, err := transcript.ReadBundle(br, dir)
	if err != nil {
		return nil, nil, fmt.Errorf("opening a raw bundle: %w", err)
	}
	return &h, raw, nil
}

// Identities reads a file of age private keys, as age-keygen writes it.
func Identities(name string) ([]age.Identity, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading the identities: %w", err)
	}
	list, err := age.ParseIdentities(f)
	_ = f.Close() // read only
	if err != nil {
		// The library's message quotes the line.
		return nil, fmt.Errorf("%s: not a file of age private keys: name one as age-keygen writes it", name)
	}
	return list, nil
}
