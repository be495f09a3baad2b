package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
)

// versionToken is a version as npm reports its own.
var versionToken = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]{0,40}$`)

// ClientVersions asks npm for its own version and that of the Node that runs it. dir must be an empty folder. The error wraps
// ErrNoNPM where there is none.
func (n *NPM) ClientVersions(ctx context.Context, dir string) (npm, node string, err error) {
	out, err := n.run(ctx, dir, "version", []string{"version", "--json"})
	if err != nil {
		return "", "", err
	}
	var v struct{ NPM, Node string }
	if err := json.Unmarshal(out, &v); err != nil || !versionToken.MatchString(v.NPM) || !versionToken.MatchString(v.Node) {
		return "", "", fmt.Errorf("running npm version: %w", &NPMError{Op: "version", Code: codeUnknown})
	}
	return v.NPM, v.Node, nil
}
