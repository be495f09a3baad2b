package protocol

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// The RPC families have specifications of their own, so most of a dialect is the same for every agent that speaks one.
//
//go:embed dialects/*.json
var familyDialects embed.FS

// FamilyDialect gives the dialect that a family has by itself; false where every agent needs its own.
func FamilyDialect(family contract.Family) (contract.Dialect, bool, error) {
	var d contract.Dialect
	if !family.IsRPC() {
		return d, false, nil
	}
	data, err := familyDialects.ReadFile("dialects/" + family.Dir() + ".json")
	if err == nil {
		err = json.Unmarshal(data, &d)
	}
	if err != nil {
		return d, false, fmt.Errorf("the dialect of family %s: %w", family, err)
	}
	return d, true, nil
}

// Extend gives the dialect that an agent's own entries make of the family's: rules of the agent come first, lists are
// joined, and an entry of the agent takes the place of one of the family at the same key.
func Extend(family, own contract.Dialect) contract.Dialect {
	d := own
	d.Extends = ""
	d.EventType = append(append([]contract.EventTypeRule{}, own.EventType...), family.EventType...)
	for _, list := range []struct {
		into         *[]string
		first, added []string
	}{
		{&d.Opaque, family.Opaque, own.Opaque}, {&d.Maps, family.Maps, own.Maps}, {&d.IDs, family.IDs, own.IDs}, {&d.Numbers, family.Numbers, own.Numbers},
		{&d.Diagnostics, family.Diagnostics, own.Diagnostics}, {&d.Base64, family.Base64, own.Base64}, {&d.Deltas, family.Deltas, own.Deltas}, {&d.JSONDeltas, family.JSONDeltas, own.JSONDeltas},
	} {
		*list.into = append(append([]string(nil), list.first...), list.added...)
	}
	d.Unions = append(append([]contract.UnionRule(nil), family.Unions...), own.Unions...)
	d.Ambient = append(append([]contract.AmbientRule(nil), family.Ambient...), own.Ambient...)
	d.Pairs = append(append([]contract.PairRule(nil), family.Pairs...), own.Pairs...)
	d.Enums = maps.Clone(family.Enums)
	if d.Enums == nil {
		d.Enums = map[string][]string{}
	}
	maps.Copy(d.Enums, own.Enums)
	if d.Session == "" {
		d.Session = family.Session
	}
	if len(d.Terminal.Events) == 0 {
		d.Terminal = family.Terminal
	}
	ours := map[string]bool{}
	for _, e := range own.Events {
		ours[e.EventType] = true
	}
	for _, e := range family.Events {
		if !ours[e.EventType] {
			d.Events = append(d.Events, e)
		}
	}
	return d
}
