package scan

import (
	"encoding/base64"
	"fmt"
	"testing"
)

// benchLines are distinct clean lines, as a streaming protocol prints them: inner JSON in a transcript entry.
func benchLines(n int) (lines [][]byte, size int) {
	for i := range n {
		line := fmt.Appendf(nil, `{"dir":"server->client","stream":"stdout","at_ms":%d,"data":"{\"type\":\"message_update\",\"session_id\":\"<id:%d>\",\"index\":%d,`+
			`\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"<id:%d>\",\"name\":\"Read\",\"input\":{\"file_path\":\"<path>\"}}],`+
			`\"usage\":{\"input_tokens\":0,\"cache_creation_input_tokens\":0,\"output_tokens\":0,\"service_tier\":\"standard\"}},\"parent_tool_use_id\":null,`+
			`\"step\":\"step-%d\",\"uuid\":\"00000000-0000-4000-8000-000000000001\"}\n"}`, i, i, i, i%7, i*31)
		lines, size = append(lines, line), size+len(line)
	}
	return lines, size
}

func benchmark(b *testing.B, lines [][]byte, size int, scan func([]byte) []Hit) {
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			if hits := scan(line); hits != nil {
				b.Fatal(hits)
			}
		}
	}
}

func benchScanner(b *testing.B) *Scanner {
	cfg := Config{Known: []Known{{Value: "fakeuser", Kind: "user", TokenOnly: true}, {Value: "/srv/fake/work", Kind: "cwd"}}}
	for i := range 12 {
		cfg.Canaries = append(cfg.Canaries, fmt.Sprintf("canary-%02d-FAKE-7Q2Z", i))
	}
	return newScanner(b, cfg)
}

// BenchmarkRepeated is the common case: lines seen before, but for placeholder numbers.
func BenchmarkRepeated(b *testing.B) {
	lines, size := benchLines(1)
	benchmark(b, lines, size, benchScanner(b).Line)
}

// BenchmarkDistinct is the first sight of each line.
func BenchmarkDistinct(b *testing.B) {
	lines, size := benchLines(500)
	benchmark(b, lines, size, benchScanner(b).Scan)
}

// BenchmarkBlob is the same as one file.
func BenchmarkBlob(b *testing.B) {
	lines, size := benchLines(500)
	var blob []byte
	for _, l := range lines {
		blob = append(append(blob, l...), '\n')
	}
	benchmark(b, [][]byte{blob}, size, benchScanner(b).Scan)
}

// BenchmarkDecoded is text in base64 inside of JSON: every byte is looked at in five forms.
func BenchmarkDecoded(b *testing.B) {
	lines, size := benchLines(100)
	for i, l := range lines {
		lines[i] = []byte(`{"data":"` + base64.StdEncoding.EncodeToString(l) + `\n"}`)
		size += len(lines[i]) - len(l)
	}
	benchmark(b, lines, size, benchScanner(b).Scan)
}
