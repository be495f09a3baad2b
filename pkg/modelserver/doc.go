// Package modelserver is the scripted model server: a model endpoint on loopback that plays a probe's script.
//
// A real CLI is pointed at BaseURL and asks for answers as it would ask its vendor. Each model request takes one
// step of the script; nothing that the CLI sends changes the answer, except that a tool step calls the first
// candidate tool that the CLI itself offered. So the same script gives the same bytes, run after run: ids come
// from a counter, times from the configuration, and no clock or random number is read.
//
// The base URL carries a path prefix that only this run knows, and the Host header must be the server's own
// address: whatever else on the machine reaches the port gets 404, takes no step and is a finding.
//
// CLIs also ask for things beside the conversation: a title, a topic, whether there is quota left. What tells such
// a side request is data of the agent's mode; it gets a fixed answer and takes no step.
//
// A model API is a dialect, one file each; the server knows steps, limits and connections and no wire format.
package modelserver
