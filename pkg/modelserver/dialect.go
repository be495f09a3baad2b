package modelserver

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// dialects are the model APIs that the server speaks, by the names that agent files use.
var dialects = map[string]dialect{
	"anthropic-messages": anthropicMessages{},
	"gemini-generate":    googleGenerate{},
	"openai-chat":        openaiChat{},
	"openai-responses":   openaiResponses{},
}

// A dialect is the wire format of one model API. It is stateless: it reads requests and renders answers, and the
// server decides which answer is given and how much of it is sent.
type dialect interface {
	// match says what a request is for.
	match(head) endpoint
	// parse reads a model request. An API may carry the model or the wish for a stream in the path. The error never
	// quotes the request.
	parse(h head, body []byte) (request, error)
	// stream renders an answer as server-sent events, in order. A partial answer ends after its text.
	stream(answer) []event
	// whole renders an answer as the JSON body of a request that asked for no stream.
	whole(answer) []byte
	// failure renders the JSON body of an error.
	failure(ids, contract.ErrorStep) []byte
	// listing renders the JSON body of the model listing with one model.
	listing(model string, created int64) []byte
	// requestID names the header that carries the id of a request.
	requestID() string
}

// A tokenCounter is a dialect whose API counts the tokens of a request that is not made.
type tokenCounter interface {
	// count renders the JSON body of the answer.
	count(tokens int) []byte
}

// head is what is known of a request before its body.
type head struct {
	method string
	path   string // below the prefix, escaped: "/v1/responses"
	query  url.Values
	header http.Header
}

// endpoint is what a request is for.
type endpoint int

const (
	endpointUnknown endpoint = iota // not part of the dialect: a finding
	endpointModel                   // asks for an answer
	endpointListing                 // asks which models there are
	endpointCount                   // asks how many tokens a request would have; only where the dialect is a tokenCounter
	endpointUpgrade                 // offers another transport; refused, after which the CLI uses plain requests
)

// request is what the server needs to know of a model request.
type request struct {
	model        string // model id asked for
	stream       bool
	streamUsage  bool // usage is wanted in a stream, where the API leaves the choice
	offered      []offeredTool
	limit        int    // tokens that the answer may have; 0 where the request names no limit
	image        bool   // the model is shown an image; looked for where the script expects one
	instructions string // what the request tells the model besides the conversation
}

// offeredTool is a tool that the CLI lets the model call.
type offeredTool struct {
	name      string
	namespace string // group that the tool is offered in; most have none
	kind      toolKind
}

// toolKind is how a tool is called.
type toolKind int

const (
	toolHosted   toolKind = iota // run by the vendor; a script cannot call it
	toolFunction                 // called with a JSON object
	toolCustom                   // called with free text: the argument "input"
	toolShell                    // the API's own shell tool
)

// listed is the tool's name in reports and in agent files: with its namespace, if it has one.
func (t offeredTool) listed() string {
	if t.namespace == "" {
		return t.name
	}
	return t.namespace + "." + t.name
}

// answer is one step of the script as a dialect renders it.
type answer struct {
	ids     ids
	model   string
	created int64 // Unix seconds
	usage   contract.Usage
	text    []string // deltas of assistant text; none for a tool call or an empty answer
	call    *call
	partial bool // the answer is cut or stalls after its text

	streamUsage bool // of the request
}

// call is a tool call with its arguments filled in.
type call struct {
	tool      offeredTool
	arguments map[string]any
}

// ids makes the identifiers of one answer.
type ids struct {
	canary string
	turn   string // number of the model request, "side" and a number for a side request, or empty outside of both
}

// make returns an id such as "msg_<canary>_3".
func (i ids) make(kind string) string {
	for _, part := range []string{i.canary, i.turn} {
		if part != "" {
			kind += "_" + part
		}
	}
	return kind
}

// fields is a JSON object of an API.
type fields map[string]any

// plainText joins the text of a value that is a string or a list of parts with text. Other values have none.
func plainText(v json.RawMessage) string {
	var text string
	if json.Unmarshal(v, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(v, &parts) != nil {
		return ""
	}
	var texts []string
	for _, part := range parts {
		texts = append(texts, part.Text)
	}
	return strings.Join(texts, "\n")
}

// namePattern is what a tool name or model id looks like. Other strings in their place are never reported.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9_.:/@-]{1,128}$`)
