// Command capture is the action that captures probes of one release of one agent.
package main

import (
	"context"
	"errors"
	"os"

	"github.com/open-design/agent-cli-contracts/actions/internal/step"
	"github.com/open-design/agent-cli-contracts/internal/stage"
	"github.com/open-design/agent-cli-contracts/pkg/capture/mcpserver"
)

func main() {
	mcpserver.Main()
	os.Exit(step.Main(run))
}

const summary = `### {{code .Agent}} {{code .Version}}

| probe | shape | exit | runs | remarks |
|---|---|---|---|---|
{{range .Probes}}| {{code .Probe}} | {{if .Signature}}{{code .Signature}}{{else}}no observation{{end}} | {{code .Exit}} | {{if .Runs}}{{.Runs}}{{end}} | {{with .Verdict}}{{code .}} {{end}}{{code .Error}}{{range .Findings}}{{code .}} {{end}} |
{{end}}`

func run(ctx context.Context, s *step.Step) (err error) {
	req, err := request(s)
	if err != nil {
		return err
	}
	st, err := s.Open(s.Path("out", "out"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	report, err := st.Capture(ctx, req)
	if report == nil {
		return err
	}
	return errors.Join(err, publish(s, report))
}

func request(s *step.Step) (req stage.CaptureRequest, err error) {
	backend, backendErr := s.Enum("backend", "scripted", "live")
	selector, selectorErr := s.Required("selector")
	repeat, repeatErr := s.Int("repeat", 1)
	isolate, isolationErr := s.Enum("isolation", "required", "off")
	req = stage.CaptureRequest{Selector: selector, Probes: s.List("probes"), Mode: s.GetInput("mode"), Repeat: repeat, Bin: s.Path("bin", ""), NoIsolation: isolate == "off", Backend: backend}
	return req, errors.Join(selectorErr, backendErr, repeatErr, isolationErr)
}

// publish sets the outputs and the summary.
func publish(s *step.Step, report *stage.CaptureReport) error {
	observations, missing := []string{}, []string{}
	for _, p := range report.Probes {
		if p.Observation == "" {
			missing = append(missing, string(p.Probe))
		} else {
			observations = append(observations, string(p.Observation))
		}
	}
	s.SetOutput("agent", string(report.Agent))
	s.SetOutput("cli-version", string(report.Version))
	return errors.Join(s.SetJSON("observations", observations), s.SetJSON("missing", missing), s.AddStepSummaryTemplate(summary, report))
}
