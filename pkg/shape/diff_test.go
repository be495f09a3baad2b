package shape

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// sketch builds a shape from lines: "event_type" at the margin, then "  path type|type[?] [value…]". A "?" makes the
// path optional; "> " before an event type makes it one that the CLI was sent.
func sketch(t testing.TB, text string) contract.Shape {
	t.Helper()
	s := contract.Shape{
		SchemaVersion: 1, ProtocolFamily: contract.FamilyJSONEvent, ValidityLevel: contract.RuntimeObserved, Transport: contract.TransportJSONL,
		StderrClass: contract.StderrNone, Exit: contract.ExitSuccess,
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == "exit":
			s.Exit = contract.ExitClass(words[1])
		case words[0] == "stderr":
			s.StderrClass = contract.StderrClass(words[1])
		case words[0] == "transport":
			s.Transport = contract.Transport(words[1])
		case words[0] == "family":
			s.ProtocolFamily = contract.Family(words[1])
		case words[0] == ">":
			s.FrameShapes = append(s.FrameShapes, contract.FrameShape{Direction: contract.ServerToCLI, Stream: "stdin", EventType: words[1], Enums: map[string][]string{}})
		case words[0][0] != '$':
			s.FrameShapes = append(s.FrameShapes, contract.FrameShape{Direction: contract.CLIToServer, Stream: "stdout", EventType: words[0], Enums: map[string][]string{}})
		default:
			f := &s.FrameShapes[len(s.FrameShapes)-1]
			list, optional := strings.CutSuffix(words[1], "?")
			for kind := range strings.SplitSeq(list, "|") {
				f.Paths = append(f.Paths, contract.PathShape{Path: words[0], Type: contract.JSONType(kind), Required: !optional})
			}
			if len(words) > 2 {
				f.Enums[words[0]] = words[2:]
			}
		}
	}
	return seal(t, s)
}

func seal(t testing.TB, s contract.Shape) contract.Shape {
	t.Helper()
	s.FrameCount = len(s.FrameShapes)
	types := map[string]bool{}
	for i, f := range s.FrameShapes {
		types[f.EventType] = true
		slices.SortFunc(s.FrameShapes[i].Paths, func(a, b contract.PathShape) int {
			return strings.Compare(a.Path+" "+string(a.Type), b.Path+" "+string(b.Type))
		})
	}
	s.EventTypes = slices.Sorted(maps.Keys(types))
	signature, err := s.ComputeSignature()
	if err != nil {
		t.Fatal(err)
	}
	s.Signature = signature
	return s
}

func TestDiff(t *testing.T) {
	tests := []struct {
		name, old, new string
		want           []string // severity kind: text
	}{
		{"nothing", "a\n $ object", "a\n $ object", nil},
		{"whole shape", "a\n $ object", "exit nonzero\nstderr diagnostic\ntransport json\na\n $ object", []string{
			"breaking transport_changed: transport: jsonl → json",
			"breaking exit_changed: exit: success → nonzero",
			"additive stderr_class_changed: class of standard error: none → diagnostic",
		}},
		{"family", "a\n $ object", "family claude-stream-json/v1\na\n $ object", []string{"breaking family_changed: protocol family: json-event-stream/v1 → claude-stream-json/v1"}},
		{"discriminator renamed", "assistant_message\n $ object", "agent_message\n $ object", []string{
			"breaking event_type_removed: assistant_message: event type gone",
			"additive event_type_added: agent_message: new event type",
		}},
		{"moved", "a\n $ object\nb\n $ object\nc\n $ object", "c\n $ object\na\n $ object\nb\n $ object", []string{"additive event_type_moved: c: now comes first"}},
		{"moved behind", "a\n $ object\nb\n $ object\nc\n $ object", "b\n $ object\nc\n $ object\na\n $ object", []string{"additive event_type_moved: a: now comes after c"}},
		{"root kind", "a\n $ object\n $.x number", "a\n $ array\n $[] object\n $[].x number", []string{
			"breaking root_kind_changed: a: path $: object → array",
			"breaking path_removed: a: path $.x: gone (was number)",
			"additive path_added: a: path $[]: new (object)",
			"additive path_added: a: path $[].x: new (number)",
		}},
		{"cumulative field removed", "a\n $ object\n $.m object\n $.m.text string", "a\n $ object\n $.m object", []string{"breaking path_removed: a: path $.m.text: gone (was string)"}},
		{"optional path not seen", "a\n $ object\n $.m object?\n $.m.text string", "a\n $ object", []string{
			"subsumed path_removed: a: path $.m: gone (was object, optional)",
			"subsumed path_removed: a: path $.m.text: gone (was string, optional)",
		}},
		{"nested addition", "a\n $ object\n $.m object", "a\n $ object\n $.m object\n $.m.n object?\n $.m.n['a/b'][tool].c string", []string{
			"subsumed path_added: a: path $.m.n: new (object, optional)",
			"subsumed path_added: a: path $.m.n['a/b'][tool].c: new (string, optional)",
		}},
		{"new path", "a\n $ object", "a\n $ object\n $.k string x", []string{"additive path_added: a: path $.k: new (string)"}},
		{"null", "item.completed/command_execution\n $ object\n $.item.exit_code number", "item.completed/command_execution\n $ object\n $.item.exit_code null|number",
			[]string{"breaking type_added: item.completed/command_execution: path $.item.exit_code: now also null"}},
		{"null gone", "a\n $.e null|number", "a\n $.e number", []string{"subsumed type_removed: a: path $.e: no longer null"}},
		{"type", "a\n $.e null|number", "a\n $.e null|string", []string{"breaking type_changed: a: path $.e: null or number → null or string"}},
		{"required lost", "a\n $.e null|number", "a\n $.e null|number?", []string{"breaking required_lost: a: path $.e: no longer always there"}},
		{"required gained", "a\n $.e number?", "a\n $.e number", []string{"subsumed required_gained: a: path $.e: now always there"}},
		{"value renamed", "a\n $.status string completed", "a\n $.status string done", []string{
			"breaking enum_value_removed: a: path $.status: value completed no longer comes",
			"subsumed enum_value_added: a: path $.status: new value done",
		}},
		{"value not seen", "a\n $.status string completed failed", "a\n $.status string completed", []string{"subsumed enum_value_removed: a: path $.status: value failed no longer comes"}},
		{"discriminator value lost", "a\n $.type string x y", "a\n $.type string x", []string{"breaking enum_value_removed: a: path $.type: value y no longer comes"}},
		{"noise", "a\n $ object", "noise/before\n $ string\na\n $ object", []string{"breaking event_type_added: noise/before: new event type"}},
		{"noise gone", "noise/before\n $ string\na\n $ object", "a\n $ object", []string{"subsumed event_type_removed: noise/before: event type gone"}},
		{"sent and received", "a\n $ object\n> a\n $ object", "a\n $ object\n> a\n $ object\n $.x number", []string{"additive path_added: a (sent to the CLI): path $.x: new (number)"}},
	}
	seen := map[ChangeKind]bool{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range Diff(sketch(t, tt.old), sketch(t, tt.new)) {
				seen[c.Kind] = true
				got = append(got, fmt.Sprintf("%s %s: %s", c.Severity, c.Kind, c))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	for _, k := range Kinds() {
		if !seen[k.ID] {
			t.Errorf("no case shows %s", k.ID)
		}
	}
}

func TestStrongest(t *testing.T) {
	if got := Strongest(nil); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	if got := Strongest([]Change{{Severity: Subsumed}, {Severity: Breaking}, {Severity: Additive}}); got != Breaking {
		t.Errorf("got %q", got)
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"item.completed":                      "item.completed",
		"päth":                                "päth",
		"a\x1b[2Jb\n::error::x":               `"a\x1b[2Jb\n::error::x"`,
		"\u202eabc":                           `"\u202eabc"`,
		"\xff":                                `"\xff"`,
		strings.Repeat("x", 1000):             strings.Repeat("x", maxPlain) + "…",
		strings.Repeat("x", maxPlain-1) + "ä": strings.Repeat("x", maxPlain-1) + "…",
	} {
		if got := Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestDiffSignature checks on random neighbours that a difference is found exactly where the signatures differ.
func TestDiffSignature(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var pool []contract.Shape
	for range 120 {
		pool = append(pool, randomShape(t, r))
	}
	equal := 0
	for i, a := range pool {
		for j, b := range pool {
			same := a.Signature == b.Signature
			if same && i != j {
				equal++
			}
			changes := Diff(a, b)
			if (len(changes) == 0) != same {
				t.Fatalf("signatures equal: %v, differences: %v\n%+v\n%+v", same, changes, a, b)
			}
			for _, c := range changes {
				if c.Severity.Rank() == 0 || c.Kind == "" || c.String() == "" {
					t.Fatalf("incomplete change %+v", c)
				}
			}
			if len(slices.Compact(slices.Clone(changes))) != len(changes) {
				t.Fatalf("a change comes twice: %v", changes)
			}
		}
	}
	if equal == 0 {
		t.Error("the generator made no equal pair: the test shows half of what it should")
	}
}

// randomShape draws from a domain so small that equal shapes occur.
func randomShape(t testing.TB, r *rand.Rand) contract.Shape {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	var b strings.Builder
	if r.IntN(6) == 0 {
		fmt.Fprintf(&b, "exit %s\n", pick("success", "nonzero"))
	}
	names := []string{"a", "b", "> a"}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:1+r.IntN(3)] {
		fmt.Fprintf(&b, "%s\n $ %s\n", name, pick("object", "object", "array"))
		for _, path := range []string{" $.x", " $.x.y"} {
			if r.IntN(3) > 0 {
				fmt.Fprintf(&b, "%s %s%s\n", path, pick("number", "null|number", "string"), pick("", "?"))
			}
		}
		if r.IntN(3) == 0 {
			fmt.Fprintf(&b, " $.type string %s\n", pick("p", "p q", "q"))
		}
	}
	return sketch(t, b.String())
}

func FuzzDiff(f *testing.F) {
	f.Add("a\n $ object\n $.x number", "a\n $ array")
	f.Add("a\n $['q\\'[\\'] string", "> a\n $[ string?")
	f.Fuzz(func(t *testing.T, a, b string) {
		// Paths of a foreign record need not be well-formed here: no input may panic, and order never matters.
		x, y := rough(a), rough(b)
		if len(Diff(x, x)) != 0 {
			t.Error("a shape differs from itself")
		}
		if there, back := len(Diff(x, y)), len(Diff(y, x)); (there == 0) != (back == 0) {
			t.Errorf("%d differences there, %d back", there, back)
		}
	})
}

// rough reads lines "event path type" without any rule.
func rough(text string) contract.Shape {
	var s contract.Shape
	index := map[string]int{}
	for line := range strings.Lines(text) {
		event, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		path, kind, _ := strings.Cut(rest, " ")
		i, ok := index[event]
		if !ok {
			i = len(s.FrameShapes)
			index[event] = i
			s.FrameShapes = append(s.FrameShapes, contract.FrameShape{Direction: contract.CLIToServer, EventType: event})
		}
		s.FrameShapes[i].Paths = append(s.FrameShapes[i].Paths, contract.PathShape{Path: path, Type: contract.JSONType(kind)})
	}
	return s
}
