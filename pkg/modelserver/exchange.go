package modelserver

import (
	"fmt"
	"io"
	"slices"
)

// Exchange is a request as the CLI sent it, for tool lists and debugging. It may hold the user's text and paths of
// the machine, so it prints and marshals as a placeholder; only its methods give the content.
type Exchange struct {
	// Behind a pointer, package fmt prints an address even where it cannot call Format.
	sent *exchange
}

type exchange struct {
	method, path string
	body         []byte
}

const withheld = "<request withheld>"

// Method is the HTTP method.
func (x Exchange) Method() string { return x.sent.method }

// Path is the path of the request: below the base URL for requests that have it, else whole.
func (x Exchange) Path() string { return x.sent.path }

// Body returns a copy of the decoded body. It is empty for requests that were refused before their body was read.
func (x Exchange) Body() []byte { return slices.Clone(x.sent.body) }

// Format prints a placeholder for every verb.
func (Exchange) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, withheld) }

// String returns a placeholder.
func (Exchange) String() string { return withheld }

// MarshalText returns a placeholder; JSON uses it as well.
func (Exchange) MarshalText() ([]byte, error) { return []byte(withheld), nil }
