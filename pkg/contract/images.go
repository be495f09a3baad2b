package contract

import (
	"slices"
	"strings"
)

// ImageForm is how a run of a mode is given the image of a probe, for a range of releases. {image} is the image's name in the
// workspace, {image_base64} its content, {image_type} its media type. Hosts of RPC modes need no form: their frames have a place
// for it.
type ImageForm struct {
	Releases string         `json:"releases,omitempty"`
	Argv     []string       `json:"argv,omitempty" jsonschema:"minItems=1,description=Arguments behind those of the mode"`
	Prompt   string         `json:"prompt,omitempty" jsonschema:"maxLength=200,description=In place of the prompt\\, which is {prompt}"`
	Stdin    map[string]any `json:"stdin_message,omitempty" jsonschema:"description=In place of the mode's"`
	LinkOnly bool           `json:"link_only,omitempty" jsonschema:"description=The CLI is told where the image lies\\, and the model need not get it"`
}

var imagePlaceholders = []string{"{image}", "{image_base64}", "{image_type}"}

// texts hands over the texts of a form with where they stand.
func (f ImageForm) texts(each func(at, text string)) {
	for i, arg := range f.Argv {
		each(pointer("argv", i), arg)
	}
	each("/prompt", f.Prompt)
	eachText(f.Stdin, func(text string) { each("/stdin_message", text) })
}

func eachText(v any, each func(string)) {
	switch v := v.(type) {
	case string:
		each(v)
	case []any:
		for _, e := range v {
			eachText(e, each)
		}
	case map[string]any:
		for _, e := range v {
			eachText(e, each)
		}
	}
}

// Image is the image that the host attaches to the prompt; nil where it attaches none.
func (p Probe) Image() *Image {
	if p.Host == nil || len(p.Host.Images) == 0 {
		return nil
	}
	return &p.Host.Images[0]
}

// OnlyImages reports whether the host does nothing but attach images, which modes that are no RPC can do as well.
func (h HostPolicy) OnlyImages() bool {
	return len(h.Images) > 0 && (h.Permission == "" || h.Permission == PermissionAllow) && h.CancelAt == "" && len(h.MCPServers) == 0 && h.Script == nil
}

var imageRules = []Rule{
	ruleFor(KindAgent, "mode/images", "What gives a run an image names it, and keeps the prompt.", func(a Agent, report reporter) {
		for i, m := range a.Modes {
			for j, form := range m.Images {
				at := pointer("modes", i, "images", j)
				named := false
				form.texts(func(_, text string) {
					named = named || slices.ContainsFunc(imagePlaceholders[:2], func(p string) bool { return strings.Contains(text, p) })
				})
				switch {
				case m.Family.IsRPC():
					report(at, "the frames of this family have a place for images", "leave the form out")
				case !named:
					report(at, "the image has no place", "write {image} or {image_base64} in an argument, the prompt or the message")
				case form.Prompt != "" && !strings.Contains(form.Prompt, "{prompt}"):
					report(at+"/prompt", "the prompt has no place", "write {prompt} where its text stands")
				case len(form.Stdin) > 0 && (m.StdinMode != StdinJSONLOpen || !holdsPrompt(form.Stdin)):
					report(at+"/stdin_message", "the mode writes no JSON lines, or the prompt has no place", "write {prompt} where its text stands, in a mode of jsonl-open")
				}
			}
		}
	}),
}
