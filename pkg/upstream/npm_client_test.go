package upstream

import (
	"errors"
	"testing"
)

func TestClientVersions(t *testing.T) {
	for _, tt := range []struct {
		name, junk, command, npm string
		want                     error
	}{
		{name: "both", junk: `{"npm":"11.2.0","node":"22.1.0","v8":"x"}`, npm: "11.2.0"},
		{name: "no npm", command: "no-such-npm", want: ErrNoNPM},
		{name: "no JSON", junk: "11.2.0", want: &NPMError{}},
		{name: "no version", junk: `{"npm":"::error::","node":"22.1.0"}`, want: &NPMError{}},
	} {
		n := newFake(t, &fakeWorld{Junk: tt.junk})
		n.Command = tt.command
		npm, _, err := n.ClientVersions(t.Context(), t.TempDir())
		var failed *NPMError
		if npm != tt.npm || (err == nil) != (tt.want == nil) || errors.Is(tt.want, ErrNoNPM) != errors.Is(err, ErrNoNPM) {
			t.Errorf("%s: npm %q, error %v", tt.name, npm, err)
		}
		if tt.want != nil && !errors.Is(tt.want, ErrNoNPM) && !errors.As(err, &failed) {
			t.Errorf("%s: error %v", tt.name, err)
		}
	}
}
