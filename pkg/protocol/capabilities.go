package protocol

import "strings"

// capabilities is where an agent of the Agent Client Protocol says what it can do.
const capabilities = "$.result.agentCapabilities."

// Capabilities gives what an agent advertises in a frame: the keys of each capability, joined by dots, but for what is
// denied. What agents add of their own stays out: it lies under keys that begin with an underscore.
func (r *Reader) Capabilities(f Frame) []string {
	if f.EventType != "response/initialize" {
		return nil
	}
	var out []string
	for i := range f.Doc.Nodes {
		n := &f.Doc.Nodes[i]
		name, ok := strings.CutPrefix(n.Path.Name, capabilities)
		if !ok || strings.Contains("."+name, "._") || strings.Contains(name, "[") || n.Kind == 'f' || n.Kind == 'n' || n.Kind == '{' && n.Next > i+1 {
			continue
		}
		out = append(out, name)
	}
	return out
}
