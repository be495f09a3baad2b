package stage

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/lint"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// verdicts remembers which bytes were found free of errors, one file each. The name of a file is the hash of
// everything that the verdict depends on, so a verdict is never about other bytes, another program or another machine.
// Refusals are not kept: they are found again each time.
type verdicts struct{ dir string }

// maxVerdicts bounds the folder; the oldest go.
const maxVerdicts = 50

// verdict is one file. Key repeats the name and Sum covers the findings, so that a damaged or misplaced file is no
// verdict.
type verdict struct {
	Key      contract.Hash `json:"key"`
	Findings lint.Findings `json:"findings"`
	Sum      contract.Hash `json:"sum"`
}

func (v *verdict) sum() (contract.Hash, error) {
	data, err := json.Marshal(v.Findings)
	return contract.HashBytes(append([]byte(v.Key), data...)), err
}

func (c verdicts) path(key contract.Hash) string {
	return filepath.Join(c.dir, strings.TrimPrefix(string(key), "sha256:")+".json")
}

// load gives the remarks of a verdict. Whatever is odd about the file, there is none.
func (c verdicts) load(key contract.Hash) (lint.Findings, bool) {
	data, err := os.ReadFile(c.path(key))
	if err != nil {
		return nil, false
	}
	var v verdict
	if json.Unmarshal(data, &v) != nil || v.Key != key || v.Findings == nil || v.Findings.Errors() > 0 {
		return nil, false
	}
	sum, err := v.sum()
	return v.Findings, err == nil && sum == v.Sum
}

func (c verdicts) store(key contract.Hash, findings lint.Findings) (err error) {
	if findings == nil {
		findings = lint.Findings{}
	}
	if findings.Errors() > 0 {
		return errors.New("a refusal is not kept")
	}
	v := verdict{Key: key, Findings: findings}
	if v.Sum, err = v.sum(); err != nil {
		return err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := registry.WriteFile(c.path(key), data); err != nil {
		return err
	}
	return c.prune()
}

func (c verdicts) prune() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil || len(entries) <= maxVerdicts {
		return err
	}
	age := func(e fs.DirEntry) int64 {
		info, err := e.Info()
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return int(min(max(age(b)-age(a), -1), 1)) })
	for _, e := range entries[maxVerdicts:] {
		if err := os.Remove(filepath.Join(c.dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// validationKey is the hash of everything that a verdict on a tree depends on: the bytes of the tree and its base, the
// agents and probes, the values of this machine, and the program, whose version does not tell one build from another.
func (s *Stage) validationKey(tree *registry.Tree, catalog *registry.Catalog) (contract.Hash, error) {
	program, err := program()
	if err != nil {
		return "", err
	}
	files, err := tree.Digest()
	if err != nil {
		return "", err
	}
	inputs, err := json.Marshal([]any{"validate/v1", program, files, tree.Base() != nil, catalog, s.known()})
	if err != nil {
		return "", fmt.Errorf("naming the inputs of a validation: %w", err)
	}
	return contract.HashBytes(inputs), nil
}

// program is the SHA-256 of the running executable.
var program = sync.OnceValues(func() (sum contract.Hash, err error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return contract.HashSum([sha256.Size]byte(h.Sum(nil))), nil
})
