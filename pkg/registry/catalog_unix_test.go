//go:build unix

package registry

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is no ordinary file is named, and never waited for.
func TestProbeFilesAreFiles(t *testing.T) {
	for name, spoil := range map[string]func(string) error{
		"pipe":   func(p string) error { return syscall.Mkfifo(p, 0o644) },
		"folder": func(p string) error { return os.Mkdir(p, 0o755) },
		"huge":   func(p string) error { return errors.Join(os.WriteFile(p, nil, 0o644), os.Truncate(p, 1<<30)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := errors.Join(os.Mkdir(filepath.Join(dir, "p"), 0o755), spoil(filepath.Join(dir, "p", "script.json"))); err != nil {
				t.Fatal(err)
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close() //nolint:errcheck // read only
			_, problems, err := loadProbe(root.FS(), "p")
			if err != nil || !strings.Contains(problems.Error(), "probes/p/script.json") || !strings.Contains(problems.Error(), "probe/file") {
				t.Errorf("%v, %v", problems, err)
			}
		})
	}
}
