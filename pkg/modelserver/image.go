package modelserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// imageKinds are the types of the parts that hold an image, and imageKeys the members that hold one, in the model APIs.
var (
	imageKinds = map[string]bool{"input_image": true, "image_url": true, "image": true}
	imageKeys  = map[string]bool{"inlineData": true, "inline_data": true}
)

// hasImage reports whether a model request shows the model an image: a part of that type with the bytes of one. Text that is
// base64 is no image to a model.
func hasImage(body []byte) bool {
	if !mayHoldImage(body) {
		return false
	}
	var node any
	return json.Unmarshal(body, &node) == nil && findImage(node, false)
}

// magic are the first characters of PNG, JPEG, GIF and WebP in base64.
var magic = []string{"iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR"}

func mayHoldImage(body []byte) bool {
	for _, m := range magic {
		if bytes.Contains(body, []byte(m)) {
			return true
		}
	}
	return bytes.Contains(body, []byte(`\/9j\/`))
}

// findImage looks for an image in a value; inside says that the value is below a part for images.
func findImage(node any, inside bool) bool {
	switch v := node.(type) {
	case string:
		return inside && isImage(v)
	case []any:
		for _, e := range v {
			if findImage(e, inside) {
				return true
			}
		}
	case map[string]any:
		kind, _ := v["type"].(string)
		for key, e := range v {
			if findImage(e, inside || imageKinds[kind] || imageKeys[key]) {
				return true
			}
		}
	}
	return false
}

// isImage reports whether a text is an image in base64, alone or as a data URL.
func isImage(s string) bool {
	if url, ok := strings.CutPrefix(s, "data:image/"); ok {
		_, s, _ = strings.Cut(url, ";base64,")
	}
	for _, m := range magic {
		if strings.HasPrefix(s, m) {
			_, err := base64.StdEncoding.DecodeString(s)
			return err == nil
		}
	}
	return false
}
