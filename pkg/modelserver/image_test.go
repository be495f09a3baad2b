package modelserver

import (
	"strings"
	"testing"
)

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="

func TestHasImage(t *testing.T) {
	tests := map[string]struct {
		body string
		want bool
	}{
		"responses":               {`{"input":[{"content":[{"type":"input_image","image_url":"data:image/png;base64,DOT"}]}]}`, true},
		"chat":                    {`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,DOT","detail":"auto"}}]}]}`, true},
		"messages":                {`{"messages":[{"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"DOT"}}]}]}`, true},
		"messages, as a tool's":   {`{"messages":[{"content":[{"type":"tool_result","content":[{"type":"image","source":{"data":"DOT"}}]}]}]}`, true},
		"generate":                {`{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"DOT"}}]}]}`, true},
		"generate, other writing": {`{"contents":[{"parts":[{"inline_data":{"mime_type":"image/jpeg","data":"/9j/4AAQ"}}]}]}`, true},
		"escaped slashes":         {`{"contents":[{"parts":[{"inlineData":{"data":"\/9j\/4AAQ"}}]}]}`, true},
		"base64 as text":          {`{"messages":[{"content":[{"type":"text","text":"DOT"}]}]}`, false},
		"a link":                  {`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"https://example.com/dot.png"}}]}]}`, false},
		"a name":                  {`{"messages":[{"content":[{"type":"image","source":{"data":"dot.png"}},{"type":"text","text":"DOT"}]}]}`, false},
		"no base64":               {`{"messages":[{"content":[{"type":"image","source":{"data":"DOT!"}}]}]}`, false},
		"no JSON":                 {`{"type":"image","data":"DOT"`, false},
		"nothing":                 {`{}`, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := hasImage([]byte(strings.ReplaceAll(tt.body, "DOT", dot))); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// Only a script that expects images has them counted.
func TestImagesAreCounted(t *testing.T) {
	for expects, want := range map[string]int{"": 0, "image": 1} {
		cfg := testConfig(text)
		cfg.Script.Expects = expects
		s, base := start(t, cfg)
		ask(t, base, `{"model":"m","input":[{"content":[{"type":"input_image","image_url":"data:image/png;base64,`+dot+`"}]}]}`)
		ask(t, base, `{"model":"m","input":[]}`)
		if got := s.Report().Images; got != want {
			t.Errorf("expects %q: %d images, want %d", expects, got, want)
		}
	}
}

func FuzzHasImage(f *testing.F) {
	f.Add([]byte(`{"type":"image","source":{"data":"` + dot + `"}}`))
	f.Add([]byte(`[{"inlineData":["/9j/"]}]`))
	f.Fuzz(func(_ *testing.T, body []byte) { hasImage(body) })
}
