package modelserver

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/klauspost/compress/zstd"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func TestStrayRequests(t *testing.T) {
	tests := []struct {
		name    string
		method  string
		path    string // below the address
		host    string
		upgrade bool
		status  int
		finding string
		side    int
	}{
		{name: "no prefix", method: "POST", path: "/v1/responses", status: 404, finding: "unexpected-path"},
		{name: "wrong prefix", method: "POST", path: "/" + strings.Repeat("f", 32) + "/v1/responses", status: 404, finding: "unexpected-path"},
		{name: "prefix alone", method: "GET", path: "/" + testPrefix, status: 404, finding: "unexpected-path"},
		{name: "dot segments", method: "POST", path: "/x/../" + testPrefix + "/v1/responses", status: 404, finding: "unexpected-path"},
		{name: "escaped", method: "POST", path: "/" + testPrefix + "/v1%2Fresponses", status: 404, finding: "unexpected-path"},
		{name: "unknown endpoint", method: "POST", path: "/" + testPrefix + "/v1/files", status: 404, finding: "unexpected-path"},
		{name: "wrong method", method: "GET", path: "/" + testPrefix + "/v1/responses", status: 404, finding: "unexpected-path"},
		{name: "other host", method: "POST", path: "/" + testPrefix + "/v1/responses", host: "example.test", status: 404, finding: "unexpected-host"},
		{name: "host by name", method: "POST", path: "/" + testPrefix + "/v1/responses", host: "localhost", status: 404, finding: "unexpected-host"},
		{name: "greeting", method: "HEAD", path: "/" + testPrefix, status: 200, side: 1},
		{name: "greeting somewhere", method: "HEAD", path: "/" + testPrefix + "/any/where", status: 200, side: 1},
		{name: "greeting without prefix", method: "HEAD", path: "/", status: 404, finding: "unexpected-path"},
		{name: "listing", method: "GET", path: "/" + testPrefix + "/v1/models", status: 200, side: 1},
		{name: "listing with query", method: "GET", path: "/" + testPrefix + "/v1/models?client_version=1", status: 200, side: 1},
		{name: "websocket", method: "GET", path: "/" + testPrefix + "/v1/responses", upgrade: true, status: 426, side: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, base := start(t, testConfig(text))
			req, err := http.NewRequest(tt.method, strings.TrimSuffix(base, "/"+testPrefix)+tt.path, strings.NewReader(modelRequest()))
			if err != nil {
				t.Fatal(err)
			}
			req.Host = tt.host
			if tt.upgrade {
				req.Header.Set("Connection", "Upgrade")
				req.Header.Set("Upgrade", "websocket")
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != tt.status {
				t.Errorf("status %d, want %d", resp.StatusCode, tt.status)
			}
			want := map[string]int{}
			if tt.finding != "" {
				want[tt.finding] = 1
			}
			r := s.Report()
			if diff := cmp.Diff(want, findings(r)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if r.Requests != 0 || r.Steps != 0 || r.Side != tt.side || len(r.Exchanges) != 1 {
				t.Errorf("requests %d, steps %d, side %d, exchanges %d", r.Requests, r.Steps, r.Side, len(r.Exchanges))
			}
		})
	}
}

func gzipped(s string) string {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	w.Write([]byte(s))
	w.Close()
	return buf.String()
}

func zstded(s string) string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err) // unreachable unless program bug
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(s), nil))
}

func TestBodies(t *testing.T) {
	const limit = 4096
	valid := modelRequest()
	// Padding of any length, so that a small compressed body decodes to a large one.
	padded := func(n int) string { return valid + strings.Repeat(" ", n-len(valid)) }
	tests := []struct {
		name, encoding, body string
		status               int
		finding              string
	}{
		{name: "plain", body: valid, status: 200},
		{name: "identity", encoding: "identity", body: valid, status: 200},
		{name: "gzip", encoding: "gzip", body: gzipped(valid), status: 200},
		{name: "zstd", encoding: "zstd", body: zstded(valid), status: 200},
		{name: "case", encoding: "GZIP", body: gzipped(valid), status: 200},
		{name: "brotli", encoding: "br", body: valid, status: 415, finding: "unknown-encoding"},
		{name: "exactly the limit", body: padded(limit), status: 200},
		{name: "exactly the limit, zstd", encoding: "zstd", body: zstded(padded(limit)), status: 200},
		{name: "over the limit", body: padded(limit + 1), status: 413, finding: "request-too-large"},
		{name: "over the limit, gzip", encoding: "gzip", body: gzipped(padded(1 << 20)), status: 413, finding: "request-too-large"},
		{name: "over the limit, zstd", encoding: "zstd", body: zstded(padded(1 << 20)), status: 413, finding: "request-too-large"},
		{name: "no gzip", encoding: "gzip", body: valid, status: 400, finding: "malformed-request"},
		{name: "no zstd", encoding: "zstd", body: valid, status: 400, finding: "malformed-request"},
		{name: "truncated gzip", encoding: "gzip", body: gzipped(valid)[:20], status: 400, finding: "malformed-request"},
		{name: "no JSON", body: "{", status: 400, finding: "malformed-request"},
		{name: "empty", body: "", status: 400, finding: "malformed-request"},
		{name: "no model", body: `{"input":[]}`, status: 400, finding: "malformed-request"},
		{name: "no input", body: `{"model":"m"}`, status: 400, finding: "malformed-request"},
		{name: "another API", body: `{"model":"m","messages":[]}`, status: 400, finding: "malformed-request"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := testConfig(empty)
			cfg.MaxRequestBytes = limit
			s, base := start(t, cfg)
			req, err := http.NewRequest("POST", base+"/v1/responses", strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if tt.encoding != "" {
				req.Header.Set("Content-Encoding", tt.encoding)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != tt.status {
				t.Errorf("status %d, want %d", resp.StatusCode, tt.status)
			}
			want := map[string]int{}
			if tt.finding != "" {
				want[tt.finding] = 1
			}
			if diff := cmp.Diff(want, findings(s.Report())); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReport(t *testing.T) {
	cfg := testConfig(empty, empty, empty)
	cfg.MaxKeptBytes = 2*exchangeOverhead + 600
	s, base := start(t, cfg)
	ask(t, base, modelRequest(
		`{"type":"function","name":"run"}`, `{"type":"web_search"}`, `{"type":"local_shell"}`, `{"type":"custom","name":"edit"}`,
		`{"type":"namespace","name":"group","tools":[{"type":"function","name":"sub"}]}`))
	ask(t, base, `{"model":"another/model","input":"x","tools":[{"type":"function","name":"run"},{"type":"function","name":"secret text"}]}`)
	ask(t, base, modelRequest())

	got := s.Report()
	var paths []string
	for _, x := range got.Exchanges {
		paths = append(paths, x.Method()+" "+x.Path())
	}
	if diff := cmp.Diff([]string{"POST /v1/responses", "POST /v1/responses"}, paths); diff != "" {
		t.Errorf("exchanges (-want +got):\n%s", diff)
	}
	if !bytes.Contains(got.Exchanges[1].Body(), []byte("secret text")) {
		t.Error("the body was not kept")
	}
	x := got.Exchanges[1]
	for _, printed := range []string{
		fmt.Sprintf("%v %+v %#v", got, got, got),
		fmt.Sprintf("%s %q %x %v %s", x, x, x, struct{ x Exchange }{x}, x.String()),
		mustJSON(t, got),
	} {
		if strings.Contains(printed, "secret") || strings.Contains(printed, fmt.Sprintf("%x", "secret")) {
			t.Errorf("a printed report quotes a request: %s", printed)
		}
	}
	got.Exchanges = nil
	want := Report{
		Requests: 3,
		Steps:    3,
		Offered:  []string{"edit", "group.sub", "local_shell", "run", "web_search"},
		Models:   []string{"another/model", "test-model"},
		Findings: []Finding{{Kind: FindingOddName, Count: 1}},
		Unkept:   1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestFindingsExplainThemselves(t *testing.T) {
	for _, kind := range []FindingKind{
		FindingHost, FindingPath, FindingMalformed, FindingEncoding, FindingTooLarge, FindingTooMany, FindingBeyondScript, FindingNotOffered, FindingOddName,
	} {
		if explanations[kind] == "" {
			t.Errorf("%s has no explanation", kind)
		}
	}
	got := Finding{Kind: FindingNotOffered, Intent: "list-files", Count: 2}.String()
	if !strings.HasPrefix(got, "tool-not-offered list-files (2): ") {
		t.Errorf("String() = %q", got)
	}
}

// A tool that is listed only after a search is called by its name, with its namespace apart.
func TestToolBehindAnother(t *testing.T) {
	candidates := []contract.Tool{{Name: "listed"}, {Name: "group.deep.sub", Behind: "search"}}
	search := offeredTool{name: "search", kind: toolHosted}
	got := choose(candidates, []offeredTool{search}, contract.Placeholders(nil))
	if got == nil || got.tool != (offeredTool{name: "sub", namespace: "group.deep", kind: toolFunction}) {
		t.Errorf("behind a search: %+v", got)
	}
	if got := choose(candidates, []offeredTool{search, {name: "listed", kind: toolFunction}}, contract.Placeholders(nil)); got.tool.name != "listed" {
		t.Errorf("the first candidate is offered: %+v", got)
	}
	if got := choose(candidates, []offeredTool{{name: "other", kind: toolFunction}}, contract.Placeholders(nil)); got != nil {
		t.Errorf("nothing of the kind is offered: %+v", got)
	}
}
