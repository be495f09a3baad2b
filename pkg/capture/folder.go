package capture

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/capture/mcpserver"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
	"github.com/open-design/agent-cli-contracts/pkg/scratch"
)

// folder is where one run lives: the child's own home, tmp and cwd, and beside them a private part that it cannot
// enter. Everything goes when the run is over.
type folder struct {
	own                           *scratch.Folder
	root, home, tmp, cwd, private string
	// canaries are planted wherever the child could pick up what must not be published; secret is the dummy credential.
	canaries       [canaryCount]string
	secret, prefix string
	// live are the credentials of a live run, by the names of their variables.
	live map[string]string
	// session is the id of an earlier run's session.
	session string
}

// Where canaries are planted. The scanner's rule canary/N names one by its number here.
const (
	canaryEnvironment = iota
	canaryHome
	canaryGit
	canaryWorkspace
	canaryModelServer // request ids in headers, and all ids of answers
	canaryHostName    // in a box
	canaryCount
)

// canaryNames are the names of the places in an agent's record.
var canaryNames = [canaryCount]string{"environment", "home", "git", "workspace", "model-server", "host-name"}

func (c *Capturer) newFolder() (*folder, error) {
	own, err := scratch.Dir(c.Temp)
	if err != nil {
		return nil, fmt.Errorf("making a run folder: %w", err)
	}
	root, err := filepath.EvalSymlinks(own.Path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a run folder: %w", err), own.Remove())
	}
	f := &folder{root: root, own: own}
	err = os.Chmod(root, 0o711) // the child's user passes through
	for _, part := range []struct {
		path *string
		name string
		mode os.FileMode
	}{{&f.home, "home", 0o755}, {&f.tmp, "tmp", 0o755}, {&f.cwd, "work", 0o755}, {&f.private, "private", 0o700}} {
		*part.path = filepath.Join(root, part.name)
		err = errors.Join(err, os.Mkdir(*part.path, part.mode))
	}
	type token struct {
		into   *string
		prefix string
	}
	tokens := []token{{&f.secret, "contracts-dummy-"}, {&f.prefix, ""}}
	for i := range f.canaries {
		tokens = append(tokens, token{&f.canaries[i], "cnry"})
	}
	c.drawing.Lock()
	defer c.drawing.Unlock()
	for _, token := range tokens {
		random := make([]byte, 16)
		if _, rerr := io.ReadFull(c.Random, random); rerr != nil {
			err = errors.Join(err, rerr)
		}
		*token.into = token.prefix + hex.EncodeToString(random)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a run folder: %w", err), f.remove())
	}
	return f, nil
}

func (f *folder) remove() error { return f.own.Remove() }

// plant writes the probe's files into cwd and canaries wherever a CLI may look by itself: none of them may ever
// reach a public file.
func (f *folder) plant(p contract.Probe) error {
	var err error
	write := func(path, content string) {
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644))
	}
	for name, content := range p.Files {
		write(filepath.Join(f.cwd, filepath.FromSlash(name)), content)
	}
	write(filepath.Join(f.cwd, ".private", "note.txt"), f.canaries[canaryWorkspace]+"\n")
	write(filepath.Join(f.home, ".private-note"), f.canaries[canaryHome]+"\n")
	write(filepath.Join(f.home, ".gitconfig"), "[user]\n\tname = "+f.canaries[canaryGit]+"\n\temail = "+f.canaries[canaryGit]+"@invalid.example\n")
	write(filepath.Join(f.home, "prompt.md"), p.Sent())
	return err
}

// reserve makes the agent's home files empty, before the box takes the folders over: their content names the model
// server, which exists only in the box.
func (f *folder) reserve(files []contract.HomeFile) error {
	for _, file := range files {
		path := filepath.Join(f.home, filepath.FromSlash(file.Path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			return fmt.Errorf("writing home file %s: %w", file.Path, err)
		}
	}
	return nil
}

// mcpServer is the command of the MCP server in the run's home.
func (f *folder) mcpServer() string { return filepath.Join(f.home, ".contracts", mcpserver.Name) }

// serveMCP puts the MCP server into the home, as another name of this very program, and gives the program's path: the
// child must be able to read it.
func (f *folder) serveMCP() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("the MCP server is this program, whose path is unknown: %w", err)
	}
	err = os.MkdirAll(filepath.Dir(f.mcpServer()), 0o755)
	if err == nil {
		err = os.Symlink(self, f.mcpServer())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("writing the MCP server into the home: %w", err)
	}
	return self, nil
}

// noConfiguration is what no format of configuration files reads.
const noConfiguration = "]{ this is no configuration\n"

// fill writes the content of the home files, or spoils them.
func (f *folder) fill(files []contract.HomeFile, vars map[string]string, spoilt bool) error {
	for _, file := range files {
		var content strings.Builder
		for _, line := range file.Lines {
			content.WriteString(expand(line, vars) + "\n")
		}
		if spoilt {
			content.Reset()
			content.WriteString(noConfiguration)
		}
		path := filepath.Join(f.home, filepath.FromSlash(file.Path))
		if err := os.WriteFile(path, []byte(content.String()), 0o644); err != nil {
			return fmt.Errorf("writing home file %s: %w", file.Path, err)
		}
	}
	return nil
}

// vars are the values of the placeholders that an agent's record may use.
func (f *folder) vars(baseURL, model, prompt string, live *contract.Live) map[string]string {
	secret := f.secret
	if live != nil {
		secret, model = f.live[live.Secrets[0]], cmp.Or(live.Model, model)
	}
	return map[string]string{
		"cwd": f.cwd, "home": f.home, "tmp": f.tmp, "base_url": baseURL, "model": model, "prompt": prompt,
		"prompt_file": filepath.Join(f.home, "prompt.md"), "secret": secret, "mcp_server": f.mcpServer(), "session": f.session,
	}
}

// expand replaces the placeholders of a template. Values are inserted as they are and not expanded again.
func expand(template string, vars map[string]string) string {
	return contract.Placeholders(vars).Replace(template)
}

// homeFiles picks the agent's home files for a release; an error probe may take credential files away.
func homeFiles(t Target, mode registry.Mode) []contract.HomeFile {
	var out []contract.HomeFile
	for _, file := range registry.HomeFiles(t.Agent, mode, t.Version) {
		if p := t.Probe.EnvPolicy; p != nil && p.CredentialFiles == "remove" && strings.Contains(strings.Join(file.Lines, "\n"), "{secret}") {
			continue
		}
		out = append(out, file)
	}
	return out
}

// environment builds the child's environment from nothing.
func (f *folder) environment(t Target, mode registry.Mode, vars map[string]string, search, proxy string, parent func(string) string) []string {
	env := map[string]string{
		"PATH": search, "HOME": f.home, "TMPDIR": f.tmp, "TERM": "dumb", "NO_COLOR": "1", "DO_NOT_TRACK": "1", "LANG": "C.UTF-8",
		"XDG_CONFIG_HOME": filepath.Join(f.home, ".config"), "XDG_CACHE_HOME": filepath.Join(f.home, ".cache"),
		"XDG_DATA_HOME": filepath.Join(f.home, ".local", "share"), "XDG_STATE_HOME": filepath.Join(f.home, ".local", "state"),
		"PRIVATE_NOTE": f.canaries[canaryEnvironment],
	}
	for _, name := range t.Agent.Environment.Pass {
		if value := parent(name); value != "" {
			env[name] = value
		}
	}
	set := func(values map[string]string) {
		for name, value := range values {
			env[name] = expand(value, vars)
		}
	}
	secrets := t.Agent.Environment.Secrets
	if mode.Live == nil {
		set(t.Agent.Environment.Set)
		set(mode.Env)
		for _, name := range secrets {
			env[name] = f.secret
		}
	} else {
		secrets = mode.Live.Secrets
		set(registry.WithoutModelServer(t.Agent.Environment.Set))
		set(mode.Env)
		maps.Copy(env, proxyVariables(proxy))
		maps.Copy(env, f.live)
		set(mode.Live.Set)
		maps.DeleteFunc(env, func(name, value string) bool { _, ours := mode.Live.Set[name]; return ours && value == "" })
	}
	if p := t.Probe.EnvPolicy; p != nil {
		for _, name := range p.Unset {
			if name == "{secrets}" {
				for _, secret := range secrets {
					delete(env, secret)
				}
				continue
			}
			delete(env, name)
		}
		for name, value := range p.Set {
			env[name] = expand(value, vars)
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// scanner knows everything of this run that must not be published.
func (c *Capturer) scanner(f *folder) (*scan.Scanner, error) {
	known := append(slices.Clone(c.Known),
		scan.Known{Value: f.root, Kind: "run-folder"}, scan.Known{Value: f.secret, Kind: "secret-env"}, scan.Known{Value: f.prefix, Kind: "base-url"})
	for _, name := range slices.Sorted(maps.Keys(f.live)) {
		known = append(known, scan.Known{Value: f.live[name], Kind: "secret-env"})
	}
	return scan.New(scan.Config{Canaries: f.canaries[:], Known: known})
}
