package upstream

import (
	"errors"
	"fmt"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// ErrNoNPM says that there is no npm client to ask.
var ErrNoNPM = errors.New("npm not found on PATH: install Node.js 20 or newer, or pass --bin PATH with an executable")

// ErrNoNode says that there is an npm client, and no Node.js to run it.
var ErrNoNode = errors.New("npm does not start, as node is not found on PATH: install Node.js 20 or newer, or pass --bin PATH with an executable")

// NPMError is a failure of the npm client that no other error of this package describes.
type NPMError struct {
	Op   string // npm's command and its subject: "view pkg@1.0.0"
	Code string // npm's own error code, such as E403; "unknown" when it gave none
}

func (e *NPMError) Error() string {
	remedy := "run the same npm command in a terminal to see its message"
	switch e.Code {
	case "E401", "E403", "ENEEDAUTH":
		remedy = "npm may not read this package: check npm's registry and login (npm config list)"
	case "ETARGET":
		remedy = "npm refuses a version that is listed: its settings before or min-release-age may rule it out, or a package that it depends on is missing"
	case "ENOSPC":
		remedy = "free some disk space"
	case codeNoOutput:
		remedy = "npm knows the package, but it has no release tagged latest"
	}
	return fmt.Sprintf("npm %s failed with code %s: %s", e.Op, e.Code, remedy)
}

// NetworkError says that npm could not reach its registry.
type NetworkError struct {
	Op   string // as in NPMError
	Code string // npm's own error code, such as ENOTFOUND
}

func (e *NetworkError) Error() string {
	return fmt.Sprintf("npm %s: no network (%s): check the connection and npm's registry and proxy settings (npm config list)", e.Op, e.Code)
}

// UnknownPackageError says that npm's registry has no such package, or hides it.
type UnknownPackageError struct{ Package string }

func (e *UnknownPackageError) Error() string {
	return fmt.Sprintf("npm has no package %s: correct upstreams.npm.package in the agent's file, or check npm's registry (npm config list)", e.Package)
}

// UnknownVersionError says that a package has no such version.
type UnknownVersionError struct {
	Package string
	Version string
	Nearest []string // up to five known versions around it, newest first
}

func (e *UnknownVersionError) Error() string {
	remedy := "no release of it is known"
	if len(e.Nearest) > 0 {
		remedy = "nearest are " + strings.Join(e.Nearest, ", ")
	}
	return fmt.Sprintf("%s has no version %s: %s", e.Package, e.Version, remedy)
}

// WrongVersionError says that npm installed something else than was asked for.
type WrongVersionError struct {
	Asked string // name@version
	Got   string // name@version
}

func (e *WrongVersionError) Error() string {
	return fmt.Sprintf("asked npm for %s and got %s: check npm's overrides and mirror (npm config list)", e.Asked, e.Got)
}

// IntegrityError says that what npm installed is not what its registry describes.
type IntegrityError struct {
	Package string // name@version
	Want    string // subresource integrity in the registry's metadata; empty when it gives none
	Got     string // of what was installed; empty when npm itself refused the download
}

func (e *IntegrityError) Error() string {
	if e.Want == "" && e.Got == "" {
		return fmt.Sprintf("integrity of %s cannot be confirmed: run npm cache clean --force and try again; if it stays, do not trust the mirror", e.Package)
	}
	return fmt.Sprintf("integrity of %s is %q, but npm's registry says %q: run npm cache clean --force and try again; if it stays, do not trust the mirror",
		e.Package, e.Got, e.Want)
}

// IncompleteReleaseError says that a release names a platform package that was never published. It is a state of
// the release, not of this machine; the vendor may still publish the missing part.
type IncompleteReleaseError struct {
	Package  string // name@version of the release
	Platform contract.Platform
	Missing  string // name@version of the platform package
}

func (e *IncompleteReleaseError) Error() string {
	return fmt.Sprintf("%s is incomplete: npm has no %s, which holds the executable for %s; take another version or try again later",
		e.Package, e.Missing, e.Platform)
}

// SkippedPackageError says that npm left out a platform package that its registry has. To npm such a package is
// optional, so a failed download or a platform mismatch passes for success.
type SkippedPackageError struct {
	Package  string // name@version of the platform package
	Platform contract.Platform
}

func (e *SkippedPackageError) Error() string {
	return fmt.Sprintf("npm left out %s, which holds the executable for %s: try again, and check that npm is version 10 or newer and that its settings before and min-release-age allow the package",
		e.Package, e.Platform)
}

// LayoutError says that the agent's file does not tell where the executable of a release lies.
type LayoutError struct {
	Agent    contract.AgentID
	Version  string
	Platform contract.Platform
	Problem  string
}

func (e *LayoutError) Error() string {
	return fmt.Sprintf("%s %s on %s: %s: correct install in registry/agents/%s.json", e.Agent, e.Version, e.Platform, e.Problem, e.Agent)
}

// BinaryError says that the executable is not one, or is no longer the one that was installed.
type BinaryError struct {
	Path    string
	Problem string
	Remedy  string
}

func (e *BinaryError) Error() string { return fmt.Sprintf("%s: %s: %s", e.Path, e.Problem, e.Remedy) }
