// Package compare says what new observations mean beside the known ones: each gets exactly one verdict, with the
// structural changes, the events that a parser lost and a report that a reviewer reads in a minute.
//
// A new observation is compared with known ones of the same agent, mode, probe and backend. Verdicts are rules in one
// table, the first that applies wins. Nothing here depends on the order of files or on the clock.
package compare
