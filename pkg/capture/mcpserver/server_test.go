package mcpserver

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestServe(t *testing.T) {
	tests := map[string]string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`: `{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"tools":{}},"protocolVersion":"2025-06-18","serverInfo":{"name":"contracts","version":"1.0.0"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:                                   ``,
		`{"jsonrpc":"2.0","id":7,"result":{}}`:                                                     ``,
		`{"jsonrpc":"2.0","id":"a","method":"ping"}`:                                               `{"jsonrpc":"2.0","id":"a","result":{}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`:                                           `{"jsonrpc":"2.0","id":2,"result":{"tools":[{"description":"Looks up a value by its key.","inputSchema":{"properties":{"key":{"type":"string"}},"required":["key"],"type":"object"},"name":"lookup"}]}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"lookup"}}`:                `{"jsonrpc":"2.0","id":3,"result":{"content":[{"text":"The value is 42.","type":"text"}],"isError":false}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"other"}}`:                 `{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"unknown tool"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"prompts/list"}`:                                         `{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"method not found"}}`,
	}
	for line, want := range tests {
		var out strings.Builder
		if err := Serve(strings.NewReader(line+"\n"), &out); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if diff := cmp.Diff(want, strings.TrimSpace(out.String())); diff != "" {
			t.Errorf("%s: -want +got\n%s", line, diff)
		}
	}
	if err := Serve(strings.NewReader("no JSON\n"), io.Discard); err == nil {
		t.Error("a line that is no JSON was passed over")
	}
	Main() // of a program that has another name: it returns
}
