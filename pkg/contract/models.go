package contract

import (
	"fmt"
	"regexp"
	"strings"
)

// ModelsForm is how a range of releases lists its models: arguments, and where the ids stand in what they print.
type ModelsForm struct {
	Releases string   `json:"releases,omitempty"`
	Argv     []string `json:"argv" jsonschema:"minItems=1,description=Arguments behind the executable; may hold the placeholders of a mode but those of the prompt"`
	Line     string   `json:"line,omitempty" jsonschema:"maxLength=300,description=Regular expression with one group: the id in a line of text"`
	Below    string   `json:"below,omitempty" jsonschema:"maxLength=200,description=Whole line above the list\\, which ends at an empty line; the whole text is the list where this is left out"`
	JSON     string   `json:"json,omitempty" jsonschema:"pattern=^\\$(\\[\\])?(\\.[A-Za-z0-9_]+(\\[\\])?)*$,description=In place of line: path of the ids in JSON: $.models[].id"`
}

// modelsPlaceholders are those of argv, without the prompt: nobody is asked anything.
var modelsPlaceholders = []string{"{cwd}", "{home}", "{model}", "{base_url}"}

var modelsRules = []Rule{
	ruleFor(KindAgent, "agent/models", "A listing of models says where the ids stand: in lines, by a pattern with one group, or in JSON.", func(a Agent, report reporter) {
		for i, form := range a.Models {
			at := pointer("models", i)
			switch {
			case (form.Line == "") == (form.JSON == ""):
				report(at, "the form reads neither or both of lines and JSON", "give line or json")
			case form.Below != "" && form.Line == "":
				report(at+"/below", "JSON has no line above a list", "leave it out")
			case form.Line != "":
				if _, err := form.Pattern(); err != nil {
					report(at+"/line", err.Error(), "write a regular expression in which one group is the id")
				}
			}
		}
	}),
}

// Pattern compiles Line.
func (f ModelsForm) Pattern() (*regexp.Regexp, error) {
	re, err := regexp.Compile(f.Line)
	if err == nil && re.NumSubexp() != 1 {
		err = fmt.Errorf("the pattern has %d groups", re.NumSubexp())
	}
	return re, err
}

// Steps are the steps of JSON; "[]" stands for every element.
func (f ModelsForm) Steps() []string {
	path := strings.ReplaceAll(strings.TrimPrefix(f.JSON, "$"), "[]", ".[]")
	return strings.Split(strings.TrimPrefix(path, "."), ".")
}
