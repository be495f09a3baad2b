// Package protocol knows the wire protocol families: how to drive a CLI through pipes that somebody else opened, how
// to split its output into frames, how a dialect names and reads a frame, and which neutral reference events frames
// mean to a host.
//
// A family owns framing and lifecycle. Everything that is particular to an agent's frames is a Dialect, which is
// data of the agent's record. The package never starts a process.
package protocol
