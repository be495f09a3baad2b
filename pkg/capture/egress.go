package capture

import (
	"regexp"
	"slices"
)

// publicHost is a host name that tells nothing but a vendor: short words, and no run of digits or hexadecimal that could
// carry data.
var publicHost = regexp.MustCompile(`^(?:[a-z](?:-?[a-z0-9]){0,23}\.){1,4}[a-z]{2,12}$`)

// dataLabel is what is more likely data than a word.
var dataLabel = regexp.MustCompile(`[0-9]{4}|[0-9a-f]{9}|(?:[0-9][a-z]+){3}`)

// hostPlaceholder stands for a name that may not be published.
const hostPlaceholder = "<host>"

// packageRegistry is the address of a package registry. Which one a CLI asks is the configuration of the machine, so a
// record says packageRegistryPlaceholder on all of them.
var packageRegistry = regexp.MustCompile(`^registry\.(?:npmjs|yarnpkg)\.[a-z]{2,3}$`)

const packageRegistryPlaceholder = "<npm-registry>"

// publicNames are the looked-up names as a record may hold them: sorted, each once.
func (c *Capturer) publicNames(names []string, f *folder) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	scanner, err := c.scanner(f)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range names {
		switch {
		case packageRegistry.MatchString(name):
			name = packageRegistryPlaceholder
		case !publicHost.MatchString(name) || dataLabel.MatchString(name) || len(scanner.Scan([]byte(name))) > 0:
			name = hostPlaceholder
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// privateFolders are folders of the user who captures that a CLI must not see, beside those that every box hides.
func (c *Capturer) privateFolders() []string {
	dirs := []string{c.Temp}
	for _, name := range []string{"HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"} {
		if dir := c.Getenv(name); dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
