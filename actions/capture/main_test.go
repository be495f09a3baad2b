//go:build unix

package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/open-design/agent-cli-contracts/actions/internal/actiontest"
	"github.com/open-design/agent-cli-contracts/internal/fakeagent"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"capture": main, "fake-agent": fakeagent.Main})
}

func TestScripts(t *testing.T) { actiontest.Scripts(t) }
