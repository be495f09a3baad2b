package contract

import (
	"bytes"
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	tests := map[string]string{
		// The examples of RFC 8785, sections 3.2.2 to 3.2.4.
		`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001], "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`: `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji","\u0080":"Control","\u00f6":"Latin"}`:                  "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin\",\"€\":\"Euro Sign\",\"😀\":\"Emoji\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
		`-0`:            `0`,
		`[1.0, 1e2]`:    `[1,100]`,
		` {"a" : {} } `: `{"a":{}}`,
		`"<&>"`:         `"<&>"`,
	}
	for in, want := range tests {
		got, err := Canonical([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("Canonical(%s)\n got %s, %v\nwant %s", in, got, err, want)
		}
	}
	secret := "s3cret"
	for name, in := range map[string]string{
		"overflow":       `{"s3cret":1e400}`,
		"negative":       `-1e400`,
		"duplicate key":  `{"s3cret":1,"s3cret":2}`,
		"escaped twin":   `{"s3cret":1,"\u00733cret":2}`,
		"invalid UTF-8":  "\"s3cret\xff\"",
		"lone surrogate": `"s3cret\ud800"`,
		"trailing text":  `{} "s3cret"`,
		"cut off":        `{"s3cret":`,
		"empty":          ``,
		"not JSON":       `s3cret`,
	} {
		got, err := Canonical([]byte(in))
		if err == nil {
			t.Errorf("%s: Canonical accepts it as %s", name, got)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error quotes the input: %v", name, err)
		}
	}
}

func TestMarshal(t *testing.T) {
	type record struct {
		B     string            `json:"b"`
		A     []string          `json:"a"`
		M     map[string]string `json:"m,omitempty"`
		N     *int              `json:"n"`
		Zero  int               `json:"zero,omitempty"`
		Links OneMany           `json:"links"`
	}
	got, err := Marshal(record{B: "<a & b>\u2028", M: map[string]string{"z": "1", "y": "2"}, Links: OneMany{"a&b"}})
	want := "{\n  \"b\": \"<a & b>\u2028\",\n  \"a\": [],\n  \"m\": {\n    \"y\": \"2\",\n    \"z\": \"1\"\n  },\n  \"n\": null,\n  \"links\": \"a&b\"\n}\n"
	if err != nil || string(got) != want {
		t.Errorf("Marshal: got %s, %v\nwant %s", got, err, want)
	}
	if _, err := Marshal(record{B: "\xff"}); err == nil {
		t.Error("Marshal writes a string that is not UTF-8")
	}
}

func TestSignature(t *testing.T) {
	shape := Shape{
		SchemaVersion: 1, ProtocolFamily: FamilyPlain, ValidityLevel: RuntimeObserved, Transport: TransportPlain, FrameCount: 1,
		EventTypes:  []string{"process.exit"},
		FrameShapes: []FrameShape{{Direction: FromProcess, Stream: FrameStream(StreamNone), EventType: "process.exit"}},
		StderrClass: StderrNone, Exit: ExitSuccess,
	}
	want := HashBytes([]byte(`{"event_types":["process.exit"],"exit":"success","frame_count":1,"frame_shapes":[{"direction":"process","enums":{},"event_type":"process.exit","paths":[],"stream":"none"}],"protocol_family":"plain/v1","schema_version":1,"stderr_class":"none","transport":"plain"}`))
	same := map[string]func(*Shape){
		"as it is":            func(*Shape) {},
		"promoted":            func(s *Shape) { s.ValidityLevel = Confirmed },
		"signed":              func(s *Shape) { s.Signature = want },
		"stderr_class absent": func(s *Shape) { s.StderrClass = "" },
	}
	for name, change := range same {
		s := shape
		change(&s)
		if got, err := s.ComputeSignature(); err != nil || got != want {
			t.Errorf("%s: signature %s, %v; want %s", name, got, err, want)
		}
	}
	s := shape
	s.Exit = ExitNonzero
	if got, _ := s.ComputeSignature(); got == want {
		t.Error("another exit class keeps the signature")
	}
	if _, err := SignatureOf([]byte(`[]`)); err == nil {
		t.Error("a list has a signature")
	}
}

func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`{"b":[1.50,"\u00e9"],"a":null}`))
	f.Add([]byte(`{"a":1e400}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := Canonical(data)
		if err != nil {
			return
		}
		twice, err := Canonical(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("canonical twice: %s, %v; once: %s", twice, err, once)
		}
	})
}
