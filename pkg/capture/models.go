package capture

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/open-design/agent-cli-contracts/pkg/capture/modellist"
	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/transcript"
)

// idle is the script of a run in which nothing should ask a model: the server is there to be asked which models it has.
var idle = contract.Script{Requests: "optional", Steps: []contract.ScriptStep{{Empty: true, Repeat: true}}}

// listModels reads the ids of a listing, and puts them through the second gate: they become vocabulary, which is public.
func (c *Capturer) listModels(r *run) error {
	if r.mode.Models == nil {
		return nil
	}
	var stdout bytes.Buffer
	err := r.driven.raw.Each(func(e transcript.Entry) error {
		if e.Stream == contract.Stdout {
			stdout.Write(e.Data)
		}
		return nil
	})
	if err != nil {
		return err
	}
	list, err := modellist.Read(stdout.Bytes(), *r.mode.Models)
	if err != nil {
		return err
	}
	for i, id := range list.Models {
		if hits := r.place.scanner.Scan([]byte(id)); len(hits) > 0 {
			return &redact.Failure{
				Rule: "scan/" + hits[0].Rule, Path: fmt.Sprintf("$.shape.vocabulary.models[%d]", i),
				Remedy: "the id of a model matches a secret rule: the list cannot be published",
			}
		}
	}
	all := len(list.Models)
	r.listed = slices.DeleteFunc(list.Models, func(id string) bool {
		return slices.ContainsFunc(c.Known, func(k scan.Known) bool { return k.Value == id })
	})
	if n := list.Dropped + all - len(r.listed); n > 0 {
		r.findings = append(r.findings, fmt.Sprintf("%d entries of the list of models look like no public id and are left out", n))
	}
	if len(r.listed) == 0 {
		return &NoModelsError{Agent: r.target.Agent.ID, Exit: r.driven.exit}
	}
	return nil
}

// models are the ids that a run named: those it asked the model server for, and those it listed.
func (r *run) models() []string {
	all := slices.Concat(r.driven.report.Models, r.listed)
	slices.Sort(all)
	return slices.Compact(all)
}
