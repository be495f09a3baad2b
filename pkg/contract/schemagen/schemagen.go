// Package schemagen turns the types of pkg/contract into JSON Schemas (2020-12). Only the generator and the tests
// import it: what the registry ships and what validation runs on are the files that it wrote.
package schemagen

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/invopop/jsonschema"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// BaseID is the identifier that all schemas share; it is a name, not an address to fetch.
const BaseID = "https://open-design.github.io/agent-cli-contracts/schemas/"

const pkgPath = "github.com/open-design/agent-cli-contracts/pkg/contract"

// Schema is one schema: the record type at its root, under the name of its file.
type Schema struct {
	Name string
	Root any
}

// Schemas lists the schemas that are written.
var Schemas = []Schema{
	{"observation", contract.Observation{}},
	{"evidence", contract.Evidence{}},
	{"source-evidence", contract.SourceEvidence{}},
	{"transcript", contract.TranscriptLine{}},
	{"shape", contract.Shape{}},
	{"support-matrix", contract.SupportMatrix{}},
	{"error-case", contract.ErrorCase{}},
	{"agent", contract.Agent{}},
	{"agents-index", contract.AgentIndex{}},
	{"releases", contract.ReleaseList{}},
	{"diagnostics", contract.Diagnostics{}},
	{"client", contract.Client{}},
	{"probe", contract.Probe{}},
}

// FileName is the name of the schema's file.
func (s Schema) FileName() string { return s.Name + ".schema.json" }

// Generate renders all schemas, by file name. Descriptions are the doc comments of the Go sources in contractDir,
// a path relative to the working folder.
func Generate(contractDir string) (map[string][]byte, error) {
	comments, err := readComments(contractDir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, s := range Schemas {
		data, err := s.render(comments)
		if err != nil {
			return nil, fmt.Errorf("generating the schema %s: %w", s.Name, err)
		}
		files[s.FileName()] = data
	}
	return files, nil
}

func (s Schema) render(comments map[string]string) ([]byte, error) {
	g := generator{scalars: map[string]reflect.Type{}, structs: map[string]reflect.Type{}, comments: comments}
	g.visit(reflect.TypeOf(s.Root))
	r := jsonschema.Reflector{ExpandedStruct: true, Anonymous: true, CommentMap: comments, Mapper: g.mapScalar}
	root := r.Reflect(s.Root)
	name := reflect.TypeOf(s.Root).Name()
	if open := root.Definitions["Extensions"]; open != nil {
		open.AdditionalProperties = jsonschema.TrueSchema
		open.PropertyNames = &jsonschema.Schema{Pattern: contract.Extensions{}.KeyPattern()}
	}
	for def, t := range g.structs {
		target := root.Definitions[def]
		if def == name {
			target = root
		}
		if err := g.finish(t, target); err != nil {
			return nil, err
		}
	}
	for def, t := range g.scalars { // last: map keys of the structs are among them
		root.Definitions[def] = g.scalar(t)
	}
	if _, ok := s.Root.(contract.TranscriptLine); ok {
		splitTranscript(root)
	}
	root.ID = jsonschema.ID(BaseID + s.FileName())
	root.Title = name
	data, err := json.Marshal(root)
	if err != nil {
		return nil, err
	}
	value := jsontext.Value(data)
	// Formatting again takes away the HTML escapes of encoding/json.
	err = value.Format(jsontext.WithIndent("  "), jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false), jsontext.PreserveRawStrings(false))
	return append(value, '\n'), err
}

// readComments collects the doc comments of types and fields, by "<package path>.<Type>[.<Field>]".
func readComments(contractDir string) (map[string]string, error) {
	var r jsonschema.Reflector
	// The library names packages by base and folder as they were given, so its keys are taken apart again.
	if err := r.AddGoComments("base", contractDir, jsonschema.WithFullComment()); err != nil {
		return nil, fmt.Errorf("reading the comments of %s: %w", contractDir, err)
	}
	prefix := path.Join("base", filepath.ToSlash(contractDir)) + "."
	comments := map[string]string{}
	for key, text := range r.CommentMap {
		if name, ok := strings.CutPrefix(key, prefix); ok && !strings.Contains(name, "/") {
			comments[pkgPath+"."+name] = strings.Join(strings.Fields(text), " ")
		}
	}
	return comments, nil
}

// generator holds what one schema refers to: scalar types with an enum or a pattern, and struct types.
type generator struct {
	scalars, structs map[string]reflect.Type
	comments         map[string]string
}

type enumerated interface{ Values() []string }

type patterned interface{ Pattern() string }

var oneMany = reflect.TypeFor[contract.OneMany]()

func (g generator) visit(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		g.visit(t.Elem())
	case reflect.Map:
		g.visit(t.Key())
		g.visit(t.Elem())
	case reflect.Struct:
		if _, ok := g.structs[t.Name()]; ok {
			return
		}
		g.structs[t.Name()] = t
		for i := range t.NumField() {
			g.visit(t.Field(i).Type)
		}
	}
}

// mapScalar makes scalar types definitions of their own, so that TypeScript gets their names.
func (g generator) mapScalar(t reflect.Type) *jsonschema.Schema {
	v := reflect.Zero(t)
	_, isEnum := v.Interface().(enumerated)
	_, isPattern := v.Interface().(patterned)
	if !isEnum && !isPattern && t != oneMany {
		return nil
	}
	g.scalars[t.Name()] = t
	return &jsonschema.Schema{Ref: "#/$defs/" + t.Name()}
}

func (g generator) scalar(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Description: g.comments[pkgPath+"."+t.Name()]}
	one := uint64(1)
	switch v := reflect.Zero(t).Interface().(type) {
	case enumerated:
		for _, value := range v.Values() {
			s.Enum = append(s.Enum, value)
		}
	case patterned:
		s.Pattern = v.Pattern()
		if t == reflect.TypeFor[contract.Timestamp]() {
			s.Format = "date-time"
		}
	case contract.OneMany:
		s.Type = ""
		text := &jsonschema.Schema{Type: "string", MinLength: &one}
		s.AnyOf = []*jsonschema.Schema{text, {Type: "array", Items: text, MinItems: &one, UniqueItems: true}}
	}
	return s
}

// finish adds what the library does not know: null for optional pointers, defaults of optional lists and of
// fields that refer to a definition, names of map keys, and free-form objects.
func (g generator) finish(t reflect.Type, s *jsonschema.Schema) error {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		property, ok := s.Properties.Get(name)
		if !ok {
			return fmt.Errorf("%s.%s has no property in the schema", t.Name(), field.Name)
		}
		tag := tagValues(field.Tag.Get("jsonschema"))
		optional := options == "omitempty"
		if property.Description == "" {
			property.Description = g.comments[pkgPath+"."+t.Name()+"."+field.Name]
		}
		if property.Ref != "" {
			property.Pattern = tag["pattern"]
			if value, ok := tag["default"]; ok {
				property.Default = value
			}
		}
		switch field.Type.Kind() {
		case reflect.Pointer:
			s.Properties.Set(name, nullable(property, optional))
		case reflect.Slice:
			if optional && property.Default == nil {
				property.Default = []any{}
			}
		case reflect.Map:
			g.finishMap(field.Type, property)
		}
	}
	return nil
}

// nullable accepts null besides the property's own values.
func nullable(property *jsonschema.Schema, optional bool) *jsonschema.Schema {
	if len(property.OneOf) > 0 { // the tag "nullable": required, but null is a value
		property = property.OneOf[0]
	}
	outer := &jsonschema.Schema{Description: property.Description}
	property.Description = ""
	outer.AnyOf = []*jsonschema.Schema{property, {Type: "null"}}
	if optional {
		outer.Default = json.RawMessage("null")
	}
	return outer
}

func (g generator) finishMap(t reflect.Type, property *jsonschema.Schema) {
	if t == reflect.TypeFor[contract.Extensions]() {
		return // refers to its definition
	}
	if t.Elem().Kind() == reflect.Interface {
		property.AdditionalProperties = jsonschema.TrueSchema
	}
	if key := g.mapScalar(t.Key()); key != nil {
		property.PropertyNames = key
	}
}

// tagValues reads the jsonschema tag: comma-separated name=value, a comma in a value escaped by a backslash.
func tagValues(tag string) map[string]string {
	values := map[string]string{}
	for _, part := range strings.Split(strings.ReplaceAll(tag, `\,`, "\x00"), ",") {
		name, value, _ := strings.Cut(strings.ReplaceAll(part, "\x00", ","), "=")
		values[name] = value
	}
	return values
}
