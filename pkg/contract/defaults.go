package contract

func (o *Observation) applyDefaults() {
	if o.Capture.Backend == "" {
		o.Capture.Backend = BackendLive
	}
	if o.ParserReplay == nil {
		o.ParserReplay = &ParserReplay{}
	}
	if o.ParserReplay.Status == "" {
		o.ParserReplay.Status = ReplayNotRun
	}
}

func (s *SourceEvidence) applyDefaults() {
	if s.CLIVersion == "" {
		s.CLIVersion = "unknown"
	}
}

func (s *Shape) applyDefaults() {
	if s.StderrClass == "" {
		s.StderrClass = StderrNone
	}
}

func (m *SupportMatrix) applyDefaults() {
	for i := range m.Agents {
		e := &m.Agents[i]
		if e.ServerVariants == nil {
			e.ServerVariants = []VariantClaim{}
		}
		if e.KnownBreakingShapes == nil {
			e.KnownBreakingShapes = []BreakingShape{}
		}
		if e.Notes == nil {
			e.Notes = []string{}
		}
		if e.Policy == nil {
			e.Policy = &Policy{}
		}
		if e.Policy.AllowRun == "" {
			e.Policy.AllowRun = e.SupportStatus.DefaultAllowRun()
		}
		for j := range e.ObservedShapes {
			if s := &e.ObservedShapes[j]; s.Backends == nil {
				s.Backends = []Backend{BackendLive}
			}
		}
	}
}

func (e *ErrorCase) applyDefaults() {
	if e.ClassifierInput.Events == nil {
		e.ClassifierInput.Events = []ClassifierEvent{}
	}
}

func (a *Agent) applyDefaults() {
	if a.FreshnessDays == 0 {
		a.FreshnessDays = 14
	}
	if a.RangePolicy == "" {
		a.RangePolicy = RangeExact
	}
}

func (p *Probe) applyDefaults() {
	if p.Expected != nil {
		p.Expected.applyDefaults()
	}
	if p.EnvPolicy != nil {
		p.EnvPolicy.applyDefaults()
	}
	if p.Script != nil {
		p.Script.applyDefaults()
	}
	if p.Host != nil {
		p.Host.applyDefaults()
	}
}

// applyDefaults fills in limits; those of a part never exceed the total.
func (m *MinEvents) applyDefaults() {
	if m.Kind == "" {
		m.Kind = "run"
	}
	limits := TimeLimits{}
	if m.TimeLimits != nil {
		limits = *m.TimeLimits
	}
	if limits.Total == 0 {
		limits.Total = 120
	}
	if limits.FirstByte == 0 {
		limits.FirstByte = min(60, limits.Total)
	}
	if limits.Inactivity == 0 {
		limits.Inactivity = min(60, limits.Total)
	}
	m.TimeLimits = &limits
}

func (e *EnvPolicy) applyDefaults() {
	if e.CredentialFiles == "" {
		e.CredentialFiles = "keep"
	}
}

func (h *HostPolicy) applyDefaults() {
	if h.Permission == "" {
		h.Permission = PermissionAllow
	}
}

func (s *Script) applyDefaults() {
	if s.Requests == "" {
		s.Requests = "required"
	}
}
