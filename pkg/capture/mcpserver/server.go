// Package mcpserver is a small MCP server with one tool, which captures hand to a CLI. This very program is that server
// where it is started by the name Name.
package mcpserver

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

const (
	// Name is the file name by which the program is the server.
	Name = "contracts-mcp-server"
	// Tool is its one tool; it takes a text named key.
	Tool = contract.MCPServerTool
	// Answer is the text of the tool's result.
	Answer = "The value is 42."
	// maxLine bounds one message of a CLI.
	maxLine = 16 << 20
)

// Main serves until standard input ends, where the program was started as the server, and then exits. It returns
// at once otherwise.
func Main() {
	if filepath.Base(os.Args[0]) != Name {
		return
	}
	if err := Serve(os.Stdin, os.Stdout); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string `json:"protocolVersion"`
		Name            string `json:"name"`
	} `json:"params"`
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *fault          `json:"error,omitempty"`
}

type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type object = map[string]any

// Serve answers JSON-RPC requests, one a line, until r ends. Notifications and answers need nothing.
func Serve(r io.Reader, w io.Writer) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	out := json.NewEncoder(w)
	for lines.Scan() {
		var req request
		if err := json.Unmarshal(lines.Bytes(), &req); err != nil {
			return errors.New("a line is no request")
		}
		if len(req.ID) == 0 || req.Method == "" {
			continue
		}
		if err := out.Encode(answer(req)); err != nil {
			return err
		}
	}
	return lines.Err()
}

func answer(req request) response {
	a := response{Version: "2.0", ID: req.ID}
	switch req.Method {
	case "initialize":
		// Any version that a client asks for will do: what is used of it has not changed since the first.
		a.Result = object{"protocolVersion": req.Params.ProtocolVersion, "capabilities": object{"tools": object{}}, "serverInfo": object{"name": contract.MCPServerName, "version": "1.0.0"}}
	case "ping":
		a.Result = object{}
	case "tools/list":
		a.Result = object{"tools": []object{{
			"name": Tool, "description": "Looks up a value by its key.",
			"inputSchema": object{"type": "object", "properties": object{"key": object{"type": "string"}}, "required": []string{"key"}},
		}}}
	case "tools/call":
		if req.Params.Name != Tool {
			a.Error = &fault{-32602, "unknown tool"}
			break
		}
		a.Result = object{"content": []object{{"type": "text", "text": Answer}}, "isError": false}
	default:
		a.Error = &fault{-32601, "method not found"}
	}
	return a
}
