package contract

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Canonical rewrites one JSON value as RFC 8785 says: no whitespace, members sorted by UTF-16, numbers as doubles,
// minimal escapes. It refuses what has no canonical form: duplicate keys, invalid UTF-8, lone surrogates, numbers
// beyond a double's range and text after the value. The input is not changed.
func Canonical(data []byte) ([]byte, error) {
	if err := checkNumbers(data); err != nil {
		return nil, err
	}
	value := jsontext.Value(bytes.Clone(data))
	if err := value.Canonicalize(); err != nil {
		return nil, fmt.Errorf("canonicalizing JSON: %w", withoutBytes(err))
	}
	return value, nil
}

// checkNumbers refuses numbers that a double cannot hold; jsontext would write the largest double for them.
func checkNumbers(data []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return nil // the end, or an error that Canonicalize reports
		}
		if token.Kind() == '0' && overflows(token) {
			return fmt.Errorf("canonicalizing JSON: the number at byte %d is beyond the range of a double; write it as a string", d.InputOffset())
		}
	}
}

// Marshal renders a record as it is written to disk: two spaces of indentation, fields in the order of the type,
// map keys sorted, nothing escaped for HTML, empty lists as [], and a newline at the end.
// It fails on strings that are not UTF-8.
func Marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v, jsonv1.DefaultOptionsV1(), recordFormat)
	if err != nil {
		return nil, fmt.Errorf("writing %T as JSON: %w", v, withoutBytes(err))
	}
	return append(data, '\n'), nil
}

var recordFormat = json.JoinOptions(
	json.FormatNilSliceAsNull(false),
	json.FormatNilMapAsNull(false),
	jsontext.AllowInvalidUTF8(false),
	jsontext.EscapeForHTML(false),
	jsontext.EscapeForJS(false),
	jsontext.WithIndent("  "),
)

// SignatureOf computes the signature of a shape from its JSON: the SHA-256 of the canonical JSON of the record
// without signature and without validity_level, with the default of stderr_class written out. Evidence about a
// shape may grow, so its level is no part of its identity.
func SignatureOf(data []byte) (Hash, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(data, &members); err != nil {
		return "", fmt.Errorf("computing the signature of a shape: %w", withoutBytes(err))
	}
	delete(members, "signature")
	delete(members, "validity_level")
	if _, ok := members["stderr_class"]; !ok {
		members["stderr_class"] = jsontext.Value(`"` + string(StderrNone) + `"`)
	}
	unsigned, err := json.Marshal(members)
	if err != nil {
		return "", fmt.Errorf("computing the signature of a shape: %w", withoutBytes(err))
	}
	canonical, err := Canonical(unsigned)
	if err != nil {
		return "", fmt.Errorf("computing the signature of a shape: %w", err)
	}
	return HashBytes(canonical), nil
}

// ComputeSignature is SignatureOf for a shape in memory. The shape is not changed.
func (s Shape) ComputeSignature() (Hash, error) {
	data, err := Marshal(s)
	if err != nil {
		return "", err
	}
	return SignatureOf(data)
}
