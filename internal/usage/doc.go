// Package usage tells benchmarks what the process has used. CPU time does not depend on what else the machine does, so
// that figures of a busy machine still mean something.
package usage
