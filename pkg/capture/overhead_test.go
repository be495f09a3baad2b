//go:build unix

package capture

import (
	"fmt"
	"io"
	"math"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/open-design/agent-cli-contracts/internal/usage"
	"github.com/open-design/agent-cli-contracts/pkg/modelserver"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// BenchmarkOverhead compares captures with bare runs: of a child that works for about a second, and of one that does next to
// nothing, which shows what is added where a busy machine makes a second's work cost more one time than another.
func BenchmarkOverhead(b *testing.B) {
	for _, prompt := range []string{"burn", "talk"} {
		for _, isolate := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/isolate=%t", prompt, isolate), func(b *testing.B) {
				target := fakeTarget(b, prompt)
				target.Probe.Expected.TimeLimits = nil // a busy machine may be slow
				overhead(b, newCapturer(b, isolate), target)
			})
		}
	}
}

// overhead runs the target bare and captured in turn, and reports by how much the fastest capture is slower, and how
// much more CPU time the leanest one takes.
func overhead(b *testing.B, c *Capturer, target Target) {
	if err := c.Prepare(b.Context(), target); err != nil {
		b.Fatal(err)
	}
	wall, cpu := [2]time.Duration{math.MaxInt64, math.MaxInt64}, [2]time.Duration{math.MaxInt64, math.MaxInt64}
	measure := func(i int, run func()) {
		start, spent := time.Now(), usage.CPU()+usage.Children()
		run()
		wall[i], cpu[i] = min(wall[i], time.Since(start)), min(cpu[i], usage.CPU()+usage.Children()-spent)
	}
	for b.Loop() {
		bare(b, c, target, func(run func()) { measure(0, run) })
		measure(1, func() {
			if _, err := c.Capture(b.Context(), target); err != nil {
				b.Fatal(err)
			}
		})
	}
	b.ReportMetric(float64(wall[0].Milliseconds()), "bare-ms")
	b.ReportMetric(float64((cpu[1]-cpu[0]).Microseconds())/1000, "extra-cpu-ms")
	b.ReportMetric(100*(wall[1].Seconds()/wall[0].Seconds()-1), "overhead-%")
	b.ReportMetric(100*(cpu[1].Seconds()/cpu[0].Seconds()-1), "cpu-overhead-%")
}

// bare starts what a capture would start: same command, environment, files and model server, and nothing around it.
func bare(b *testing.B, c *Capturer, target Target, measure func(run func())) {
	check := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	exe, err := c.ready(b.Context(), target)
	check(err)
	mode, err := c.resolve(target)
	check(err)
	f, err := c.newFolder()
	check(err)
	defer f.remove() //nolint:errcheck // of the test
	api, _ := registry.ModelAPI(target.Agent, target.Version)
	server, err := modelserver.New(modelserver.Config{
		Script: *target.Probe.Script, Tools: mode.Tools, Side: mode.Side, Vars: map[string]string{"cwd": f.cwd, "home": f.home}, Dialect: api.Dialect, Model: api.Model,
		Created: c.Now().Unix(), Prefix: f.prefix, Canary: f.canaries[canaryModelServer],
	})
	check(err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go server.Serve(listener) //nolint:errcheck // it ends with Close
	defer server.Close()      //nolint:errcheck // of the test
	vars := f.vars(server.BaseURL(listener.Addr()), api.Model, strings.TrimRight(target.Probe.Prompt, "\n"), nil)
	check(f.plant(target.Probe))
	check(f.reserve(homeFiles(target, mode)))
	check(f.fill(homeFiles(target, mode), vars, false))
	path, args, search := exe.command(expandAll(mode.Argv, vars))
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Dir = f.environment(target, mode, vars, search, "", c.Getenv), f.cwd
	cmd.Stdout, cmd.Stderr = io.Discard, io.Discard // by a pipe that is read, as a host has it
	measure(func() { check(cmd.Run()) })
}
