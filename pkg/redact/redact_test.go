package redact_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/protocol"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

const (
	secret = "canary-FAKE-7Q2Z-redact"
	cwd    = "/srv/fake/run/work"
	home   = "/srv/fake/run/home"
)

// dialect declares one place of each kind.
var dialect = contract.Dialect{
	Name:        "test",
	EventType:   []contract.EventTypeRule{{Path: "$.type"}},
	Opaque:      []string{"$.input"},
	Maps:        []string{"$.by_model"},
	IDs:         []string{"$.call"},
	Numbers:     []string{"$.usage.*", "$.exit_code"},
	Diagnostics: []string{"$.message"},
	Base64:      []string{"$.chunk"},
	Deltas:      []string{"$.delta"},
	JSONDeltas:  []string{"$.part"},
	Enums:       map[string][]string{"$.mode": {"fast", "slow"}, "$['reasoning effort']": {"low", "high"}},
	Events:      []contract.EventRule{},
}

var templates = []contract.DiagnosticTemplate{
	{ID: "status", Text: "status {code} {reason}: {body}, url: {url}", Class: "upstream", Holes: map[string]string{"code": "int", "reason": "http-reason", "body": "literal", "url": "url"}},
	{ID: "login", Text: "not logged in: run {command} login", Class: "auth", Holes: map[string]string{"command": "enum"}},
	{ID: "retry", Text: "retry {n} in {wait}: {cause}", Class: "debug", Holes: map[string]string{"n": "int", "wait": "duration", "cause": "template"}},
	{ID: "loaded", Text: "loaded {file} of version {v} for {who} as {id}", Class: "diagnostic", Holes: map[string]string{"file": "path", "v": "version", "who": "text", "id": "id"}},
}

var literals = []string{"Say hello.", "Hello there, world", "notes.txt", "first line\nsecond line\n", "sub/file.txt"}

var scanner = sync.OnceValues(func() (*scan.Scanner, error) {
	return scan.New(scan.Config{Canaries: []string{secret}, Known: []scan.Known{{Value: cwd, Kind: "cwd"}, {Value: "fakeuser", Kind: "user", TokenOnly: true}}})
})

func policy(tb testing.TB, change ...func(*redact.Policy)) redact.Policy {
	tb.Helper()
	d, err := protocol.Compile(dialect)
	if err != nil {
		tb.Fatal(err)
	}
	compiled, err := redact.CompileTemplates(templates, literals)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := scanner()
	if err != nil {
		tb.Fatal(err)
	}
	p := redact.Policy{
		Family: "json-event-stream/v1", Transport: contract.TransportJSONL, Dialect: d, Literals: literals, Vocabulary: []string{"model-one", "Write"},
		Templates: compiled, Cwd: []string{cwd}, Home: []string{home}, Scanner: s,
	}
	for _, c := range change {
		c(&p)
	}
	return p
}

func plain(p *redact.Policy) {
	p.Family, p.Transport, p.Dialect = contract.FamilyPlain, contract.TransportPlain, nil
}

func wholeJSON(p *redact.Policy) { p.Transport = contract.TransportJSON }

func out(data string) transcript.Entry {
	return transcript.Entry{Dir: contract.CLIToServer, Stream: contract.Stdout, Data: []byte(data)}
}

func stderr(data string) transcript.Entry {
	return transcript.Entry{Dir: contract.CLIToServer, Stream: contract.Stderr, Data: []byte(data)}
}

func exit() transcript.Entry {
	zero := 0
	return transcript.Entry{Dir: contract.FromProcess, Event: contract.EventExit, ExitCode: &zero}
}

// record makes a raw transcript of entries between a spawn and whatever ends them.
func record(tb testing.TB, entries ...transcript.Entry) *transcript.Raw {
	tb.Helper()
	rec, err := transcript.NewRecorder(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	rec.Record(transcript.Entry{Dir: contract.FromProcess, Event: contract.EventSpawn})
	for _, e := range entries {
		rec.Record(e)
	}
	raw, err := rec.Finish()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { raw.Close() })
	return raw
}

// sanitize redacts entries and checks on the way what holds of every result: it reads back as itself.
func sanitize(tb testing.TB, p redact.Policy, entries ...transcript.Entry) *redact.Sanitized {
	tb.Helper()
	s, err := redact.Redact(record(tb, entries...), p, tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	again, err := redact.Read(strings.NewReader(published(tb, s)), p, tb.TempDir())
	if err != nil {
		tb.Fatalf("redaction's own result does not read back: %v", err)
	}
	defer again.Close()
	if again.Hash() != s.Hash() || again.StderrClass() != s.StderrClass() {
		tb.Errorf("read back as %s %s, not as %s %s", again.Hash(), again.StderrClass(), s.Hash(), s.StderrClass())
	}
	return s
}

func published(tb testing.TB, s *redact.Sanitized) string {
	tb.Helper()
	var b bytes.Buffer
	if err := s.WriteJSONL(&b); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// stream joins what one stream of a transcript says.
func stream(tb testing.TB, s *redact.Sanitized, name contract.StreamName) string {
	tb.Helper()
	var b strings.Builder
	if err := s.Each(func(e transcript.Entry) error {
		if e.Stream == name {
			b.Write(e.Data)
		}
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func TestValues(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		// What survives.
		{"field names and kinds", `{"type":"t","a":{"b_c":[null,true,false,{}],"camelCase":[]},"_meta":{"x.ai/kind":null}}`, `{"type":"t","a":{"b_c":[null,true,false,{}],"camelCase":[]},"_meta":{"x.ai/kind":null}}`},
		{"enum by key", `{"type":"item.started","role":"assistant","status":"in_progress","subtype":"init","stop_reason":"end_turn"}`, `{"type":"item.started","role":"assistant","status":"in_progress","subtype":"init","stop_reason":"end_turn"}`},
		{"declared enum", `{"type":"t","mode":"fast"}`, `{"type":"t","mode":"fast"}`},
		{"key that the dialect spells out", `{"type":"t","reasoning effort":"high"}`, `{"type":"t","reasoning effort":"high"}`},
		{"whole literal", `{"type":"t","text":"Say hello."}`, `{"type":"t","text":"Say hello."}`},
		{"literal in escapes", `{"type":"t","text":"\u0053ay hello."}`, `{"type":"t","text":"Say hello."}`},
		{"literal of several lines", `{"type":"t","text":"first line\nsecond line\n"}`, `{"type":"t","text":"first line\nsecond line\n"}`},
		{"vocabulary", `{"type":"t","model":"model-one","name":"Write"}`, `{"type":"t","model":"model-one","name":"Write"}`},
		{"declared numbers", `{"type":"t","usage":{"in":12,"deep":{"out":-1.5}},"exit_code":1}`, `{"type":"t","usage":{"in":12,"deep":{"out":-1.5}},"exit_code":1}`},
		{"literal in opaque", `{"type":"t","input":{"name":"notes.txt"}}`, `{"type":"t","input":{"name":"notes.txt"}}`},
		{"empty string", `{"type":"t","text":""}`, `{"type":"t","text":""}`},
		{"template", `{"type":"t","message":"status 401 Unauthorized: Say hello., url: http://127.0.0.1:1/x"}`, `{"type":"t","message":"status 401 Unauthorized: Say hello., url: <url>"}`},
		// What does not.
		{"text", `{"type":"t","text":"what a model said"}`, `{"type":"t","text":"<text>"}`},
		{"part of a literal", `{"type":"t","text":"Say hello"}`, `{"type":"t","text":"<text>"}`},
		{"literal and more", `{"type":"t","text":"Say hello. Bye."}`, `{"type":"t","text":"<text>"}`},
		{"vocabulary and more", `{"type":"t","model":"model-one-secret"}`, `{"type":"t","model":"<text>"}`},
		{"vocabulary in opaque", `{"type":"t","input":{"name":"Write"}}`, `{"type":"t","input":{"name":"<text>"}}`},
		{"enum that looks like data", `{"type":"t","status":"9f8a7b6c5d4e3f2a"}`, `{"type":"t","status":"<enum>"}`},
		{"enum that is a sentence", `{"type":"t","status":"all done here"}`, `{"type":"t","status":"<enum>"}`},
		{"undeclared value of a declared enum", `{"type":"t","mode":"medium"}`, `{"type":"t","mode":"<enum>"}`},
		{"declared enums of one place only", `{"type":"t","list":[{"mode":"fast"}]}`, `{"type":"t","list":[{"mode":"<text>"}]}`},
		{"message that no template knows", `{"type":"t","message":"status 401 of my account"}`, `{"type":"t","message":"<text>"}`},
		{"template at another place", `{"type":"t","text":"not logged in: run acme login"}`, `{"type":"t","text":"<text>"}`},
		{"undeclared numbers", `{"type":"t","n":12,"list":[1.5,-3e8]}`, `{"type":"t","n":0,"list":[0,0]}`},
		{"long declared number", `{"type":"t","usage":{"in":1234567890,"e":1e5}}`, `{"type":"t","usage":{"in":0,"e":0}}`},
		{"opaque", `{"type":"t","input":{"command":"ls","n":5,"ok":true,"list":["a",{"deep":"x"}]}}`, `{"type":"t","input":{"command":"<text>","n":0,"ok":true,"list":["<text>",{"deep":"<text>"}]}}`},
		{"posix path", `{"type":"t","p":"/etc/hosts"}`, `{"type":"t","p":"<path>"}`},
		{"home path", `{"type":"t","p":"~/.config/x"}`, `{"type":"t","p":"<path>"}`},
		{"Windows path", `{"type":"t","p":"C:\\Program Files\\x","q":"d:/x"}`, `{"type":"t","p":"<path>","q":"<path>"}`},
		{"UNC path", `{"type":"t","p":"\\\\server\\share\\x"}`, `{"type":"t","p":"<path>"}`},
		{"cwd", `{"type":"t","p":"` + cwd + `","q":"` + cwd + `/notes.txt","r":"` + cwd + `/other.txt","s":"` + cwd + `-2"}`, `{"type":"t","p":"<cwd>","q":"<cwd>/notes.txt","r":"<cwd>/<path>","s":"<path>"}`},
		{"home", `{"type":"t","p":"` + home + `/.cache/x","q":"` + home + `"}`, `{"type":"t","p":"<home>/<path>","q":"<home>"}`},
		{"literal below a folder", `{"type":"t","p":"` + cwd + `/sub/file.txt","q":"` + cwd + `\\sub\\file.txt"}`, `{"type":"t","p":"<cwd>/sub/file.txt","q":"<cwd>/sub/file.txt"}`},
		{"file URL of a literal", `{"type":"t","p":"file://` + cwd + `/sub/file.txt","q":"file://` + cwd + `/other.txt","r":"file:///etc/x","s":"file://` + cwd + `"}`, `{"type":"t","p":"file://<cwd>/sub/file.txt","q":"<url>","r":"<url>","s":"<url>"}`},
		{"url", `{"type":"t","u":"https://example.com/a?sig=abc","v":"postgres://u:p@h/db"}`, `{"type":"t","u":"<url>","v":"<url>"}`},
		{"email", `{"type":"t","e":"somebody@example.com"}`, `{"type":"t","e":"<email>"}`},
		{"account, token and webhook", `{"type":"t","account":"acct 77","token":"sk-FAKE","hook":"https://hooks.example/T0/B0"}`, `{"type":"t","account":"<text>","token":"<text>","hook":"<url>"}`},
		{"timestamp", `{"type":"t","at":"2026-05-06T07:08:09.123Z","b":"2026-05-06 07:08:09+02:00"}`, `{"type":"t","at":"1970-01-01T00:00:00Z","b":"1970-01-01T00:00:00Z"}`},
		{"date alone is text", `{"type":"t","at":"2026-05-06"}`, `{"type":"t","at":"<text>"}`},
		{"base64", `{"type":"t","chunk":"aGVsbG8gd29ybGQ="}`, `{"type":"t","chunk":"PHRleHQ+"}`},
		{"ids pair", `{"type":"t","id":"a1","call":"b2","list":[{"parent_id":"a1"},{"callId":"b2"}],"uuid":"c3"}`, `{"type":"t","id":"<id:1>","call":"<id:2>","list":[{"parent_id":"<id:1>"},{"callId":"<id:2>"}],"uuid":"<id:3>"}`},
		{"uuid anywhere", `{"type":"t","x":"0b0e7a3c-1111-4222-8333-444455556666","session_id":"0b0e7a3c-1111-4222-8333-444455556666"}`, `{"type":"t","x":"<id:1>","session_id":"<id:1>"}`},
		{"numeric id is a number", `{"type":"t","id":77}`, `{"type":"t","id":0}`},
		{"placeholders of others count anew", `{"type":"t","x":"<id:7>","id":"<id:3>","y":"<id:7>"}`, `{"type":"t","x":"<id:1>","id":"<id:2>","y":"<id:1>"}`},
		{"declared map", `{"type":"t","by_model":{"somebody@example.com":{"n":1},"model-one":{"n":2},"x y":{"n":3}}}`, `{"type":"t","by_model":{"<key:1>":{"n":0},"model-one":{"n":0},"<key:2>":{"n":0}}}`},
		{"data as key in opaque", `{"type":"t","input":{"/etc/hosts":1,"file_path":2}}`, `{"type":"t","input":{"<key:1>":0,"file_path":0}}`},
		{"key and id of one value", `{"type":"t","id":"/x","by_model":{"/x":1,"/y":2}}`, `{"type":"t","id":"<id:1>","by_model":{"<key:1>":0,"<key:2>":0}}`},
		{"duplicate keys", `{"type":"t","text":"one","text":"two","id":"a","id":"b"}`, `{"type":"t","text":"<text>","text":"<text>","id":"<id:1>","id":"<id:2>"}`},
		{"blanks go", "  { \"type\" : \"t\" ,\t\"text\" : \"x\" }  ", `{"type":"t","text":"<text>"}`},
		{"half of a surrogate pair", `{"type":"t","text":"\ud800","Say":"\udc00x"}`, `{"type":"t","text":"<text>","Say":"<text>"}`},
		{"invalid UTF-8", "{\"type\":\"t\",\"text\":\"a\xffb\"}", `{"type":"t","text":"<text>"}`},
		{"root that is no object", `["a",1,"/x"]`, `["<text>",0,"<path>"]`},
		// Lines that are no JSON.
		{"noise", "panic: something at /x", `<text>`},
		{"noise that is a literal", "Say hello.", `Say hello.`},
		{"noise that a template knows", "not logged in: run acme login", `not logged in: run acme login`},
		{"two values on a line", `{"type":"t"}{"type":"t"}`, `<text>`},
		{"cut off", `{"type":"t","text":"half`, `<text>`},
		{"blank", "  \t", ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, end := range []string{"\n", "\r\n", ""} {
				got := stream(t, sanitize(t, policy(t), out(tt.in+end), exit()), contract.Stdout)
				if got != tt.want+end {
					t.Errorf("got %q\nwant %q", got, tt.want+end)
				}
			}
		})
	}
}

func TestWholeDocument(t *testing.T) {
	got := stream(t, sanitize(t, policy(t, wholeJSON), out("{\n  \"type\": \"t\",\n"), out("  \"text\": \"x\",\n  \"id\": \"a\"\n}\n"), exit()), contract.Stdout)
	if want := `{"type":"t","text":"<text>","id":"<id:1>"}` + "\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPlain(t *testing.T) {
	got := stream(t, sanitize(t, policy(t, plain), out("Hello there, world\nversion of somebody\n\nretry 3 in 1.5s: status 500 Internal Server Error: who, url: http://x/y"), exit()), contract.Stdout)
	if want := "Hello there, world\n<text>\n\nretry 3 in <duration>: status 500 Internal Server Error: <text>, url: <url>"; got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestIDsPairOverLinesAndRepeats(t *testing.T) {
	line := func(id string) string { return `{"type":"t","id":"` + id + `"}` + "\n" }
	got := stream(t, sanitize(t, policy(t), out(line("a")+line("b")+line("a")+line("a")), out(line("c")+line("b")), exit()), contract.Stdout)
	if want := line("<id:1>") + line("<id:2>") + line("<id:1>") + line("<id:1>") + line("<id:3>") + line("<id:2>"); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestOpaqueKeys(t *testing.T) {
	s := sanitize(t, policy(t), out(`{"type":"t","input":{"path":1,"b c":2,"deep":{"content":"x"}},"other":1}`+"\n"), exit())
	if got := strings.Join(s.OpaqueKeys(), " "); got != "content deep path" {
		t.Errorf("opaque keys %q", got)
	}
}

func TestStandardInputIsNeverPublished(t *testing.T) {
	in := func(ref, data string) transcript.Entry {
		return transcript.Entry{Dir: contract.ServerToCLI, Stream: contract.Stdin, Ref: ref, Data: []byte(data)}
	}
	s := sanitize(t, policy(t), in("prompt", ""), in("", "typed "+secret), in("fixture:notes.txt", ""), in("fixture:/etc/passwd", ""), in("free text", ""), exit())
	var refs []string
	if err := s.Each(func(e transcript.Entry) error {
		if e.Stream == contract.Stdin {
			refs = append(refs, e.Ref+string(e.Data))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(refs, " "); got != "prompt redacted fixture:notes.txt redacted redacted" {
		t.Errorf("standard input reads %q", got)
	}
}

func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		name       string
		entries    []transcript.Entry
		change     func(*redact.Policy)
		rule, path string
		entry      int
	}{
		{name: "undeclared map", entries: []transcript.Entry{out("{\"type\":\"t\"}\n"), out(`{"type":"t","a":{"` + secret + `/x.txt":1}}` + "\n")}, rule: "structure/undeclared-map", path: "$.a", entry: 3},
		{name: "key with a blank", entries: []transcript.Entry{out(`{"type":"t","my secret":1}` + "\n")}, rule: "structure/undeclared-map", path: "$", entry: 2},
		{name: "key that is a hash", entries: []transcript.Entry{out(`{"type":"t","a":[{"b":{"deadbeefdeadbeefdeadbeef":1}}]}` + "\n")}, rule: "structure/undeclared-map", path: "$.a[].b", entry: 2},
		{name: "key that is an address", entries: []transcript.Entry{out(`{"type":"t","a":{"x@example.com":1}}` + "\n")}, rule: "structure/undeclared-map", path: "$.a", entry: 2},
		{name: "below a map key", entries: []transcript.Entry{out(`{"type":"t","by_model":{"` + secret + `":{"x y":1}}}` + "\n")}, rule: "structure/undeclared-map", path: "$", entry: 2},
		{name: "below a key that is a secret", entries: []transcript.Entry{out(`{"type":"t","canary-FAKE-7Q2Z-redact":{"x y":1}}` + "\n")}, rule: "structure/undeclared-map", path: "$", entry: 2},
		{name: "values cut into pieces", entries: []transcript.Entry{out(`{"type":"t","status":"qzkv"}` + "\n"), out(`{"type":"t","status":"xjwq"}` + "\n"), out(`{"type":"t","status":"vbkg"}` + "\n")}, rule: "structure/pieces", path: "$.status", entry: 3},
		{name: "keys cut into pieces", entries: []transcript.Entry{out(`{"type":"t","a":{"qzkv":1,"xjwq":2,"vbkg":3}}` + "\n")}, rule: "structure/pieces", path: "$.a", entry: 2},
		{name: "too many keys", entries: []transcript.Entry{out(manyKeys())}, rule: "structure/undeclared-map", entry: 2},
		{name: "canary at an enum", entries: []transcript.Entry{out(`{"type":"` + secret + `"}` + "\n")}, rule: "scan/canary/0", path: "$.type", entry: 2},
		{name: "canary that came with a literal", change: func(p *redact.Policy) { p.Literals = append(p.Literals, "x "+secret) }, entries: []transcript.Entry{out(`{"type":"t","text":"x ` + secret + `"}` + "\n")}, rule: "scan/canary/0", path: "$.text", entry: 2},
		{name: "canary in the vocabulary, in hexadecimal", change: func(p *redact.Policy) {
			p.Vocabulary = append(p.Vocabulary, "63616e6172792d46414b452d3751325a2d726564616374")
		}, entries: []transcript.Entry{out(`{"type":"t","text":"63616e6172792d46414b452d3751325a2d726564616374"}` + "\n")}, rule: "scan/canary/0", path: "$.text", entry: 2},
		{name: "canary in a key", entries: []transcript.Entry{out(`{"type":"t","canary-FAKE-7Q2Z-redact":1}` + "\n")}, rule: "scan/canary/0", path: "$", entry: 2},
		{name: "canary on standard error", change: func(p *redact.Policy) { p.Literals = append(p.Literals, secret) }, entries: []transcript.Entry{stderr(secret + "\n")}, rule: "scan/canary/0", entry: 2},
		{name: "on the last line without a newline", entries: []transcript.Entry{out("\n"), out(`{"type":"` + secret + `"}`), exit()}, rule: "scan/canary/0", path: "$.type", entry: 4},
		{name: "frame", entries: []transcript.Entry{{Dir: contract.CLIToServer, Stream: contract.Stdout, Frame: []byte(`{"id":1}`)}}, rule: "structure/frame", entry: 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := policy(t)
			if tt.change != nil {
				tt.change(&p)
			}
			dir := t.TempDir()
			s, err := redact.Redact(record(t, tt.entries...), p, dir)
			var failure *redact.Failure
			if s != nil || !errors.As(err, &failure) {
				t.Fatalf("got %v, %v", s, err)
			}
			if failure.Rule != tt.rule || failure.Path != tt.path || failure.Entry != tt.entry || failure.Remedy == "" {
				t.Errorf("got %+v", failure)
			}
			for _, value := range []string{secret, "my secret", "x y", "deadbeef", "example.com"} {
				if strings.Contains(err.Error(), value) {
					t.Errorf("the error quotes %q: %v", value, err)
				}
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("a failure leaves %v, %v", left, err)
			}
		})
	}
}

func manyKeys() string {
	var b strings.Builder
	b.WriteString(`{"type":"t","input":{`)
	for i := range protocol.MaxPaths {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"k`)
		for n := i; n > 0; n /= 26 {
			b.WriteByte(byte('a' + n%26))
		}
		b.WriteString(`":1`)
	}
	return b.String() + "}}\n"
}

func TestPolicyMustBeWhole(t *testing.T) {
	for name, change := range map[string]func(*redact.Policy){
		"no scanner": func(p *redact.Policy) { p.Scanner = nil },
		"no dialect": func(p *redact.Policy) { p.Dialect = nil },
		"a scanner that fires on placeholders": func(p *redact.Policy) {
			s, err := scan.New(scan.Config{Canaries: []string{`"<text>"`}})
			if err != nil {
				t.Fatal(err)
			}
			p.Scanner = s
		},
	} {
		t.Run(name, func(t *testing.T) {
			if s, err := redact.Redact(record(t, exit()), policy(t, change), t.TempDir()); err == nil {
				t.Errorf("passed: %v", s)
			}
			if s, err := redact.Read(strings.NewReader(""), policy(t, change), t.TempDir()); err == nil {
				t.Errorf("a file passed: %v", s)
			}
		})
	}
}
