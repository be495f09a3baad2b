package capture

import (
	"fmt"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func TestUnstableErrorListsDifferences(t *testing.T) {
	run := func(signature contract.Hash, paths ...string) contract.Shape {
		f := contract.FrameShape{Direction: contract.CLIToServer, Stream: "stdout", EventType: "item"}
		for _, p := range paths {
			f.Paths = append(f.Paths, contract.PathShape{Path: p, Type: "string", Required: true})
		}
		return contract.Shape{Signature: signature, FrameShapes: []contract.FrameShape{f}}
	}
	var many []string
	for i := range maxDifferences + 5 {
		many = append(many, fmt.Sprintf("$.k%02d", i))
	}
	e := &UnstableError{}
	for _, s := range []contract.Shape{run("sha256:aa"), run("sha256:bb", "$.x"), run("sha256:aa"), run("sha256:cc", many...)} {
		e.add(s)
	}
	got := e.Error()
	for _, want := range []string{"gave 3 shapes", "sha256:aa (2 runs)", "sha256:bb against the first:\n    item: path $.x: new (string)", "and 6 more differences"} {
		if !strings.Contains(got, want) {
			t.Errorf("the message lacks %q:\n%s", want, got)
		}
	}
	if n := strings.Count(got, "item: path"); n != maxDifferences {
		t.Errorf("%d differences listed, want %d", n, maxDifferences)
	}
}
