// Package fakeagent is a small agent CLI, and a checkout whose only agent it is: what tests of whole stages capture in
// place of a real CLI. Only tests import it.
package fakeagent
