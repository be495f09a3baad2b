package modelserver

import (
	"net/http"
	"regexp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// dialects are the model APIs that the server speaks, by the names that agent files use.
var dialects = map[string]dialect{
	"openai-responses": openaiResponses{},
}

// A dialect is the wire format of one model API. It is stateless: it reads requests and renders answers, and the
// server decides which answer is given and how much of it is sent.
type dialect interface {
	// match says what a request is for, from its method, its path below the prefix ("/v1/responses") and its headers.
	match(method, path string, header http.Header) endpoint
	// parse reads a model request. An API may carry the model or the wish for a stream in the path. The error never
	// quotes the request.
	parse(path string, body []byte) (request, error)
	// stream renders an answer as server-sent events, in order. A partial answer ends after its text.
	stream(answer) []event
	// whole renders an answer as the JSON body of a request that asked for no stream.
	whole(answer) []byte
	// failure renders the JSON body of an error.
	failure(contract.ErrorStep) []byte
	// listing renders the JSON body of the model listing with one model.
	listing(model string, created int64) []byte
}

// endpoint is what a request is for.
type endpoint int

const (
	endpointUnknown endpoint = iota // not part of the dialect: a finding
	endpointModel                   // asks for an answer
	endpointListing                 // asks which models there are
	endpointUpgrade                 // offers another transport; refused, after which the CLI uses plain requests
)

// request is what the server needs to know of a model request.
type request struct {
	model   string // model id asked for
	stream  bool
	offered []offeredTool
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
}

// call is a tool call with its arguments filled in.
type call struct {
	tool      offeredTool
	arguments map[string]any
}

// ids makes the identifiers of one answer.
type ids struct {
	canary string
	turn   string // number of the model request, or empty outside of one
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

// namePattern is what a tool name or model id looks like. Other strings in their place are never reported.
var namePattern = regexp.MustCompile(`^[A-Za-z0-9_.:/@-]{1,128}$`)
