package contract

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// MigrationKey says what a migration reads: records of a kind whose schema_version is From.
type MigrationKey struct {
	Kind Kind
	From int
}

// Migrations turn records of other schema versions into records of SchemaVersion. A migration returns the record's
// new JSON, with another schema_version; several may follow each other. This release ships none.
type Migrations map[MigrationKey]func(data []byte) ([]byte, error)

// Validator validates records. The zero value knows no migrations.
type Validator struct {
	Migrations Migrations
}

// Validate checks one record of a file: strict JSON, schema version, JSON Schema, then the rules of its kind. The
// file name is for messages; of a transcript its folder also names the family. All problems are reported, but later
// stages run only on what passed the earlier ones.
func Validate(kind Kind, file string, data []byte) Problems {
	return Validator{}.Validate(kind, file, data)
}

// Validate is the function Validate with the validator's migrations.
func (v Validator) Validate(kind Kind, file string, data []byte) Problems {
	if kind == KindTranscript {
		return ValidateTranscript(file, familyOfPath(file), bytes.NewReader(data))
	}
	_, problems := v.load(kind, file, data)
	return problems
}

// Decode validates a record and reads it into the type of its kind, with the defaults of absent fields filled in:
// writing it again may therefore add fields. The record is the zero value when there are problems.
func Decode[T any](kind Kind, file string, data []byte) (T, Problems) {
	return DecodeWith[T](Validator{}, kind, file, data)
}

// DecodeWith is Decode with the migrations of a validator.
func DecodeWith[T any](v Validator, kind Kind, file string, data []byte) (T, Problems) {
	var zero T
	record, problems := v.load(kind, file, data)
	if len(problems) > 0 {
		return zero, problems
	}
	typed, ok := record.(T)
	if !ok {
		return zero, Problems{{File: file, Rule: "json/kind", Message: fmt.Sprintf("a record of kind %s is no %T", kind, zero), Remedy: "decode it into the type of its kind"}}
	}
	if d, ok := any(&typed).(interface{ applyDefaults() }); ok {
		d.applyDefaults()
	}
	return typed, nil
}

// load validates a record and returns it in the type of its kind, without defaults.
func (v Validator) load(kind Kind, file string, data []byte) (any, Problems) {
	data, value, problems := v.parse(kind, file, data)
	if len(problems) > 0 {
		return nil, problems
	}
	schema, err := schemaOf(kind)
	if err != nil {
		return nil, Problems{{File: file, Rule: "json/kind", Message: "the kind has no schema", Remedy: oneOf(Kind("").Values())}}
	}
	if problems := schema.check(file, value); len(problems) > 0 {
		return nil, problems.Sort()
	}
	record, err := decodeKind(kind, data)
	if err != nil {
		return nil, Problems{decodeProblem(file, err)}
	}
	for _, rule := range rulesOf(kind) {
		rule.check(record, func(pointer, message, remedy string) {
			problems = append(problems, Problem{file, 0, pointer, rule.ID, message, remedy})
		})
	}
	return record, problems.Sort()
}

// parse reads strict JSON and brings it to this release's schema version.
func (v Validator) parse(kind Kind, file string, data []byte) ([]byte, any, Problems) {
	for range len(v.Migrations) + 1 {
		value, problem := parseRecord(file, data)
		if problem != nil {
			return nil, nil, Problems{*problem}
		}
		version, higher := higherVersion(value)
		if !higher {
			return data, value, nil
		}
		migrate := v.Migrations[MigrationKey{kind, version}]
		if migrate == nil {
			break
		}
		migrated, err := migrate(data)
		if err != nil {
			return nil, nil, Problems{{file, 0, "/schema_version", "record/migration", "the migration of this schema version failed", "fix the record or the migration"}}
		}
		data = migrated
	}
	return nil, nil, Problems{{file, 0, "/schema_version", "record/schema-version", "the schema version is higher than this release knows, and no migration is registered for it",
		fmt.Sprintf("use %d, or a release that knows the version", SchemaVersion)}}
}

// higherVersion reads a schema_version above ours. What is no whole number is left to the schema.
func higherVersion(value any) (int, bool) {
	object, _ := value.(map[string]any)
	version, ok := object["schema_version"].(float64)
	if !ok || version <= SchemaVersion || version != float64(int(version)) {
		return 0, false
	}
	return int(version), true
}

func parseRecord(file string, data []byte) (any, *Problem) {
	if len(data) > MaxRecordBytes {
		return nil, &Problem{File: file, Rule: "json/size", Message: "the record is too large", Remedy: fmt.Sprintf("keep it below %d bytes", MaxRecordBytes)}
	}
	value, err := parseStrict(data)
	switch {
	case errors.Is(err, errTooDeep):
		return nil, &Problem{File: file, Rule: "json/depth", Message: err.Error(), Remedy: fmt.Sprintf("nest at most %d levels", MaxRecordDepth)}
	case err != nil:
		return nil, &Problem{File: file, Rule: "json/syntax", Message: err.Error(), Remedy: "write one JSON value in UTF-8 with unique keys and nothing after it"}
	}
	return value, nil
}

// strictDecode reads numbers and fields as the schema promised them.
var strictDecode = json.JoinOptions(jsonv1.OmitEmptyWithLegacySemantics(true), json.RejectUnknownMembers(true))

func decodeKind(kind Kind, data []byte) (any, error) {
	switch kind {
	case KindObservation:
		return decodeAs[Observation](data)
	case KindEvidence:
		return decodeAs[Evidence](data)
	case KindSourceEvidence:
		return decodeAs[SourceEvidence](data)
	case KindTranscript:
		return decodeAs[TranscriptLine](data)
	case KindShape:
		return decodeAs[Shape](data)
	case KindSupportMatrix:
		return decodeAs[SupportMatrix](data)
	case KindErrorCase:
		return decodeAs[ErrorCase](data)
	case KindAgent:
		return decodeAs[Agent](data)
	case KindAgentsIndex:
		return decodeAs[AgentIndex](data)
	case KindReleases:
		return decodeAs[ReleaseList](data)
	case KindDiagnostics:
		return decodeAs[Diagnostics](data)
	case KindClient:
		return decodeAs[Client](data)
	case KindProbe:
		return decodeAs[Probe](data)
	case KindMinEvents:
		return decodeAs[MinEvents](data)
	case KindEnvPolicy:
		return decodeAs[EnvPolicy](data)
	case KindScript:
		return decodeAs[Script](data)
	case KindHostPolicy:
		return decodeAs[HostPolicy](data)
	}
	return nil, fmt.Errorf("the kind %q has no type", kind)
}

func decodeAs[T any](data []byte) (T, error) {
	var record T
	err := json.Unmarshal(data, &record, strictDecode)
	return record, err
}

// decodeProblem restates an error of typed decoding. What is left for it after the schema is a whole number that
// is written with a fraction or an exponent.
func decodeProblem(file string, err error) Problem {
	p := Problem{File: file, Rule: "json/number", Message: "the value is not written as its type needs it", Remedy: "write whole numbers without fraction and exponent"}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		p.Pointer = pointerTo(slices.Collect(semantic.JSONPointer.Tokens()))
	}
	return p
}
