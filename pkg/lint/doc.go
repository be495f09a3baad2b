// Package lint holds the rules over a whole tree of records.
//
// A single record is checked by package contract; what needs other files, redaction, normalization or the scanner is
// checked here. A rule is a named value with an id and a purpose, in the file of its group; Rules lists them all.
// Every file is read once and every fixture is redacted and normalized once. What is found about the bytes of one file
// is a function of those bytes and of the file's path.
//
// A tree that lies over a base (registry.Tree.Overlay) is linted as what it would add to the base: references resolve
// in both, findings speak of the upper tree only, and it may hold no hand-written or generated file.
package lint
