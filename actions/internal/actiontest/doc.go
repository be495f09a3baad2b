// Package actiontest runs the actions' scripts: sessions with a real child process as the agent, in a checkout of their
// own, with the files that the runner gives a step. Only tests import it.
package actiontest
