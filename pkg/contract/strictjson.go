package contract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits of one record. They are far above what any honest record needs.
const (
	// MaxRecordBytes is the size of the largest record that is read, and of the longest transcript line.
	MaxRecordBytes = 16 << 20
	// MaxRecordDepth is how deep objects and lists may nest.
	MaxRecordDepth = 64
)

var (
	errTooDeep    = errors.New("objects and lists nest too deep")
	errOverflow   = errors.New("a number is beyond the range of a double")
	errMoreValues = errors.New("there is text after the JSON value")
)

// parseStrict reads one JSON value into maps, lists, strings, float64, bool and nil. Duplicate keys, invalid
// UTF-8, trailing text, overflowing numbers and deep nesting are errors, which never quote the input.
func parseStrict(data []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewReader(data))
	value, err := parseValue(d, 0)
	if err != nil {
		return nil, withoutBytes(err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errMoreValues
	}
	return value, nil
}

func parseValue(d *jsontext.Decoder, depth int) (any, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	if depth > MaxRecordDepth {
		return nil, errTooDeep
	}
	switch token.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return token.Bool(), nil
	case '"':
		return token.String(), nil
	case '0':
		if overflows(token) {
			return nil, errOverflow
		}
		number, err := token.Float()
		return number, err
	case '[':
		list := []any{}
		for d.PeekKind() != ']' {
			item, err := parseValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err = d.ReadToken()
		return list, err
	}
	object := map[string]any{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String() // the token dies with the next read
		if object[key], err = parseValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	_, err = d.ReadToken()
	return object, err
}

// overflows reports whether a number token lies beyond the range of a double.
func overflows(number jsontext.Token) bool {
	f, err := number.Float()
	return err != nil || math.IsInf(f, 0)
}

// withoutBytes restates an error of the JSON libraries without the input's bytes, which they like to quote.
func withoutBytes(err error) error {
	var syntactic *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return errors.New("an object has the same key twice")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the JSON ends too early")
	case errors.As(err, &syntactic):
		return fmt.Errorf("no valid JSON in UTF-8 at byte %d", syntactic.ByteOffset)
	case errors.As(err, &semantic):
		return fmt.Errorf("a JSON %s where %v is wanted", kindName(semantic.JSONKind), semantic.GoType)
	}
	return err
}

func kindName(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "object"
	case '[':
		return "list"
	case '"':
		return "string"
	case '0':
		return "number"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "value"
}
