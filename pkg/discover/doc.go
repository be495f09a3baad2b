// Package discover compares what the upstreams released with what the registry has observed: what is new, what is
// uncovered, what went stale, and what a capture should run next.
//
// It is a pure function of its inputs: release lists, tree, catalog and a time. It asks nobody.
package discover
