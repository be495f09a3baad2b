package contract

// frame checks the payload of an RPC line. Families of JSON-RPC need its envelope; a frame that has one anyway is
// held to it, whatever the family.
func (t *transcriptCheck) frame(line map[string]any) {
	if t.family != "" && !t.family.IsRPC() {
		t.report("transcript/frame", "/frame", "the family is no RPC", "record the bytes as a stream chunk")
		return
	}
	frame := line["frame"].(map[string]any)
	version, has := frame["jsonrpc"]
	if !has && t.family != FamilyACP {
		return
	}
	if version != "2.0" {
		t.report("transcript/jsonrpc", "/frame/jsonrpc", "the frame is not of JSON-RPC 2.0", `write "jsonrpc": "2.0"`)
	}
	t.envelope(frame)
}

func (t *transcriptCheck) envelope(frame map[string]any) {
	bad := func(at, message, remedy string) { t.report("transcript/jsonrpc", "/frame"+at, message, remedy) }
	method, isCall := frame["method"]
	id, hasID := frame["id"]
	_, hasResult := frame["result"]
	failure, hasError := frame["error"]
	if hasID {
		switch id.(type) {
		case string, float64, nil:
		default:
			bad("/id", "the id is not what an id may be", "write a string, a number or null")
		}
	}
	if !isCall {
		switch {
		case !hasID:
			bad("", "the frame has neither method nor id", "write a request, a notification or a response")
		case hasResult == hasError:
			bad("", "the response has neither or both of result and error", "give exactly one of result and error")
		case hasError:
			t.rpcError(failure)
		}
		return
	}
	if text, ok := method.(string); !ok || text == "" {
		bad("/method", "the method is no name", "write the method as text")
	}
	if hasResult || hasError {
		bad("", "the frame is a call and a response at once", "give method, or one of result and error")
	}
	if params, ok := frame["params"]; ok {
		switch params.(type) {
		case map[string]any, []any:
		default:
			bad("/params", "the parameters have another JSON type", "write an object or a list, or leave them out")
		}
	}
}

func (t *transcriptCheck) rpcError(failure any) {
	object, ok := failure.(map[string]any)
	if !ok {
		t.report("transcript/jsonrpc", "/frame/error", "the error is no object", "write an object with code and message")
		return
	}
	if code, ok := object["code"].(float64); !ok || code != float64(int64(code)) {
		t.report("transcript/jsonrpc", "/frame/error/code", "the code is no whole number", "write the code as an integer")
	}
	if _, ok := object["message"].(string); !ok {
		t.report("transcript/jsonrpc", "/frame/error/message", "the message is no text", "write the message as a string")
	}
}

// ValidFrame reports whether a frame may stand in a transcript of the family.
func ValidFrame(family Family, frame map[string]any) bool {
	t := transcriptCheck{family: family}
	t.frame(map[string]any{"frame": frame})
	return len(t.problems) == 0
}
