package fakeagent

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Main is the main function of a small agent CLI: "fake-agent --version", or "fake-agent exec BASE_URL PROMPT". It
// speaks to the scripted model server and prints what its prompt asks for, including what must never leave a run.
func Main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		say("fake-cli 1.2.3")
		return
	}
	if len(os.Args) != 4 {
		os.Exit(64)
	}
	baseURL, prompt := os.Args[2], os.Args[3]
	say(`{"type":"start","session_id":"marker-session-id"}`)
	if dir, ok := strings.CutPrefix(prompt, "meet "); ok && !meet(dir) {
		return
	}
	switch prompt {
	case "hang":
		time.Sleep(time.Hour)
	case "leak":
		say(`{"type":"text","` + os.Getenv("PRIVATE_NOTE") + `":1}`)
	case "inject":
		say("::set-output name=observations::injected")
		say("##[error]marker-injected")
		_, _ = fmt.Fprintln(os.Stderr, "::error::marker-stderr")
	}
	model, tool := "fake-model", "look"
	if where, ok := strings.CutPrefix(prompt, "leak at "); ok {
		leak(where, &model, &tool)
	}
	body := strings.NewReader(fmt.Sprintf(`{"model":%q,"stream":true,"input":[{"role":"user","content":%q}],"tools":[{"type":"function","name":%q}]}`, model, prompt, tool))
	if resp, err := http.Post(baseURL+"/v1/responses", "application/json", body); err == nil {
		_ = resp.Body.Close()
	}
	say(`{"type":"text","text":"marker-model-text"}`)
	if prompt != "broken" {
		say(`{"type":"end","usage":{"tokens":7}}`)
	}
}

// leak prints what its environment holds at one place of its output, or says it to the model server.
func leak(where string, model, tool *string) {
	secret := os.Getenv("PRIVATE_NOTE")
	switch where {
	case "model":
		*model = secret
	case "tool":
		*tool = secret
	case "type":
		say(`{"type":"` + secret + `"}`)
	case "text":
		say(`{"type":"text","text":"` + secret + `"}`)
	case "noise":
		say("note: " + secret)
	case "encoded":
		say(`{"type":"text","text":"` + base64.StdEncoding.EncodeToString([]byte(secret)) + `"}`)
	case "stderr":
		_, _ = fmt.Fprintln(os.Stderr, "error: "+secret)
	case "file name":
		_ = os.WriteFile(secret, nil, 0o600)
	}
}

// meet waits for another agent that is told to meet in dir, and reports whether it came.
func meet(dir string) bool {
	if os.WriteFile(filepath.Join(dir, strconv.Itoa(os.Getpid())), nil, 0o600) != nil {
		return false
	}
	for range 1000 {
		if here, err := os.ReadDir(dir); err == nil && len(here) > 1 {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

func say(line string) { _, _ = fmt.Fprintln(os.Stdout, line) }
