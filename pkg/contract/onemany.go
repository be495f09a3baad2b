package contract

import "github.com/go-json-experiment/json"

// OneMany is a string or a non-empty list of strings in JSON.
type OneMany []string

// UnmarshalJSON reads both forms.
func (o *OneMany) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var one string
		if err := json.Unmarshal(data, &one); err != nil {
			return err
		}
		*o = OneMany{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(o))
}

// MarshalJSON writes a single value as a plain string. Like Marshal it escapes nothing for HTML.
func (o OneMany) MarshalJSON() ([]byte, error) {
	if len(o) == 1 {
		return json.Marshal(o[0])
	}
	return json.Marshal([]string(o))
}
