package contract

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// check runs the schema over a parsed value and restates what it finds, one problem a violation.
func (s *compiledSchema) check(file string, value any) Problems {
	err := s.root.Validate(value)
	if err == nil {
		return nil
	}
	var failure *jsonschema.ValidationError
	if !errors.As(err, &failure) {
		return Problems{{File: file, Rule: "schema/type", Message: "the value is not of JSON", Remedy: "write a JSON object"}}
	}
	var problems Problems
	for _, leaf := range leaves(failure) {
		if k, ok := leaf.ErrorKind.(*kind.PropertyNames); ok {
			leaf.InstanceLocation = ownerOf(value, leaf.InstanceLocation, k.Property)
		}
		problems = append(problems, s.restate(file, leaf)...)
	}
	return problems
}

// leaves are the violations at the ends of the tree. Where a value may have one of several forms, the forms of
// another JSON kind are left out, so that a bad optional hash is not also "not null".
func leaves(failure *jsonschema.ValidationError) []*jsonschema.ValidationError {
	switch failure.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		var found []*jsonschema.ValidationError
		var wanted []string
		for _, branch := range failure.Causes {
			ends := leaves(branch)
			if len(ends) == 1 && len(ends[0].InstanceLocation) == len(failure.InstanceLocation) {
				if mismatch, ok := ends[0].ErrorKind.(*kind.Type); ok {
					wanted = append(wanted, mismatch.Want...)
					continue
				}
			}
			found = append(found, ends...)
		}
		if len(found) == 0 {
			return []*jsonschema.ValidationError{{SchemaURL: failure.SchemaURL, InstanceLocation: failure.InstanceLocation, ErrorKind: &kind.Type{Want: wanted}}}
		}
		return found
	case *kind.PropertyNames:
		return []*jsonschema.ValidationError{failure}
	}
	if len(failure.Causes) == 0 {
		return []*jsonschema.ValidationError{failure}
	}
	var found []*jsonschema.ValidationError
	for _, cause := range failure.Causes {
		found = append(found, leaves(cause)...)
	}
	return found
}

func (s *compiledSchema) restate(file string, v *jsonschema.ValidationError) Problems {
	at := func(names ...string) string {
		return pointerTo(append(slices.Clone(v.InstanceLocation), names...))
	}
	one := func(rule, message, remedy string) Problems {
		return Problems{{File: file, Pointer: at(), Rule: "schema/" + rule, Message: message, Remedy: remedy}}
	}
	switch k := v.ErrorKind.(type) {
	case *kind.Required:
		var problems Problems
		for _, name := range k.Missing {
			problems = append(problems, Problem{file, 0, at(name), "schema/required", "the field is required and missing", "add it: see the schema of this record"})
		}
		return problems
	case *kind.AdditionalProperties:
		legal := s.fields(v.SchemaURL)
		slices.Sort(legal)
		var problems Problems
		for _, name := range k.Properties {
			problems = append(problems, Problem{file, 0, at(name), "schema/unknown-field", "the field is unknown", "remove it; legal fields here: " + strings.Join(legal, ", ")})
		}
		return problems
	case *kind.PropertyNames:
		return Problems{{file, 0, at(k.Property), "schema/key", "the key is not a legal one", s.keyRemedy(v.SchemaURL)}}
	case *kind.Type:
		return one("type", "the value is of another JSON type", "write "+strings.Join(k.Want, " or "))
	case *kind.Enum:
		return one("enum", "the value is not one of the legal ones", oneOf(words(k.Want)))
	case *kind.Pattern:
		description, _ := s.describe(v.SchemaURL)
		return one("pattern", "the text does not have the form that the field needs", strings.TrimLeft(description+"; match "+k.Want, "; "))
	case *kind.Format:
		return one("format", "the text is no valid "+k.Want, "write a date and time that exist, like 2026-06-27T10:00:00Z")
	case *kind.Minimum:
		return one("minimum", "the number is too small", "write at least "+number(k.Want))
	case *kind.Maximum:
		return one("maximum", "the number is too large", "write at most "+number(k.Want))
	case *kind.MinLength:
		return one("min-length", "the text is too short", fmt.Sprintf("write at least %d characters", k.Want))
	case *kind.MaxLength:
		return one("max-length", "the text is too long", fmt.Sprintf("write at most %d characters", k.Want))
	case *kind.MinItems:
		return one("min-items", "the list is too short", fmt.Sprintf("give at least %d items", k.Want))
	case *kind.UniqueItems:
		return one("unique-items", fmt.Sprintf("the items %d and %d are equal", k.Duplicates[0], k.Duplicates[1]), "keep one of them")
	}
	return one("form", "the value does not have a form that the schema allows", "see the schema of this record")
}

// keyRemedy names the legal keys; the location is that of the schema of the keys.
func (s *compiledSchema) keyRemedy(location string) string {
	part := s.parts[location]
	for part != nil && part.Ref != nil {
		part = part.Ref
	}
	switch {
	case part != nil && part.Enum != nil:
		return oneOf(words(part.Enum.Values))
	case part != nil && part.Pattern != nil:
		return "match " + part.Pattern.String()
	}
	return "see the schema of this record"
}

// ownerOf finds the object that has a key. The library reports bad keys with a location that it goes on writing
// to, so it may name another object by the time that it is read.
func ownerOf(value any, location []string, key string) []string {
	at := value
	for _, step := range location {
		switch node := at.(type) {
		case map[string]any:
			at = node[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(node) {
				return search(value, key)
			}
			at = node[i]
		}
	}
	if object, ok := at.(map[string]any); ok {
		if _, has := object[key]; has {
			return location
		}
	}
	return search(value, key)
}

// search gives the path of the first object with a key, depth first in the order of keys.
func search(value any, key string) []string {
	switch node := value.(type) {
	case map[string]any:
		if _, ok := node[key]; ok {
			return []string{}
		}
		for _, name := range slices.Sorted(maps.Keys(node)) {
			if path := search(node[name], key); path != nil {
				return append([]string{name}, path...)
			}
		}
	case []any:
		for i, item := range node {
			if path := search(item, key); path != nil {
				return append([]string{strconv.Itoa(i)}, path...)
			}
		}
	}
	return nil
}

func words(values []any) []string {
	list := make([]string, len(values))
	for i, value := range values {
		list[i] = fmt.Sprint(value)
	}
	return list
}

func number(n *big.Rat) string { return strings.TrimSuffix(n.FloatString(1), ".0") }
