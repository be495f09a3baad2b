package schemagen

import "github.com/invopop/jsonschema"

// kinds are the three kinds of transcript line, each a closed object of its own.
var kinds = []struct {
	name, description string
	fields, required  []string
	dirs              []any
}{
	{"StreamChunk", "Bytes of a standard stream: exactly one of data and data_ref.", []string{"dir", "stream", "at_ms", "data", "data_ref"}, []string{"dir", "stream", "at_ms"}, []any{"server->cli", "cli->server"}},
	{"RPCFrame", "One message of a protocol in which both sides speak.", []string{"dir", "stream", "at_ms", "frame"}, []string{"dir", "stream", "at_ms", "frame"}, []any{"server->cli", "cli->server"}},
	{"ProcessLine", "An event of the child process. An exit has either exit_code or signal.", []string{"dir", "event", "at_ms", "exit_code", "signal"}, []string{"dir", "event", "at_ms"}, []any{"process"}},
}

// splitTranscript makes the line a choice of three closed objects with the properties of the one Go type.
func splitTranscript(root *jsonschema.Schema) {
	for _, kind := range kinds {
		s := &jsonschema.Schema{Type: "object", Description: kind.description, Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.FalseSchema, Required: kind.required}
		for _, name := range kind.fields {
			property, _ := root.Properties.Get(name)
			if name == "data" || name == "data_ref" {
				property = property.AnyOf[0] // present or absent, never null
			}
			if name == "dir" {
				property = &jsonschema.Schema{Type: "string", Enum: kind.dirs}
			}
			s.Properties.Set(name, property)
		}
		s.If, s.Then, s.Else = conditions(kind.name)
		if kind.name == "StreamChunk" {
			four := uint64(4) // dir, stream, at_ms and one of the two payloads
			s.MinProperties, s.MaxProperties = &four, &four
		}
		root.Definitions[kind.name] = s
		root.OneOf = append(root.OneOf, &jsonschema.Schema{Ref: "#/$defs/" + kind.name})
	}
	root.Type, root.Properties, root.Required, root.AdditionalProperties = "", nil, nil, nil
	delete(root.Definitions, "TranscriptLine")
	delete(root.Definitions, "FrameDirection")
}

// conditions pair directions with streams, and process events with what they may carry.
func conditions(kind string) (when, then, otherwise *jsonschema.Schema) {
	if kind != "ProcessLine" {
		return with("dir", constant("server->cli")), with("stream", constant("stdin")), with("stream", &jsonschema.Schema{Enum: []any{"stdout", "stderr"}})
	}
	null, some := &jsonschema.Schema{Type: "null"}, &jsonschema.Schema{Not: &jsonschema.Schema{Type: "null"}}
	has := func(name, other string) *jsonschema.Schema {
		s := with(name, some)
		s.Properties.Set(other, null)
		s.Required = []string{name}
		return s
	}
	exit := &jsonschema.Schema{OneOf: []*jsonschema.Schema{has("exit_code", "signal"), has("signal", "exit_code")}}
	neither := with("exit_code", null)
	neither.Properties.Set("signal", null)
	notBoth := &jsonschema.Schema{AnyOf: []*jsonschema.Schema{with("exit_code", null), with("signal", null)}}
	return with("event", constant("exit")), exit, &jsonschema.Schema{If: with("event", constant("spawn")), Then: neither, Else: notBoth}
}

func with(name string, s *jsonschema.Schema) *jsonschema.Schema {
	properties := jsonschema.NewProperties()
	properties.Set(name, s)
	return &jsonschema.Schema{Properties: properties}
}

func constant(value string) *jsonschema.Schema { return &jsonschema.Schema{Const: value} }
