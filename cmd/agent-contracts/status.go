package main

import (
	"context"
	"errors"
)

type statusCmd struct {
	Machine bool `help:"What this machine can do: isolation, npm, disk." required:""`
}

func (c *statusCmd) Help() string {
	return `Exit codes: 0 captures work here, 1 something that they need is missing, 2 could not tell.

Example:
  agent-contracts status --machine`
}

func (c *statusCmd) Run(ctx context.Context, a *app) (err error) {
	s, err := a.open("")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	m, err := s.Machine(ctx)
	if m == nil {
		return err
	}
	return errors.Join(err, a.print(m, func() {
		for _, check := range m.Checks {
			a.printf("%-8s %-21s %s\n", check.State, check.Name, check.Detail)
			if check.Remedy != "" {
				a.printf("%-8s %-21s → %s\n", "", "", check.Remedy)
			}
		}
	}))
}
