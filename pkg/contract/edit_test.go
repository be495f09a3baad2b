package contract

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// gone removes a member or an item.
type gone struct{}

// edit sets values at JSON pointers of a record; the last step of a list may be "-" to append.
func edit(t testing.TB, data []byte, changes map[string]any) []byte {
	t.Helper()
	var root any
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	for at, value := range changes {
		root = set(t, root, strings.Split(strings.TrimPrefix(at, "/"), "/"), value)
	}
	out, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func set(t testing.TB, node any, steps []string, value any) any {
	t.Helper()
	if len(steps) == 0 {
		return value
	}
	step := strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[0])
	switch node := node.(type) {
	case map[string]any:
		if _, remove := value.(gone); remove && len(steps) == 1 {
			delete(node, step)
			return node
		}
		node[step] = set(t, node[step], steps[1:], value)
		return node
	case []any:
		if step == "-" {
			return append(node, value)
		}
		i, err := strconv.Atoi(step)
		if err != nil || i >= len(node) {
			t.Fatalf("no item %s", step)
		}
		if _, remove := value.(gone); remove && len(steps) == 1 {
			return append(node[:i:i], node[i+1:]...)
		}
		node[i] = set(t, node[i], steps[1:], value)
		return node
	case nil:
		return map[string]any{step: set(t, nil, steps[1:], value)}
	}
	t.Fatalf("nothing to change at %s", step)
	return nil
}
