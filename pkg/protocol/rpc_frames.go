package protocol

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Unmatched names an answer to a request that was never made, or that was answered already.
const Unmatched = "response/?"

// call identifies a request: both sides count their ids for themselves.
type call struct {
	dir contract.FrameDirection
	id  string // raw JSON
}

// ReadFrame names one frame of an RPC family. A request has the name that the dialect gives; an answer has its
// request's, so frames must come in the order of the transcript. The frame's parts are valid until the next call.
func (r *Reader) ReadFrame(dir contract.FrameDirection, frame []byte) (Frame, error) {
	f := Frame{Doc: &r.doc}
	if err := r.doc.Parse(frame); err != nil {
		return f, err
	}
	if err := r.doc.Resolve(r.Paths); err != nil {
		return f, err
	}
	if r.calls == nil {
		r.calls = map[call]string{}
	}
	if r.Family == contract.FamilyPiRPC {
		f.EventType = r.commandType(dir)
	} else {
		f.EventType = r.jsonrpcType(dir)
	}
	return f, nil
}

func (r *Reader) jsonrpcType(dir contract.FrameDirection) string {
	method, id := r.doc.find(pathExpr{"method"}), r.doc.id()
	if method == nil {
		return r.answer(opposite(dir), id, r.doc.find(pathExpr{"error"}) != nil)
	}
	if id != nil {
		name, ok := r.doc.Token(method)
		if !ok {
			name = Untyped
		}
		r.calls[call{dir, string(id.Value)}] = name
	}
	return r.Dialect.EventType(&r.doc)
}

// commandType: commands carry an id of the client, dialogs one of the CLI; the types of their answers are fixed.
func (r *Reader) commandType(dir contract.FrameDirection) string {
	kind, id := r.doc.text("type"), r.doc.id()
	switch {
	case dir == contract.CLIToServer && kind == "response":
		success := r.doc.find(pathExpr{"success"})
		return r.answer(contract.ServerToCLI, id, success != nil && success.Kind == 'f')
	case dir == contract.ServerToCLI && kind == "extension_ui_response":
		return r.answer(contract.CLIToServer, id, false)
	}
	name := r.Dialect.EventType(&r.doc)
	if method := r.doc.find(pathExpr{"method"}); kind == "extension_ui_request" && method != nil {
		if token, ok := r.doc.Token(method); ok {
			name = r.doc.join(name, token) // a question is answered, a notice is not
		}
	}
	if id != nil {
		r.calls[call{dir, string(id.Value)}] = name
	}
	return name
}

func (r *Reader) answer(dir contract.FrameDirection, id *Node, failed bool) string {
	if id == nil {
		return Unmatched
	}
	key := call{dir, string(id.Value)}
	name, ok := r.calls[key]
	if !ok {
		return Unmatched
	}
	delete(r.calls, key)
	if failed {
		return r.doc.join("error", name)
	}
	return r.doc.join("response", name)
}

// Unanswered lists the event types of requests of one side that have had no answer so far.
func (r *Reader) Unanswered(dir contract.FrameDirection) []string {
	var names []string
	for key, name := range r.calls {
		if key.dir == dir {
			names = append(names, name)
		}
	}
	return names
}

func opposite(dir contract.FrameDirection) contract.FrameDirection {
	if dir == contract.ServerToCLI {
		return contract.CLIToServer
	}
	return contract.ServerToCLI
}

// id gives the id of a frame that has one.
func (d *Document) id() *Node {
	if id := d.find(pathExpr{"id"}); id != nil && (id.Kind == '"' || id.Kind == '0') {
		return id
	}
	return nil
}

// text gives the string at a path of keys; empty where there is none.
func (d *Document) text(keys ...string) string {
	if n := d.find(keys); n != nil && n.Kind == '"' {
		return n.Text()
	}
	return ""
}

// decode reads the value at a path of keys into v. A value of another form leaves v as far as it was read.
func (d *Document) decode(v any, keys ...string) bool {
	n := d.find(keys)
	return n != nil && json.Unmarshal(d.raw(n), v) == nil
}

// ParseFrame reads a line of standard output as a frame of the family, whatever its spacing. What is none is noise:
// false. doc is valid until its next use, and the frame is compact JSON with each key once, as hosts' parsers see it.
func ParseFrame(family contract.Family, doc *Document, line []byte) (frame []byte, ok bool) {
	text := bytes.TrimSpace(line)
	if len(text) == 0 || text[0] != '{' {
		return nil, false
	}
	if doc.parse(text) != nil {
		var value map[string]any
		lenient := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if json.Unmarshal(text, &value, lenient) != nil {
			return nil, false
		}
		repaired, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
		if err != nil || doc.parse(repaired) != nil {
			return nil, false
		}
	}
	if !contract.ValidFrame(family, doc.members(0, true)) {
		return nil, false
	}
	frame, _ = doc.Append(nil, 0, nil)
	return frame, true
}

// members gives what decides whether an object is a frame: its members without what is in them, but for the error.
func (d *Document) members(i int, top bool) map[string]any {
	m := map[string]any{}
	for j := i + 1; j < d.Nodes[i].Next; j = d.Nodes[j].Next {
		n := &d.Nodes[j]
		key := unquote(n.Key)
		switch n.Kind {
		case 'n':
			m[key] = nil
		case 't', 'f':
			m[key] = n.Kind == 't'
		case '"':
			m[key] = n.Text()
		case '0':
			number, err := strconv.ParseFloat(string(n.Value), 64)
			if err != nil {
				number = 0.5 // out of range: no whole number
			}
			m[key] = number
		case '[':
			m[key] = []any{}
		default:
			if top && key == "error" {
				m[key] = d.members(j, false)
			} else {
				m[key] = map[string]any{}
			}
		}
	}
	return m
}
