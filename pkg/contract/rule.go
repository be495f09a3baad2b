package contract

import (
	"slices"
)

// Rule is one condition that a record must meet besides its JSON Schema.
type Rule struct {
	ID      string // stable: a Problem names it
	Purpose string // one sentence
	Kinds   []Kind // the kinds that it looks at

	check func(record any, report reporter)
}

// reporter takes one violation: where, what is wrong, what to do.
type reporter func(pointer, message, remedy string)

// ruleFor makes a rule about records of one type.
func ruleFor[T any](kind Kind, id, purpose string, check func(T, reporter)) Rule {
	return Rule{ID: id, Purpose: purpose, Kinds: []Kind{kind}, check: func(record any, report reporter) { check(record.(T), report) }}
}

// Rules lists the rules that look at one record, in the order of the records in the specification.
func Rules() []Rule { return slices.Clone(allRules) }

var allRules = slices.Concat(
	observationRules, evidenceRules, sourceEvidenceRules, shapeRules, matrixRules, errorCaseRules,
	agentRules, modelsRules, modeRules, imageRules, dialectRules, indexRules, releaseRules, diagnosticsRules, clientRules, probeRules,
)

// rulesOf selects the rules of a kind.
func rulesOf(kind Kind) []Rule { return rulesByKind[kind] }

var rulesByKind = func() map[Kind][]Rule {
	byKind := map[Kind][]Rule{}
	for _, rule := range allRules {
		for _, kind := range rule.Kinds {
			byKind[kind] = append(byKind[kind], rule)
		}
	}
	return byKind
}()
