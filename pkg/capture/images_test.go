//go:build unix

package capture

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
	"github.com/open-design/agent-cli-contracts/pkg/registry"
)

const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="

// see is the fake that is given an image: by an argument, in the prompt, or in a message. It shows it to the model unless the
// prompt says that it is blind, and repeats what it was given.
func see(baseURL, prompt string, args []string) {
	name := ""
	if i := slices.Index(args, "--image"); i >= 0 {
		name = args[i+1]
	}
	if _, at, ok := strings.Cut(prompt, "@"); ok {
		name = at
	}
	data, err := os.ReadFile(name)
	if err != nil {
		os.Exit(3)
	}
	url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(data)
	fmt.Printf(`{"type":"text","text":%q,"image":%q,"url":%q}`+"\n", prompt, name, url)
	if strings.Contains(prompt, "blind") {
		url = name
	}
	body := strings.NewReader(`{"model":"fake-model","stream":true,"input":[{"content":[{"type":"input_image","image_url":"` + url + `"}]}]}`)
	if resp, err := http.Post(baseURL+"/v1/responses", "application/json", body); err == nil {
		_ = resp.Body.Close()
	}
	fmt.Println(`{"type":"end"}`)
}

func imageTarget(t *testing.T, prompt string, form contract.ImageForm) Target {
	t.Helper()
	target := fakeTarget(t, prompt)
	target.Probe.ID, target.Probe.Script.Expects = "image-attachment", "image"
	target.Probe.Host = &contract.HostPolicy{Permission: contract.PermissionAllow, Images: []contract.Image{{Name: "dot.png", MIMEType: "image/png", Base64: dot}}}
	target.Agent.Modes[0].Images = []contract.ImageForm{form}
	return target
}

func TestImageReachesTheModel(t *testing.T) {
	for name, form := range map[string]contract.ImageForm{
		"argument": {Argv: []string{"--image", "{image}"}},
		"prompt":   {Prompt: "{prompt} @{image}"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCapturer(t, true)
			got, err := c.Capture(context.Background(), imageTarget(t, "see", form))
			if err != nil {
				t.Fatal(err)
			}
			if got.Evidence.ImageRequests != 1 || slices.Contains(got.Observation.Command.ArgvTemplate, "{image}") != (form.Prompt == "") {
				t.Errorf("%d images, argv %q", got.Evidence.ImageRequests, got.Observation.Command.ArgvTemplate)
			}
			data, err := os.ReadFile(filepath.Join(c.Out, "registry", string(registry.FixturePath(got.Observation.ProtocolFamily, got.Shape.Shape.Signature))))
			said := "see"
			if form.Prompt != "" {
				said = "see @dot.png"
			}
			for _, want := range []string{`\"text\":\"` + said + `\"`, `\"image\":\"dot.png\"`, `\"url\":\"data:image/png;base64,` + dot} {
				if err != nil || !strings.Contains(string(data), want) {
					t.Errorf("%v: the fixture lacks %s: %s", err, want, data)
				}
			}
		})
	}
}

func TestImageThatTheModelNeverGot(t *testing.T) {
	form := contract.ImageForm{Argv: []string{"--image", "{image}"}}
	var none *NoImageError
	if _, err := newCapturer(t, false).Capture(context.Background(), imageTarget(t, "see, blind", form)); !errors.As(err, &none) || none.Requests != 1 {
		t.Errorf("got %v", err)
	}
	form.LinkOnly = true
	got, err := newCapturer(t, false).Capture(context.Background(), imageTarget(t, "see, blind", form))
	if err != nil || got.Evidence.ImageRequests != 0 {
		t.Errorf("only told of it: %v", err)
	}
	target := imageTarget(t, "see", form)
	target.Agent.Modes[0].Images = nil
	var unfit *registry.UnfitError
	if _, err := newCapturer(t, false).Capture(context.Background(), target); !errors.As(err, &unfit) || !strings.Contains(err.Error(), "nothing says how a run is given an image") {
		t.Errorf("a mode without images: %v", err)
	}
}
