package stage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/lint"
)

func key(i int) contract.Hash { return contract.HashBytes([]byte(fmt.Sprint(i))) }

func remark(severity lint.Severity) lint.Findings {
	return lint.Findings{{Problem: contract.Problem{File: "a.json", Line: 3, Pointer: "/x", Rule: "r/s", Message: "m", Remedy: "n"}, Severity: severity}}
}

func TestVerdicts(t *testing.T) {
	c := verdicts{filepath.Join(t.TempDir(), "validate")}
	for i, findings := range []lint.Findings{nil, remark(lint.Warning)} {
		if err := c.store(key(i), findings); err != nil {
			t.Fatal(err)
		}
		if got, ok := c.load(key(i)); !ok || len(got) != len(findings) || len(got) > 0 && !cmp.Equal(got, findings) {
			t.Errorf("%v is loaded as %v, %v", findings, got, ok)
		}
	}
	if err := c.store(key(2), remark(lint.Error)); err == nil {
		t.Error("a refusal is kept")
	}
	if got, ok := c.load(key(2)); ok {
		t.Errorf("a verdict that nobody gave: %v", got)
	}
}

// TestVerdictsThatAreNone: nothing but a whole verdict about these very bytes makes a tree valid.
func TestVerdictsThatAreNone(t *testing.T) {
	c := verdicts{t.TempDir()}
	if err := c.store(key(1), remark(lint.Warning)); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(c.path(key(1)))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty":            {},
		"cut off":          good[:len(good)-5],
		"no verdict":       []byte(`{}`),
		"nothing found":    []byte(`{"key":"` + string(key(1)) + `","findings":[]}`),
		"a remark is gone": bytes.Replace(good, []byte("/x"), []byte(""), 1),
		"an error":         bytes.Replace(good, []byte(`"warning"`), []byte(`"error"`), 1),
		"another key":      bytes.Replace(good, []byte(key(1)), []byte(key(2)), 1),
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(c.path(key(1)), data, 0o644); err != nil {
				t.Fatal(err)
			}
			if got, ok := c.load(key(1)); ok {
				t.Errorf("it counts: %v", got)
			}
		})
	}
	if err := os.WriteFile(c.path(key(2)), good, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, ok := c.load(key(2)); ok {
		t.Errorf("a verdict about other bytes counts: %v", got)
	}
}

func TestVerdictsAreBounded(t *testing.T) {
	c := verdicts{t.TempDir()}
	for i := range maxVerdicts + 10 {
		if err := c.store(key(i), nil); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(c.dir)
	if err != nil || len(entries) != maxVerdicts {
		t.Errorf("%d verdicts are kept, %v", len(entries), err)
	}
}
