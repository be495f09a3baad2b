package modelserver

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// Report is what a run asked of the server. It quotes nothing that the CLI sent but names of tools and models that
// look like names; request bodies are in Exchanges, which refuses to print.
type Report struct {
	Requests  int        // model requests of the conversation that were read, including those that the script had no answer for
	Images    int        // model requests that showed the model an image; counted where the script expects one
	Steps     int        // steps of the script that were played at least once
	Side      int        // the mode's side requests, token counts, model listings, HEAD requests and refused transport upgrades; they take no step
	Offered   []string   // names of the tools that the CLI offered, sorted; a tool of a namespace is "namespace.name"
	Models    []string   // model ids that the CLI asked for, sorted
	Findings  []Finding  // sorted by kind and intent
	Exchanges []Exchange // requests in the order in which they were accepted or refused
	Unkept    int        // requests that Exchanges lacks because they exceeded Config.MaxKeptBytes
}

// FindingKind is a kind of request that a clean run does not make.
type FindingKind string

// The kinds of findings.
const (
	FindingHost         FindingKind = "unexpected-host"
	FindingPath         FindingKind = "unexpected-path"
	FindingMalformed    FindingKind = "malformed-request"
	FindingEncoding     FindingKind = "unknown-encoding"
	FindingTooLarge     FindingKind = "request-too-large"
	FindingTooMany      FindingKind = "too-many-requests"
	FindingBeyondScript FindingKind = "beyond-script"
	FindingNotOffered   FindingKind = "tool-not-offered"
	FindingOddName      FindingKind = "odd-name"
)

var explanations = map[FindingKind]string{
	FindingHost:         "requests for another host than the model server's own address were refused",
	FindingPath:         "requests for a path outside of this run's base URL, or that the dialect does not know, were refused",
	FindingMalformed:    "model requests could not be read in this dialect; check the agent's model_api for this release",
	FindingEncoding:     "model requests had an unknown Content-Encoding; identity, gzip and zstd are read",
	FindingTooLarge:     "model requests were larger than the limit",
	FindingTooMany:      "model requests exceeded the limit of the run; the CLI may be retrying without end",
	FindingBeyondScript: "model requests came after the last step; add steps to the script or let the last one repeat",
	FindingNotOffered:   "the CLI offered none of the mode's tools for this intent; add what it offers to the agent's tools",
	FindingOddName:      "tools or models had names that do not look like names; they are left out of the lists",
}

// Finding is one kind of unwanted request and how often it came.
type Finding struct {
	Kind   FindingKind
	Intent string // of the script's tool step, for FindingNotOffered
	Count  int
}

// String says what happened and what can be done about it.
func (f Finding) String() string {
	kind := string(f.Kind)
	if f.Intent != "" {
		kind += " " + f.Intent
	}
	return fmt.Sprintf("%s (%d): %s", kind, f.Count, explanations[f.Kind])
}

// maxNames bounds the lists of tools and models.
const maxNames = 2000

// exchangeOverhead is what a kept request costs besides its text, so that empty requests fill memory no more than
// large ones.
const exchangeOverhead = 256

// ledger keeps the books of a run and hands out the steps. Its lock is what puts concurrent requests in order.
type ledger struct {
	mu          sync.Mutex
	steps       []contract.ScriptStep
	maxRequests int
	room        int64 // bytes that exchanges may still take

	requests  int
	asides    int // side requests among the model requests
	side      int
	images    int
	offered   map[string]bool
	models    map[string]bool
	findings  map[Finding]int // keyed with Count 0
	exchanges []Exchange
	unkept    int
}

func newLedger(cfg Config) ledger {
	return ledger{
		steps:       cfg.Script.Steps,
		maxRequests: cfg.MaxRequests,
		room:        cfg.MaxKeptBytes,
		offered:     map[string]bool{},
		models:      map[string]bool{},
		findings:    map[Finding]int{},
	}
}

// take books a model request and returns its number, from 1, and its step. Without a step it returns the finding.
// Side requests have numbers of their own and no step.
func (l *ledger) take(req request, x exchange, side bool) (turn int, step *contract.ScriptStep, finding FindingKind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(x)
	if l.requests+l.asides == l.maxRequests {
		l.findings[Finding{Kind: FindingTooMany}]++
		return 0, nil, FindingTooMany
	}
	if req.image {
		l.images++
	}
	l.name(l.models, req.model)
	for _, tool := range req.offered {
		l.name(l.offered, tool.listed())
	}
	if side {
		l.asides++
		l.side++
		return l.asides, nil, ""
	}
	l.requests++
	last := len(l.steps) - 1
	switch i := l.requests - 1; {
	case i <= last:
		return l.requests, &l.steps[i], ""
	case l.steps[last].Repeat:
		return l.requests, &l.steps[last], ""
	default:
		l.findings[Finding{Kind: FindingBeyondScript}]++
		return l.requests, nil, FindingBeyondScript
	}
}

// refuse books a request that takes no step.
func (l *ledger) refuse(kind FindingKind, x exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.findings[Finding{Kind: kind}]++
	l.keep(x)
}

// pass books a request that is no model request and no finding.
func (l *ledger) pass(x exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.side++
	l.keep(x)
}

// notOffered books a tool step that could not be played.
func (l *ledger) notOffered(intent string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.findings[Finding{Kind: FindingNotOffered, Intent: intent}]++
}

func (l *ledger) name(names map[string]bool, name string) {
	switch {
	case names[name]:
	case !namePattern.MatchString(name) || len(names) == maxNames:
		l.findings[Finding{Kind: FindingOddName}]++
	default:
		names[name] = true
	}
}

func (l *ledger) keep(x exchange) {
	size := exchangeOverhead + int64(len(x.method)+len(x.path)+len(x.body))
	if size > l.room {
		l.unkept++
		return
	}
	l.room -= size
	l.exchanges = append(l.exchanges, Exchange{&x})
}

func (l *ledger) report() Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := Report{
		Requests:  l.requests,
		Images:    l.images,
		Steps:     min(l.requests, len(l.steps)),
		Side:      l.side,
		Offered:   slices.Sorted(maps.Keys(l.offered)),
		Models:    slices.Sorted(maps.Keys(l.models)),
		Exchanges: slices.Clone(l.exchanges),
		Unkept:    l.unkept,
	}
	for f, count := range l.findings {
		f.Count = count
		r.Findings = append(r.Findings, f)
	}
	slices.SortFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Intent, b.Intent))
	})
	return r
}
