package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// place is one place of a transcript at which a written secret may stand.
type place struct {
	name  string
	plant func(s string, rng *rand.Rand) []transcript.Entry
	// words says that any identifier may stand there; cut, that the value is cut into words first.
	words, cut bool
}

func chunk(stream contract.StreamName, data string) transcript.Entry {
	return transcript.Entry{Dir: contract.CLIToServer, Stream: stream, Data: []byte(data)}
}

func onStdout(data string) []transcript.Entry {
	return []transcript.Entry{chunk(contract.Stdout, data)}
}
func onStderr(data string) []transcript.Entry {
	return []transcript.Entry{chunk(contract.Stderr, data)}
}

// frame puts a secret into a frame as a JSON string. %s in the format stands for it, quotes included.
func frame(format string) func(string, *rand.Rand) []transcript.Entry {
	return func(s string, _ *rand.Rand) []transcript.Entry {
		return onStdout(strings.ReplaceAll(format, "%s", jsonString(s)) + "\n")
	}
}

func jsonString(s string) string {
	data, _ := json.Marshal(strings.ToValidUTF8(s, "?")) // a string always encodes
	return string(data)
}

func pieces(s string, n int) []string {
	var out []string
	for len(s) > 0 {
		k := min(n, len(s))
		for k < len(s) && !utf8.RuneStart(s[k]) {
			k++
		}
		out, s = append(out, s[:k]), s[k:]
	}
	return out
}

// framesOf gives one frame for each piece.
func framesOf(format string, n int) func(string, *rand.Rand) []transcript.Entry {
	return func(s string, _ *rand.Rand) []transcript.Entry {
		var out []transcript.Entry
		for _, piece := range pieces(s, n) {
			out = append(out, onStdout(strings.ReplaceAll(format, "%s", jsonString(piece))+"\n")...)
		}
		return out
	}
}

func cut(stream contract.StreamName, before, after string) func(string, *rand.Rand) []transcript.Entry {
	return func(s string, rng *rand.Rand) []transcript.Entry {
		if stream == contract.Stdout && before != "" {
			s = jsonString(s)
		}
		var out []transcript.Entry
		for _, piece := range pieces(before+s+after+"\n", 1+rng.IntN(7)) {
			out = append(out, chunk(stream, piece))
		}
		return out
	}
}

// hole puts the secret into the hole of a template of a random type.
func hole(wrap func(string) []transcript.Entry) func(string, *rand.Rand) []transcript.Entry {
	return func(s string, rng *rand.Rand) []transcript.Entry {
		kinds := contract.HoleTypes()
		return wrap("the " + kinds[rng.IntN(len(kinds))] + " " + s + " was refused")
	}
}

var notDigit = regexp.MustCompile(`[^0-9]+`)

// number gives the secret as a number.
func number(format string) func(string, *rand.Rand) []transcript.Entry {
	return func(s string, _ *rand.Rand) []transcript.Entry {
		d := strings.TrimLeft(notDigit.ReplaceAllString(s, ""), "0")
		return onStdout(strings.ReplaceAll(format, "%s", "1"+d) + "\n")
	}
}

// plainPlaces are those of output that is text.
var plainPlaces = []place{
	{name: "line", plant: func(s string, _ *rand.Rand) []transcript.Entry { return onStdout(s + "\n") }},
	{name: "in a line", plant: func(s string, _ *rand.Rand) []transcript.Entry { return onStdout("the value is " + s + ", so\n") }},
	{name: "version output", plant: func(s string, _ *rand.Rand) []transcript.Entry { return onStdout("fake-cli " + s + "\n") }},
	{name: "version prerelease", plant: func(s string, _ *rand.Rand) []transcript.Entry { return onStdout("fake-cli 1.2.3-" + s + "\n") }},
	{name: "behind a literal", plant: func(s string, _ *rand.Rand) []transcript.Entry { return onStdout(leakPrompt + s + "\n") }},
	{name: "last line", plant: func(s string, _ *rand.Rand) []transcript.Entry { return onStdout(s) }},
	{name: "stderr line", plant: func(s string, _ *rand.Rand) []transcript.Entry { return onStderr("error: " + s + "\n") }},
	{name: "stderr template", plant: hole(func(s string) []transcript.Entry { return onStderr(s + "\n") })},
	{name: "stdout template", plant: hole(func(s string) []transcript.Entry { return onStdout(s + "\n") })},
	{name: "stderr chunks", plant: cut(contract.Stderr, "", "")},
	{name: "stdout chunks", plant: cut(contract.Stdout, "", "")},
	{name: "invalid bytes", plant: func(s string, _ *rand.Rand) []transcript.Entry { return onStdout("\xff" + s + "\xfe\n") }},
	{name: "wrapped lines", plant: func(s string, _ *rand.Rand) []transcript.Entry {
		return onStdout(strings.Join(pieces(s, 9), "\n") + "\n")
	}},
	{name: "stderr wrapped lines", plant: func(s string, _ *rand.Rand) []transcript.Entry {
		return onStderr(strings.Join(pieces(s, 9), "\r\n") + "\n")
	}},
	{name: "stdin", plant: func(s string, _ *rand.Rand) []transcript.Entry {
		return []transcript.Entry{{Dir: contract.ServerToCLI, Stream: contract.Stdin, Data: []byte(s)}}
	}},
	{name: "stdin reference", plant: func(s string, _ *rand.Rand) []transcript.Entry {
		return []transcript.Entry{{Dir: contract.ServerToCLI, Stream: contract.Stdin, Ref: "fixture:" + s}}
	}},
}

// jsonPlaces are those of output that is JSON, the plain ones included: a CLI may print anything.
var jsonPlaces = append([]place{
	{name: "leaf", plant: frame(`{"type":"text","text":%s}`)},
	{name: "leaf of a known name", plant: frame(`{"type":"text","api_key":%s,"token":%s,"password":%s}`)},
	{name: "root", plant: frame(`%s`)},
	{name: "array", plant: frame(`{"type":"text","list":[%s,[%s]]}`)},
	{name: "key", words: true, plant: frame(`{"type":"text",%s:1}`)},
	{name: "key above", words: true, plant: frame(`{"type":"text",%s:{"/home/x y":1}}`)},
	{name: "opaque", plant: frame(`{"type":"tool","item":{"type":"call","input":{"command":%s}}}`)},
	{name: "opaque key", words: true, plant: frame(`{"type":"tool","item":{"type":"call","input":{%s:1}}}`)},
	{name: "opaque star", plant: frame(`{"type":"tool","tool":{"type":%s,"id":%s}}`)},
	{name: "map key", plant: frame(`{"type":"text","map":{%s:{"status":"ok"}}}`)},
	{name: "map value", plant: frame(`{"type":"text","map":{"a":%s}}`)},
	{name: "type", words: true, plant: frame(`{"type":%s}`)},
	{name: "item type", words: true, plant: frame(`{"type":"item","item":{"type":%s}}`)},
	{name: "status", words: true, plant: frame(`{"type":"text","status":%s,"role":%s,"kind":%s,"method":%s,"subtype":%s}`)},
	{name: "declared enum", plant: frame(`{"type":"text","mode":%s}`)},
	{name: "id", plant: frame(`{"type":"text","session_id":%s,"session":%s,"id":%s}`)},
	{name: "base64 place", plant: func(s string, _ *rand.Rand) []transcript.Entry {
		return onStdout(`{"type":"text","chunk":"` + base64.StdEncoding.EncodeToString([]byte(s)) + "\"}\n")
	}},
	{name: "union variant", words: true, plant: frame(`{"type":"text","content":[{"type":%s,"n":1}]}`)},
	{name: "diagnostic", plant: frame(`{"type":"error","error":{"message":%s}}`)},
	{name: "diagnostic template", plant: hole(func(s string) []transcript.Entry {
		return onStdout(`{"type":"error","error":{"message":` + jsonString(s) + "}}\n")
	})},
	{name: "file name", plant: func(s string, _ *rand.Rand) []transcript.Entry {
		return onStdout(`{"type":"text","path":` + jsonString("/srv/run/work/"+s+".md") + `,"home":` + jsonString(`/srv/run/home/`+s) + "}\n")
	}},
	{name: "number", plant: number(`{"type":"text","n":%s,"x":-0.%s}`)},
	{name: "declared number", plant: number(`{"type":"text","usage":{"n":%s}}`)},
	{name: "noise line", plant: func(s string, _ *rand.Rand) []transcript.Entry {
		return onStdout("{\"type\":\"start\"}\n" + s + "\n{\"type\":\"end\"}\n")
	}},
	{name: "in front of a frame", plant: func(s string, _ *rand.Rand) []transcript.Entry { return onStdout(s + "{\"type\":\"start\"}\n") }},
	{name: "behind a frame", plant: func(s string, _ *rand.Rand) []transcript.Entry { return onStdout("{\"type\":\"end\"}" + s + "\n") }},
	{name: "frame chunks", plant: cut(contract.Stdout, `{"type":"text","text":`, `}`)},
	{name: "deltas", plant: framesOf(`{"type":"delta","delta":%s}`, 3)},
	{name: "frames", plant: framesOf(`{"type":"text","text":%s}`, 5)},
	{name: "frames' types", words: true, cut: true, plant: framesOf(`{"type":%s}`, 4)},
	{name: "frames' statuses", words: true, cut: true, plant: framesOf(`{"type":"text","status":%s}`, 6)},
	{name: "frames' keys", words: true, cut: true, plant: framesOf(`{"type":"text",%s:1}`, 5)},
	{name: "a frame's keys", plant: func(s string, _ *rand.Rand) []transcript.Entry {
		line := `{"type":"text"`
		seen := map[string]bool{}
		for _, piece := range pieces(s, 6) {
			if !seen[piece] && piece != "type" {
				seen[piece] = true
				line += "," + jsonString(piece) + ":1"
			}
		}
		return onStdout(line + "}\n")
	}, words: true, cut: true},
	{name: "repaired frame", plant: func(s string, _ *rand.Rand) []transcript.Entry {
		return onStdout(`{"type":"text","text":"` + "\xff" + strings.Trim(jsonString(s), `"`) + "\"}\n")
	}},
	{name: "value of a duplicate key", plant: frame(`{"type":"text","text":"a","text":%s}`)},
}, plainPlaces...)
