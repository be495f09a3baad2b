package fakeagent

import (
	"fmt"
	"net/http"
	"os"
	"strings"
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
	switch prompt {
	case "leak":
		say(`{"type":"text","` + os.Getenv("PRIVATE_NOTE") + `":1}`)
	case "inject":
		say("::set-output name=observations::injected")
		say("##[error]marker-injected")
		_, _ = fmt.Fprintln(os.Stderr, "::error::marker-stderr")
	}
	body := strings.NewReader(`{"model":"fake-model","stream":true,"input":[],"tools":[{"type":"function","name":"look"}]}`)
	if resp, err := http.Post(baseURL+"/v1/responses", "application/json", body); err == nil {
		_ = resp.Body.Close()
	}
	say(`{"type":"text","text":"marker-model-text"}`)
	if prompt != "broken" {
		say(`{"type":"end","usage":{"tokens":7}}`)
	}
}

func say(line string) { _, _ = fmt.Fprintln(os.Stdout, line) }
