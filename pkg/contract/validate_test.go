package contract

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kindOfTestFile reads "<name>.<kind>.json" and "<name>.<kind>.jsonl".
func kindOfTestFile(t *testing.T, name string) Kind {
	t.Helper()
	parts := strings.Split(name, ".")
	if len(parts) != 3 {
		t.Fatalf("testdata file %s is not named <name>.<kind>.json", name)
	}
	return Kind(parts[1])
}

// validate is Validate for test files, whose folder does not name the family of a transcript; the file name does.
func validate(kind Kind, file string, data []byte) Problems {
	if kind != KindTranscript {
		return Validate(kind, file, data)
	}
	family := FamilyJSONEvent
	if strings.Contains(file, "acp") {
		family = FamilyACP
	} else if strings.Contains(file, "pi-rpc") {
		family = FamilyPiRPC
	}
	return ValidateTranscript(file, family, strings.NewReader(string(data)))
}

func testFiles(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join("testdata", dir))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join("testdata", dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = data
	}
	return files
}

// The examples of the specification, with their placeholders filled in, and one record of each kind that has every
// field.
func TestValidExamples(t *testing.T) {
	kinds := map[Kind]bool{}
	for name, data := range testFiles(t, "valid") {
		kind := kindOfTestFile(t, name)
		kinds[kind] = true
		if problems := validate(kind, name, data); len(problems) > 0 {
			t.Errorf("a valid record has problems:\n%v", problems)
		}
	}
	for _, kind := range Kind("").Values() {
		if !kinds[Kind(kind)] {
			t.Errorf("testdata/valid has no %s", kind)
		}
	}
}
