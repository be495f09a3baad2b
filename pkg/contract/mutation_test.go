package contract

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestMutations walks every valid record beside its schema. Without any one required field, with junk in place of
// any one value, with null where null is no value, or with one unknown field in any closed object, it must fail, at that place.
func TestMutations(t *testing.T) {
	for name, data := range testFiles(t, "valid") {
		kind := kindOfTestFile(t, name)
		if kind == KindTranscript {
			continue // TestTranscriptLines
		}
		schema, err := schemaOf(kind)
		if err != nil {
			t.Fatal(err)
		}
		value, err := parseStrict(data)
		if err != nil {
			t.Fatal(err)
		}
		m := mutator{t: t, name: name, kind: kind, data: data}
		m.walk(schema.root, value, "")
		if m.count < 5 {
			t.Errorf("%s: only %d mutations", name, m.count)
		}
	}
}

type mutator struct {
	t     *testing.T
	name  string
	kind  Kind
	data  []byte
	count int
}

func (m *mutator) mustFail(what, at string, value any) {
	m.t.Helper()
	m.count++
	problems := Validate(m.kind, m.name, edit(m.t, m.data, object{at: value}))
	if !slices.ContainsFunc(problems, func(p Problem) bool { return strings.HasPrefix(p.Pointer, shown(at)) || p.Pointer == "/schema_version" }) {
		m.t.Errorf("%s: %s at %s is not reported there: %v", m.name, what, at, problems)
	}
}

// shown is a pointer of the test as problems write it.
func shown(at string) string {
	steps := strings.Split(strings.TrimPrefix(at, "/"), "/")
	for i, step := range steps {
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
	}
	return pointerTo(steps)
}

func (m *mutator) walk(schema *jsonschema.Schema, value any, at string) {
	nullable := false
	for schema.Ref != nil && len(schema.Properties) == 0 || len(schema.AnyOf) > 0 {
		if schema.Ref != nil {
			schema = schema.Ref
			continue
		}
		nullable = nullable || slices.ContainsFunc(schema.AnyOf, func(b *jsonschema.Schema) bool { return b.Types != nil && b.Types.String() == "[null]" })
		if len(schema.AnyOf) == 2 && !nullable {
			return // one or many
		}
		schema = schema.AnyOf[0]
	}
	if at != "" {
		m.mustFail("a list of lists", at, list{list{list{}}})
		if !nullable && value != nil {
			m.mustFail("null", at, nil)
		}
	}
	switch value := value.(type) {
	case map[string]any:
		if closed, ok := schema.AdditionalProperties.(bool); ok && !closed {
			m.mustFail("an unknown field", at+"/unknown_field", 1)
		}
		for _, name := range schema.Required {
			m.mustFail("a missing field", at+"/"+name, gone{})
		}
		for name, child := range value {
			if property := schema.Properties[name]; property != nil {
				m.walk(property, child, at+"/"+name)
			} else if values, ok := schema.AdditionalProperties.(*jsonschema.Schema); ok && values.Bool == nil {
				m.walk(values, child, at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
			}
		}
	case []any:
		for i, child := range value {
			m.walk(schema.Items2020, child, at+"/"+strconv.Itoa(i))
		}
	case string:
		if schema.Enum != nil || schema.Pattern != nil {
			m.mustFail("junk", at, "no legal\nvalue")
		}
	}
}

// TestNoValueIsQuoted puts a secret in place of every string, number's neighbour and key, and looks for it.
func TestNoValueIsQuoted(t *testing.T) {
	const secret = "sk-live-0a1b2c3d4e"
	for name, data := range testFiles(t, "valid") {
		kind := kindOfTestFile(t, name)
		lines := [][]byte{data}
		if kind == KindTranscript {
			lines = nil
			for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
				lines = append(lines, []byte(line))
			}
		}
		for _, line := range lines {
			for _, at := range places(t, line) {
				for _, change := range []object{{at: secret}, {at: object{secret: secret}}, {at: list{secret, secret}}, {at + "/" + secret: 1}} {
					if _, replaces := change[at]; !replaces && !isObject(t, line, at) {
						continue
					}
					for _, p := range validate(kind, name, edit(t, line, change)) {
						if strings.Contains(p.String(), secret) {
							t.Fatalf("%s: %s quotes the data", name, p)
						}
					}
				}
			}
		}
	}
}

// places lists the pointers of all members and items.
func places(t *testing.T, data []byte) []string {
	t.Helper()
	var root any
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	var found []string
	var visit func(node any, at string)
	visit = func(node any, at string) {
		if at != "" {
			found = append(found, at)
		}
		switch node := node.(type) {
		case map[string]any:
			for name, child := range node {
				visit(child, at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
			}
		case []any:
			for i, child := range node {
				visit(child, at+"/"+strconv.Itoa(i))
			}
		}
	}
	visit(root, "")
	return found
}

func isObject(t *testing.T, data []byte, at string) bool {
	t.Helper()
	var node any
	if err := json.Unmarshal(data, &node); err != nil {
		t.Fatal(err)
	}
	for _, step := range strings.Split(strings.TrimPrefix(at, "/"), "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch container := node.(type) {
		case map[string]any:
			node = container[step]
		case []any:
			i, _ := strconv.Atoi(step)
			node = container[i]
		}
	}
	_, ok := node.(map[string]any)
	return ok
}
