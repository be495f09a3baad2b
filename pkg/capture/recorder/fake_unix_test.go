//go:build unix

package recorder

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The test binary is all three processes besides the host: the recorder, its keeper and the agent.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 {
		os.Exit(m.Run())
	}
	switch os.Args[1] {
	case "record":
		os.Exit(fakeRecord(os.Args[2], os.Args[3]))
	case "keep":
		Keep(os.Args[2], func(r Recording) { writeReport(os.Args[2], r) })
	case "agent":
		fakeAgent(os.Args[2])
	default:
		os.Exit(m.Run())
	}
}

// fakeRecord does what a recording program does: it ends as the agent ended.
func fakeRecord(dir, agent string) int {
	exe, err := os.Executable()
	if err != nil {
		return 99
	}
	keeper := exec.Command(exe, "keep", dir)
	if dir == "no keeper" {
		keeper = exec.Command("/nonexistent/keeper")
	}
	exit, err := Run(Agent{Path: exe, Args: []string{"agent", agent}, Keeper: keeper, Wait: dir != "no keeper" && agent != "leave a child"})
	if err != nil {
		return 99
	}
	if exit.Signal != "" {
		_ = EndBy(exit.Signal)
	}
	return exit.Code
}

// writeReport leaves what was recorded for the test: the bundle, or the error.
func writeReport(dir string, r Recording) {
	if r.Err != nil {
		_ = os.WriteFile(dir+".error", []byte(r.Err.Error()), 0o600)
		return
	}
	if r.Raw.Len() > 100 {
		return // the tests of many bytes compare what the host got
	}
	var out bytes.Buffer
	_ = r.Raw.WriteBundle(&out)
	_ = os.WriteFile(dir+"/bundle", out.Bytes(), 0o600)
}

func fakeAgent(what string) {
	switch what {
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "count":
		n, _ := io.Copy(io.Discard, os.Stdin)
		fmt.Println(n)
	case "flood":
		buf := bytes.Repeat([]byte("0123456789abcdef"), 4096)
		for range 1 << 14 {
			if _, err := os.Stdout.Write(buf); err != nil {
				os.Exit(5)
			}
		}
	case "die":
		_ = EndBy("SIGABRT")
	case "trap":
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		fmt.Println("ready")
		<-term
		fmt.Println("terminated")
		os.Exit(7)
	case "hang":
		fmt.Println(os.Getpid())
		time.Sleep(time.Minute)
	case "blocked":
		// Says on standard error how much standard output took while nobody read it.
		var taken atomic.Int64
		go func() {
			for {
				n, _ := os.Stdout.Write(make([]byte, 4096))
				taken.Add(int64(n))
			}
		}()
		time.Sleep(300 * time.Millisecond)
		fmt.Fprintln(os.Stderr, taken.Load())
	case "deaf":
		_ = os.Stdin.Close()
		fmt.Println("deaf")
		time.Sleep(200 * time.Millisecond)
	case "refuse":
		os.Exit(3)
	case "binary":
		_, _ = os.Stdout.Write([]byte("\xff\xfe\x00 half \xe2\x82"))
		_, _ = os.Stderr.Write([]byte("\x80\n"))
	case "leave a child":
		exe, _ := os.Executable()
		child := exec.Command(exe, "agent", "late")
		child.Stdout = os.Stdout
		_ = child.Start()
		fmt.Println("early")
	case "late":
		time.Sleep(500 * time.Millisecond)
		fmt.Println("late")
	}
}
