//go:build unix

package capture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/open-design/agent-cli-contracts/pkg/capture/mcpserver"
)

// The test binary is also the fake agent, so that every test here drives a real child process.
func TestMain(m *testing.M) {
	mcpserver.Main()
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "fake-") {
		fakeAgent(os.Args[1], os.Args[2:])
		return
	}
	os.Exit(m.Run())
}

// fakeAgent prints its version, or behaves as its prompt says.
func fakeAgent(verb string, args []string) {
	if verb == "fake-help" {
		fallback := os.Getenv("FAKE_DEFAULT")
		if fallback == "canary" {
			fallback = os.Getenv("PRIVATE_NOTE")
		}
		fmt.Println("Options:\n  -l, --look <DIR>  Look at " + os.Getenv("HOME") + " (default: " + fallback + ")")
		if len(args) > 0 {
			os.Exit(2)
		}
		return
	}
	if verb == "fake-models" {
		listModels(args)
		return
	}
	if verb == "fake-acp" {
		fakePeer(args[0])
		return
	}
	if verb == "fake-version" && len(args) > 0 {
		fmt.Println("fake-cli 1.2.3-" + os.Getenv("PRIVATE_NOTE"))
		return
	}
	if verb == "fake-version" {
		fmt.Println("fake-cli 1.2.3")
		return
	}
	if verb == "fake-live" {
		fakeLive(args[0])
		return
	}
	baseURL, prompt := args[0], args[1]
	fmt.Println(`{"type":"start","session_id":"s-` + fmt.Sprint(os.Getpid()) + `"}`)
	if where, ok := strings.CutPrefix(prompt, "leak at "); ok {
		leakAt(where, baseURL)
		return
	}
	if strings.HasPrefix(prompt, "see") {
		see(baseURL, prompt, args[2:])
		return
	}
	switch prompt {
	case "talk":
		talk(baseURL)
	case "talk twice":
		fmt.Println(`{"type":"text","text":"Hello."}`)
		talk(baseURL)
	case "extra field":
		fmt.Println(`{"type":"text","text":"Hello.","extra":1}`)
		talk(baseURL)
	case "silent":
		return
	case "look around":
		note, _ := os.ReadFile(os.Getenv("HOME") + "/settings.json")
		fmt.Printf(`{"type":"text","text":"Hello.","spoilt":%t,"extra":%t,"trusted":%t}`+"\n",
			!strings.HasPrefix(string(note), "{"), slices.Contains(args, "--extra"), slices.Contains(args, "--trust"))
		talk(baseURL)
	case "use mcp":
		fmt.Printf(`{"type":"text","text":"Hello.","answered":%t,"tool":"lookup"}`+"\n", strings.Contains(askMCP(), mcpserver.Answer))
		talk(baseURL)
	case "again":
		var said []string
		note := os.Getenv("HOME") + "/session"
		id, _ := os.ReadFile(note)
		_ = os.WriteFile(note, fmt.Appendf(nil, "s-%d", os.Getpid()), 0o600)
		resumed := len(id) > 0 && (slices.Contains(args, "--resume="+string(id)) || slices.Contains(args, "--resume=latest"))
		fmt.Printf(`{"type":"text","text":"Hello.","resumed":%t}`+"\n", resumed)
		if resumed {
			said = []string{"Hello."}
		}
		talk(baseURL, said...)
	case "wait":
		fmt.Println(`{"type":"text","text":"Hello."}`)
		time.Sleep(time.Hour)
	case "leak canary":
		note, _ := os.ReadFile(os.Getenv("HOME") + "/.private-note")
		fmt.Printf(`{"type":"%s"}`+"\n", strings.TrimSpace(string(note)))
	case "leak as key":
		fmt.Printf(`{"type":"text","%s":1}`+"\n", os.Getenv("PRIVATE_NOTE"))
	case "odd names":
		for _, name := range oddNames {
			body := fmt.Sprintf(`{"model":%q,"stream":true,"input":[],"tools":[{"type":"function","name":%q}]}`, name, name)
			if resp, err := http.Post(baseURL+"/v1/responses", "application/json", strings.NewReader(body)); err == nil {
				_ = resp.Body.Close()
			}
			fmt.Printf("{\"type\":\"text\",\"text\":%q}\n", name)
		}
		talk(baseURL)
	case "reach out":
		_, _ = net.DialTimeout("tcp", "8.8.8.8:53", time.Second)
		_, _ = net.LookupHost("telemetry.vendor.example")
		talk(baseURL)
	case "hold":
		_, _ = bufio.NewReader(os.Stdin).ReadString('\x00')
		time.Sleep(time.Hour) // an empty select is a deadlock, which ends the process
	case "ignore term":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		time.Sleep(time.Hour) // an empty select is a deadlock, which ends the process
	case "crash":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute)
	case "binary":
		_, _ = os.Stdout.Write([]byte("\xff\xfe\x00\x01 not text\n{\"type\":\"text\",\"text\":\"\xff\"}\n\x00\x00\x00\n"))
		talk(baseURL)
	case "long line":
		_, _ = os.Stdout.Write([]byte(`{"type":"text","text":"`))
		_, _ = os.Stdout.Write(bytes.Repeat([]byte("x"), 50<<20))
		fmt.Println(`"}`)
		talk(baseURL)
	case "flood":
		chunk := bytes.Repeat([]byte("flood "), 20_000)
		for {
			if _, err := os.Stdout.Write(chunk); err != nil {
				return
			}
		}
	case "many frames":
		chunk := bytes.Repeat([]byte("{\"type\":\"text\"}\n"), 1000)
		for range 1100 {
			_, _ = os.Stdout.Write(chunk)
		}
		talk(baseURL)
	case "eat":
		talk(baseURL)
		all := make([]byte, 240<<20)
		for i := 0; i < len(all); i += 4096 {
			all[i] = 1
		}
		time.Sleep(time.Minute) // until the box is ended where memory is sampled
	case "burn":
		burn()
		talk(baseURL)
	case "daemon":
		daemon()
		talk(baseURL)
	}
}

// askMCP calls the tool of the MCP server that the run was given, and gives all that the server said.
func askMCP() string {
	cmd := exec.Command(os.Getenv("FAKE_MCP"))
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + mcpserver.Tool + `","arguments":{"key":"answer"}}}` + "\n")
	out, err := cmd.Output()
	note, _ := os.ReadFile(os.Getenv("HOME") + "/mcp.json")
	if err != nil || !strings.Contains(string(note), os.Getenv("FAKE_MCP")) || !slices.Contains(os.Args, "--mcp") {
		return ""
	}
	return string(out)
}

// burn works for about a second and prints on the way what an agent may print in that time.
func burn() {
	x := uint64(88172645463325252)
	for i := range 100 {
		for range 6_000_000 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
		fmt.Printf(`{"type":"text","text":"step %d %s","n":%d}`+"\n", i, strings.Repeat("words ", 200), x%1000)
	}
}

// talk makes one model request and prints the turn's end.
func talk(baseURL string, said ...string) {
	history := []map[string]string{}
	for _, text := range said {
		history = append(history, map[string]string{"role": "assistant", "content": text})
	}
	if len(os.Args) > 3 {
		history = append(history, map[string]string{"role": "user", "content": os.Args[3]})
	}
	input, _ := json.Marshal(history)
	body := strings.NewReader(`{"model":"fake-model","stream":true,"input":` + string(input) + `,"tools":[{"type":"function","name":"look"}]}`)
	resp, err := http.Post(baseURL+"/v1/responses", "application/json", body)
	if err == nil {
		_ = resp.Body.Close()
	}
	fmt.Println(`{"type":"text","text":"Hello."}`)
	fmt.Println(`{"type":"end","usage":{"tokens":7},"took_ms":` + fmt.Sprint(time.Now().UnixNano()%1000) + `}`)
}
