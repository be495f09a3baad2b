//go:build integration

package stage_test

import (
	"crypto/rand"
	"os"
	"testing"
	"time"

	"github.com/open-design/agent-cli-contracts/internal/stage"
)

// openReal is a stage on this checkout, with the user's own cache of installs and a fresh folder for what it makes.
func openReal(t *testing.T) *stage.Stage {
	t.Helper()
	cache, err := stage.DefaultCache()
	if err != nil {
		t.Fatal(err)
	}
	s, err := stage.Open(
		stage.Env{Getenv: os.Getenv, Now: time.Now, Random: rand.Reader, Progress: t.Logf},
		stage.Dirs{Checkout: "../..", Out: t.TempDir(), Cache: cache},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // read only
	return s
}
