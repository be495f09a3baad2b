package publish

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

var (
	nameForm    = regexp.MustCompile(`^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$`)
	versionForm = regexp.MustCompile(contract.ToolVersion("").Pattern())
)

// dropped are the members of the library's package.json that are for its own repository.
var dropped = map[string]bool{"private": true, "scripts": true, "devDependencies": true}

// packageJSON makes the published package.json from the library's: name and version are set, members that only its
// repository needs are left out, the order stays.
func packageJSON(template []byte, name, version string) ([]byte, error) {
	bad := errors.New("package.json of the library is no JSON object")
	dec := jsontext.NewDecoder(bytes.NewReader(template))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, bad
	}
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out, jsontext.WithIndent("  "))
	write := func(errs ...error) error { return errors.Join(errs...) }
	err := write(enc.WriteToken(jsontext.BeginObject), enc.WriteToken(jsontext.String("name")), enc.WriteToken(jsontext.String(name)),
		enc.WriteToken(jsontext.String("version")), enc.WriteToken(jsontext.String(version)))
	for err == nil && dec.PeekKind() == '"' {
		var key jsontext.Token
		if key, err = dec.ReadToken(); err != nil {
			return nil, bad
		}
		member := key.String()
		value, verr := dec.ReadValue()
		if verr != nil {
			return nil, bad
		}
		switch {
		case member == "name" || member == "version" || dropped[member]:
		case member == "dependencies" || member == "optionalDependencies":
			return nil, fmt.Errorf("package.json of the library has %s: the consumer library has none", member)
		default:
			err = write(enc.WriteToken(jsontext.String(member)), enc.WriteValue(value))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("writing package.json: %w", err)
	}
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '}' {
		return nil, bad
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, bad
	}
	if err := enc.WriteToken(jsontext.EndObject); err != nil {
		return nil, fmt.Errorf("writing package.json: %w", err)
	}
	return out.Bytes(), nil
}
