package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// maxFixtureFile bounds one file of a probe's workspace, in bytes.
const maxFixtureFile = 1 << 20

// Catalog is the hand-written part of a checkout: agents, diagnostics and probes.
type Catalog struct {
	Agents      map[contract.AgentID]contract.Agent
	Diagnostics map[contract.AgentID][]contract.DiagnosticTemplate
	Probes      map[contract.ProbeID]contract.Probe
	// Clients are the hosts whose frames drive RPC modes.
	Clients map[contract.ClientID]contract.Client
}

// LoadCatalog reads agents/, clients/ and diagnostics/ of a tree and the folder of probes. All problems come at once.
func LoadCatalog(t *Tree, probes string) (*Catalog, error) {
	c := &Catalog{Agents: map[contract.AgentID]contract.Agent{}, Diagnostics: map[contract.AgentID][]contract.DiagnosticTemplate{}, Probes: map[contract.ProbeID]contract.Probe{},
		Clients: map[contract.ClientID]contract.Client{}}
	var problems contract.Problems
	if err := loadNamed(t, contract.KindAgent, "agents/", c.Agents, func(a contract.Agent) contract.AgentID { return a.ID }, &problems); err != nil {
		return nil, err
	}
	if err := loadNamed(t, contract.KindClient, "clients/", c.Clients, func(cl contract.Client) contract.ClientID { return cl.ID }, &problems); err != nil {
		return nil, err
	}
	for _, p := range t.Files("diagnostics/") {
		d, found, err := read[contract.Diagnostics](t, contract.KindDiagnostics, p)
		if err != nil {
			return nil, err
		}
		problems = append(problems, found...)
		c.Diagnostics[d.Agent] = append(c.Diagnostics[d.Agent], d.Templates...)
	}
	for _, p := range t.Strange {
		if folder, _, _ := strings.Cut(p, "/"); folder == "agents" || folder == "clients" || folder == "diagnostics" {
			problems = append(problems, contract.Problem{File: p, Rule: "file/regular", Message: "the entry is no regular file", Remedy: "make it a file, or remove it"})
		}
	}
	found, err := c.loadProbes(probes)
	if err != nil {
		return nil, err
	}
	if problems = append(problems, found...); len(problems) > 0 {
		return nil, problems
	}
	return c, nil
}

// loadNamed reads the records of a folder whose file names are their ids.
func loadNamed[ID ~string, T any](t *Tree, kind contract.Kind, dir string, into map[ID]T, id func(T) ID, problems *contract.Problems) error {
	for _, p := range t.Files(dir) {
		record, found, err := read[T](t, kind, p)
		if err != nil {
			return err
		}
		*problems = append(*problems, found...)
		if len(found) == 0 && p != dir+string(id(record))+".json" {
			*problems = append(*problems, contract.Problem{File: p, Pointer: "/id", Rule: string(kind) + "/file-name", Message: "the id is not the file's name", Remedy: "rename the file or correct the id"})
		}
		into[id(record)] = record
	}
	return nil
}

func read[T any](t *Tree, kind contract.Kind, p string) (T, contract.Problems, error) {
	data, err := t.Read(contract.RelPath(p))
	if err != nil {
		var zero T
		return zero, nil, fmt.Errorf("reading %s: %w", p, err)
	}
	v, problems := contract.Decode[T](kind, p, data)
	return v, problems, nil
}

func (c *Catalog) loadProbes(dir string) (contract.Problems, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the probes: %w", err)
	}
	defer root.Close() //nolint:errcheck // read only
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("listing the probes: %w", err)
	}
	var problems contract.Problems
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		p, found, err := loadProbe(root.FS(), e.Name())
		if err != nil {
			return nil, fmt.Errorf("probe %s: %w", e.Name(), err)
		}
		problems = append(problems, found...)
		c.Probes[p.ID] = p
	}
	return problems, nil
}

func loadProbe(fsys fs.FS, id string) (contract.Probe, contract.Problems, error) {
	p := contract.Probe{ID: contract.ProbeID(id)}
	var problems contract.Problems
	part := func(name string, into any, kind contract.Kind) error {
		file := "probes/" + id + "/" + name
		info, err := fs.Stat(fsys, id+"/"+name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFixtureFile) {
			// Opening a pipe would wait for its writer for ever.
			problems = append(problems, contract.Problem{File: file, Rule: "probe/file", Message: "the entry is no regular file, or too large",
				Remedy: fmt.Sprintf("make it a file of at most %d bytes", maxFixtureFile)})
			return nil
		}
		if err != nil {
			return err
		}
		data, err := fs.ReadFile(fsys, id+"/"+name)
		if err != nil {
			return err
		}
		var found contract.Problems
		switch into := into.(type) {
		case **contract.MinEvents:
			*into, found = decodePart[contract.MinEvents](kind, file, data)
		case **contract.EnvPolicy:
			*into, found = decodePart[contract.EnvPolicy](kind, file, data)
		case **contract.Script:
			*into, found = decodePart[contract.Script](kind, file, data)
		case **contract.HostPolicy:
			*into, found = decodePart[contract.HostPolicy](kind, file, data)
		case *string:
			if !utf8.Valid(data) {
				found = contract.Problems{{File: file, Rule: "probe/text", Message: "the file is not UTF-8 text", Remedy: "write it in UTF-8"}}
				break
			}
			*into = string(data)
		}
		problems = append(problems, found...)
		return nil
	}
	err := errors.Join(
		part("prompt.md", &p.Prompt, ""),
		part("expected-min-events.json", &p.Expected, contract.KindMinEvents),
		part("env-policy.json", &p.EnvPolicy, contract.KindEnvPolicy),
		part("script.json", &p.Script, contract.KindScript),
		part("host.json", &p.Host, contract.KindHostPolicy),
	)
	if err != nil {
		return p, nil, err
	}
	p.Files, err = loadFiles(fsys, id+"/fixture-files")
	if p.Expected == nil && p.EnvPolicy == nil {
		problems = append(problems, contract.Problem{File: "probes/" + id, Rule: "probe/parts", Message: "a probe says what must be seen, or what an error probe takes away",
			Remedy: "add expected-min-events.json or env-policy.json"})
	}
	return p, problems, err
}

func decodePart[T any](kind contract.Kind, file string, data []byte) (*T, contract.Problems) {
	v, problems := contract.Decode[T](kind, file, data)
	return &v, problems
}

func loadFiles(fsys fs.FS, dir string) (map[string]string, error) {
	files := map[string]string{}
	err := fs.WalkDir(fsys, dir, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && p == dir {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s is not a regular file", p)
		}
		if info, err := d.Info(); err != nil || info.Size() > maxFixtureFile {
			return fmt.Errorf("%s is larger than %d bytes", p, maxFixtureFile)
		}
		data, err := fs.ReadFile(fsys, p)
		if err != nil {
			return err
		}
		if !utf8.Valid(data) {
			return fmt.Errorf("%s is not UTF-8 text", p)
		}
		files[strings.TrimPrefix(p, dir+"/")] = string(data)
		return nil
	})
	return files, err
}

// UnknownError names something that the catalog does not hold, with what it does.
type UnknownError struct {
	What, Name string
	Known      []string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown %s %q; known: %s", e.What, e.Name, strings.Join(e.Known, ", "))
}

// Agent finds an agent by id or alias.
func (c *Catalog) Agent(name string) (contract.Agent, error) {
	if a, ok := c.Agents[contract.AgentID(name)]; ok {
		return a, nil
	}
	for _, a := range c.Agents {
		if slices.Contains(a.Aliases, name) {
			return a, nil
		}
	}
	return contract.Agent{}, &UnknownError{"agent", name, names(c.Agents)}
}

// Client finds a client profile that speaks a family.
func (c *Catalog) Client(id contract.ClientID, family contract.Family) (contract.Client, error) {
	client, ok := c.Clients[id]
	if !ok {
		return client, &UnknownError{"client profile", string(id), names(c.Clients)}
	}
	if !client.Speaks(family) {
		return client, fmt.Errorf("client profile %s does not speak %s: describe it in registry/clients/%s.json", id, family, id)
	}
	return client, nil
}

// Probe finds a probe by id; the underscore spelling is accepted.
func (c *Catalog) Probe(name string) (contract.Probe, error) {
	if p, ok := c.Probes[contract.CanonicalProbe(name)]; ok {
		return p, nil
	}
	return contract.Probe{}, &UnknownError{"probe", name, names(c.Probes)}
}

func names[K ~string, V any](m map[K]V) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, string(k))
	}
	return out
}

// Checkout is a working copy: registry/ and probes/ below one folder.
type Checkout struct {
	Dir     string
	Tree    *Tree
	Catalog *Catalog
}

// OpenCheckout opens the checkout at dir.
func OpenCheckout(dir string) (*Checkout, error) {
	root := filepath.Join(dir, "registry")
	if err := Recover(root); err != nil {
		return nil, err
	}
	t, err := OpenTree(root)
	if err != nil {
		return nil, fmt.Errorf("%w; run in a checkout, or name one with --checkout", err)
	}
	c, err := LoadCatalog(t, filepath.Join(dir, "probes"))
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return &Checkout{Dir: dir, Tree: t, Catalog: c}, nil
}
