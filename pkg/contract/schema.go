package contract

import (
	"embed"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed schemas/*.schema.json
var schemaFiles embed.FS

// SchemaFile is the JSON Schema (2020-12) that a kind is validated by, as the registry publishes it.
func SchemaFile(kind Kind) ([]byte, error) {
	name, _ := kind.schema()
	data, err := schemaFiles.ReadFile("schemas/" + name + ".schema.json")
	if err != nil {
		return nil, fmt.Errorf("no schema for the kind %q; %s", kind, oneOf(Kind("").Values()))
	}
	return data, nil
}

// compiledSchema is a schema with its parts by location, from which remedies take the legal values.
type compiledSchema struct {
	root  *jsonschema.Schema
	parts map[string]*jsonschema.Schema
}

// schemaCache compiles each kind once. Schemas never change while a program runs.
var schemaCache struct {
	sync.Mutex
	compiled map[Kind]*compiledSchema
}

func schemaOf(kind Kind) (*compiledSchema, error) {
	schemaCache.Lock()
	defer schemaCache.Unlock()
	if s := schemaCache.compiled[kind]; s != nil {
		return s, nil
	}
	data, err := SchemaFile(kind)
	if err != nil {
		return nil, err
	}
	doc, err := parseStrict(data)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", kind, err)
	}
	file, definition := kind.schema()
	location := file + ".schema.json"
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(location, doc); err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", kind, err)
	}
	if definition != "" {
		location += "#/$defs/" + definition
	}
	root, err := c.Compile(location)
	if err != nil {
		return nil, fmt.Errorf("compiling the schema of %s: %w", kind, err)
	}
	s := &compiledSchema{root, map[string]*jsonschema.Schema{}}
	s.index(root)
	if schemaCache.compiled == nil {
		schemaCache.compiled = map[Kind]*compiledSchema{}
	}
	schemaCache.compiled[kind] = s
	return s, nil
}

// index files the parts of a schema under their locations.
func (s *compiledSchema) index(part *jsonschema.Schema) {
	if part == nil || s.parts[part.Location] != nil {
		return
	}
	s.parts[part.Location] = part
	s.index(part.Ref)
	s.index(part.Items2020)
	s.index(part.PropertyNames)
	for _, property := range part.Properties {
		s.index(property)
	}
	for _, branch := range append(part.AnyOf, part.OneOf...) {
		s.index(branch)
	}
	if values, ok := part.AdditionalProperties.(*jsonschema.Schema); ok {
		s.index(values)
	}
}

// knownNames are the names that stand in the schemas themselves: field names and enum values. They are no data.
var knownNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, kind := range Kind("").Values() {
		data, err := SchemaFile(Kind(kind))
		if err != nil {
			continue
		}
		if doc, err := parseStrict(data); err == nil {
			collectNames(doc, names)
		}
	}
	return names
})

func collectNames(node any, names map[string]bool) {
	switch node := node.(type) {
	case map[string]any:
		if properties, ok := node["properties"].(map[string]any); ok {
			for name := range properties {
				names[name] = true
			}
		}
		if values, ok := node["enum"].([]any); ok {
			for _, value := range values {
				if name, ok := value.(string); ok {
					names[name] = true
				}
			}
		}
		for _, child := range node {
			collectNames(child, names)
		}
	case []any:
		for _, child := range node {
			collectNames(child, names)
		}
	}
}

// fields lists the legal field names of the object at a location, in no order.
func (s *compiledSchema) fields(location string) []string {
	part := s.parts[location]
	for part != nil && len(part.Properties) == 0 && part.Ref != nil {
		part = part.Ref
	}
	if part == nil {
		return nil
	}
	var names []string
	for name := range part.Properties {
		names = append(names, name)
	}
	return names
}

// describe gives the description and the pattern at a location.
func (s *compiledSchema) describe(location string) (description, pattern string) {
	part := s.parts[location]
	if part == nil {
		return "", ""
	}
	if part.Pattern != nil {
		pattern = part.Pattern.String()
	}
	return strings.TrimSpace(part.Description), pattern
}
