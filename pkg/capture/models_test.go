//go:build unix

package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/redact"
	"github.com/open-design/agent-cli-contracts/pkg/redact/scan"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

// listModels is the fake's listing: a model of its configuration, one of the model server, and what must not leave.
func listModels(args []string) {
	note, _ := os.ReadFile(os.Getenv("HOME") + "/settings.json")
	fmt.Println("Models as of today, for " + os.Getenv("HOME") + ":")
	if strings.HasPrefix(string(note), "{") {
		fmt.Println("- own/fake-model")
	}
	if resp, err := http.Get(args[0] + "/v1/models"); err == nil {
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if strings.Contains(string(body), `"fake-model"`) {
			fmt.Println("- served/fake-model")
		}
	}
	for _, word := range args[1:] {
		if word == "canary" {
			word = os.Getenv("PRIVATE_NOTE")
		}
		fmt.Println("- " + word)
	}
}

func modelsTarget(t *testing.T, more ...string) Target {
	t.Helper()
	target := fakeTarget(t, "")
	target.Probe = contract.Probe{ID: "model-probe", Expected: &contract.MinEvents{Kind: "models", MustSee: []contract.EventName{"models_listed"}, Exit: []contract.ExitClass{contract.ExitSuccess}}}
	target.Agent.HomeFiles = []contract.HomeFile{{Path: "settings.json", Lines: []string{"{}"}}}
	target.Agent.Models = []contract.ModelsForm{{Releases: "<2.0.0", Argv: append([]string{"fake-models", "{base_url}"}, more...), Line: `^- (.+)$`}}
	return target
}

func TestListedModelsAreVocabulary(t *testing.T) {
	c := newCapturer(t, true)
	c.Known = []scan.Known{{Value: "operator", Kind: "user", TokenOnly: true}}
	got, err := c.Capture(context.Background(), modelsTarget(t, "sold out", "operator", "vendor/large-2"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"own/fake-model", "served/fake-model", "vendor/large-2"}, got.Observation.Shape.Vocabulary.Models); diff != "" {
		t.Error(diff)
	}
	if o := got.Observation; o.Command.Mode != contract.ModeModels || o.ProtocolFamily != contract.FamilyPlain {
		t.Errorf("mode %s, family %s", o.Command.Mode, o.ProtocolFamily)
	}
	if len(got.Findings) != 1 || !strings.HasPrefix(got.Findings[0], "2 entries") {
		t.Errorf("findings %q", got.Findings)
	}
	fixtures, err := filepath.Glob(filepath.Join(c.Out, "registry/fixtures/plain/*"))
	if err != nil || len(fixtures) != 1 {
		t.Fatalf("%d fixtures, %v", len(fixtures), err)
	}
	data, err := os.ReadFile(fixtures[0])
	if err != nil || strings.Contains(string(data), "fake-model") || strings.Contains(string(data), "operator") || !strings.Contains(string(data), "<text>") {
		t.Errorf("the transcript keeps words of the listing, or: %v", err)
	}
}

func TestListingThatNamesNoModel(t *testing.T) {
	target := modelsTarget(t)
	target.Agent.Models[0].Line = `^\* (\S+)$`
	var none *NoModelsError
	if _, err := newCapturer(t, false).Capture(context.Background(), target); !errors.As(err, &none) {
		t.Errorf("got %v", err)
	}
	target = modelsTarget(t)
	target.Version, target.Agent.Models[0].Releases = "1.2.3", ">=2.0.0"
	var unfit *registry.UnfitError
	if _, err := newCapturer(t, false).Capture(context.Background(), target); !errors.As(err, &unfit) || !strings.Contains(err.Error(), "nothing says how this agent lists its models") {
		t.Errorf("a release without a listing: %v", err)
	}
}

// A listing is no way out for what the run must not tell.
func TestListingWithACanary(t *testing.T) {
	target := modelsTarget(t, "canary")
	c := newCapturer(t, false)
	var failure *redact.Failure
	got, err := c.Capture(context.Background(), target)
	if errors.As(err, &failure) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range got.Observation.Shape.Vocabulary.Models {
		if !strings.HasSuffix(id, "/fake-model") {
			t.Errorf("%q is in the vocabulary", id)
		}
	}
}
