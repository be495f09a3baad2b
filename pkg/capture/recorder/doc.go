// Package recorder stands in a host's place for an agent: it starts the agent, passes every byte on in both directions,
// and records what it passed.
//
// Two processes do that. Run is the one that the host started: it starts the agent, passes signals on and ends as the
// agent ends. Keep is a second one, in a session of its own, that holds the pipes: it outlives the first where something
// that the agent started still holds its output, and where the host kills the first.
package recorder
