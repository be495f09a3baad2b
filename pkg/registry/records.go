package registry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

const (
	observationSuffix = ".observation.json"
	evidenceSuffix    = ".evidence.json"
	// AliasesPath maps signatures from before a migration to the ones after it: {"sha256:<old>": "sha256:<new>"}.
	AliasesPath contract.RelPath = "shape-aliases.json"
	// MatrixPath is the generated support matrix.
	MatrixPath contract.RelPath = "support-matrix.json"
	// IndexPath is the generated index of agents.
	IndexPath contract.RelPath = "agents.json"
)

// Record is an observation with its sidecar.
type Record struct {
	Path        contract.RelPath
	Observation contract.Observation
	// Evidence is nil where the tree lacks the sidecar, or where it is no valid record.
	Evidence *contract.Evidence
	// Shape is the signature of today: the observation's own, or what a migration made of it.
	Shape contract.Hash
	// At is captured_at in Unix seconds.
	At int64
}

// EvidencePath is where the sidecar of the record lies.
func (r *Record) EvidencePath() contract.RelPath {
	return contract.RelPath(strings.TrimSuffix(string(r.Path), observationSuffix) + evidenceSuffix)
}

// Withdrawn reports whether the observation was taken out of all claims.
func (r *Record) Withdrawn() bool { return r.Evidence != nil && r.Evidence.Withdrawn != nil }

// Source is a source evidence record and where it lies.
type Source struct {
	Path     contract.RelPath
	Evidence contract.SourceEvidence
	Shape    contract.Hash
}

// Records is everything that claims are generated from, read once. Over an overlay it holds what the tree would hold
// after the overlay was merged.
type Records struct {
	// Observations are sorted by path.
	Observations []*Record
	Sources      []Source
	Releases     map[contract.AgentID]contract.ReleaseList
	Aliases      map[contract.Hash]contract.Hash
	// Problems are those of the files that could not be read as records; such files are left out.
	Problems contract.Problems
}

// LoadRecords reads the observations, evidence, source evidence and release lists of a tree and of its bases. visit,
// where it is not nil, gets the bytes of every file that is read; it is called from several goroutines. Problems tell
// what is wrong with these files, also where one cannot be read; the error is about the aliases.
func LoadRecords(t *Tree, visit func(file string, data []byte)) (*Records, error) {
	files := t.merged("observations/", "source-evidence/", "releases/")
	decoded := make([]any, len(files))
	problems := make([]contract.Problems, len(files))
	t.ReadEach(files, func(i int, data []byte, err error) {
		if err != nil {
			problems[i] = contract.Problems{Unreadable(files[i])}
			return
		}
		if visit != nil {
			visit(files[i], data)
		}
		decoded[i], problems[i] = decodeRecord(files[i], data)
	})
	r := &Records{Releases: map[contract.AgentID]contract.ReleaseList{}, Aliases: map[contract.Hash]contract.Hash{}, Problems: slices.Concat(problems...)}
	if err := r.loadAliases(t); err != nil {
		return nil, err
	}
	r.index(files, decoded)
	return r, nil
}

// UnreadableRule is the rule of a file that cannot be read.
const UnreadableRule = "file/readable"

// Unreadable is the problem of a file that cannot be read, because the system refuses or because of its size.
func Unreadable(file string) contract.Problem {
	return contract.Problem{File: file, Rule: UnreadableRule, Message: "the file cannot be read", Remedy: fmt.Sprintf("make it a readable file of at most %d bytes", MaxFileSize)}
}

// decodeRecord reads one file; nil where it is none of the records that are wanted here. It is a function of the
// path and the bytes alone.
func decodeRecord(file string, data []byte) (any, contract.Problems) {
	kind, ok := contract.KindOfPath(file)
	if !ok {
		return nil, nil
	}
	switch kind {
	case contract.KindObservation:
		return decodeAny[contract.Observation](kind, file, data)
	case contract.KindEvidence:
		return decodeAny[contract.Evidence](kind, file, data)
	case contract.KindSourceEvidence:
		return decodeAny[contract.SourceEvidence](kind, file, data)
	case contract.KindReleases:
		return decodeAny[contract.ReleaseList](kind, file, data)
	}
	return nil, nil
}

func decodeAny[T any](kind contract.Kind, file string, data []byte) (any, contract.Problems) {
	v, problems := contract.Decode[T](kind, file, data)
	if len(problems) > 0 {
		return nil, problems
	}
	return v, nil
}

func (r *Records) index(files []string, decoded []any) {
	evidence := map[string]*contract.Evidence{}
	for i, v := range decoded {
		switch v := v.(type) {
		case contract.Evidence:
			evidence[strings.TrimSuffix(files[i], evidenceSuffix)] = &v
		case contract.SourceEvidence:
			r.Sources = append(r.Sources, Source{contract.RelPath(files[i]), v, r.Resolve(v.DerivedShape.Signature)})
		case contract.ReleaseList:
			r.Releases[v.Agent] = v
		}
	}
	for i, v := range decoded {
		if o, ok := v.(contract.Observation); ok {
			at, _ := o.Capture.CapturedAt.Time() // the schema has checked it
			r.Observations = append(r.Observations, &Record{
				Path: contract.RelPath(files[i]), Observation: o, Evidence: evidence[strings.TrimSuffix(files[i], observationSuffix)],
				Shape: r.Resolve(o.Shape.Signature), At: at.Unix(),
			})
		}
	}
}

func (r *Records) loadAliases(t *Tree) error {
	if !t.Has(AliasesPath) {
		return nil
	}
	data, err := t.Read(AliasesPath)
	if err != nil {
		return fmt.Errorf("reading %s: %w", AliasesPath, err)
	}
	if err := json.Unmarshal(data, &r.Aliases); err != nil {
		r.Aliases = map[contract.Hash]contract.Hash{}
		r.Problems = append(r.Problems, contract.Problem{File: string(AliasesPath), Rule: "json/syntax", Message: "the file is no JSON object of signatures", Remedy: "write old signature → new signature"})
	}
	return nil
}

// Resolve follows the aliases of migrated shapes to the signature of today.
func (r *Records) Resolve(signature contract.Hash) contract.Hash {
	for range len(r.Aliases) { // a chain is never longer, and a ring ends here
		next, ok := r.Aliases[signature]
		if !ok {
			break
		}
		signature = next
	}
	return signature
}

// merged lists the files below the prefixes in the tree and its bases, sorted, each once.
func (t *Tree) merged(prefixes ...string) []string {
	var files []string
	for tree := t; tree != nil; tree = tree.under {
		for _, prefix := range prefixes {
			files = append(files, tree.Files(prefix)...)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}
