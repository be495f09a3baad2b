package contract

import "slices"

// CheckShape checks an observation against the shape that it names. The file is the observation's.
func CheckShape(file string, o Observation, s Shape) Problems {
	p := pairCheck{file: file}
	p.must("observation/shape", "/shape/signature", o.Shape.Signature == s.Signature, "the signature is not that of the shape", "name the shape that the run gave")
	p.must("observation/shape", "/protocol_family", o.ProtocolFamily == s.ProtocolFamily, "the family is not that of the shape", "name the shape that the run gave")
	stdout := slices.ContainsFunc(s.FrameShapes, func(f FrameShape) bool { return f.Stream == FrameStream(Stdout) })
	p.must("observation/stdout-hash", "/capture/raw_stdout_sha256", o.Capture.RawStdoutSHA256 != nil || s.ProtocolFamily.IsRPC() || !stdout,
		"the shape has frames on standard output, whose hash is missing", "add the SHA-256 of the raw bytes of standard output")
	silent := s.StderrClass == "" || s.StderrClass == StderrNone
	p.must("observation/stderr-hash", "/capture/raw_stderr_sha256", o.Capture.RawStderrSHA256 != nil || silent,
		"the shape has a class of standard error, whose hash is missing", "add the SHA-256 of the raw bytes of standard error")
	return p.problems.Sort()
}

// CheckEvidence checks the evidence record of an observation against it. The file is the evidence record's.
func CheckEvidence(file string, e Evidence, o Observation) Problems {
	p := pairCheck{file: file}
	const remedy = "write what the observation says"
	p.must("evidence/raw-hash", "/raw_sha256", e.RawSHA256 == o.Capture.RawClientTranscriptSHA256, "the hash is not that of the observation's raw transcript", remedy)
	p.must("evidence/run", "/runner", e.Runner == o.Capture.Runner, "the runner is not the observation's", remedy)
	p.must("evidence/run", "/workflow_run_url", equal(e.WorkflowRunURL, o.Capture.WorkflowRunURL), "the workflow run is not the observation's", remedy)
	p.must("evidence/run", "/binary_sha256", equal(e.BinarySHA256, o.Install.BinarySHA256), "the binary is not the observation's", remedy)
	p.must("evidence/run", "/versions/redaction", e.Versions.Redaction == o.Redaction.ToolVersion, "the redaction is not the observation's", remedy)
	discarded := o.Capture.RawArtifactVisibility == RawDiscarded
	p.must("evidence/retention", "/retention_days", discarded == (e.RetentionDays == 0), "the time that the raw bundle is kept does not agree with what became of it", "write 0 exactly when the observation says discarded_after_redaction")
	if n := len(e.Promotions); n > 0 {
		p.must("evidence/level", pointer("promotions", n-1, "to"), e.Promotions[n-1].To == o.ValidityLevel, "the newest promotion is not the level of the observation", "promote both records together")
	}
	return p.problems.Sort()
}

type pairCheck struct {
	file     string
	problems Problems
}

func (p *pairCheck) must(rule, at string, ok bool, message, remedy string) {
	if !ok {
		p.problems = append(p.problems, Problem{p.file, 0, at, rule, message, remedy})
	}
}

func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
