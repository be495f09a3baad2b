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

// A record that is no file is named and not passed over: nothing else would say why its agent is missing.
func TestCatalogFilesAreFiles(t *testing.T) {
	for name, spoil := range map[string]func(string) error{
		"pipe":   func(p string) error { return syscall.Mkfifo(p, 0o644) },
		"link":   func(p string) error { return os.Symlink("other", p) },
		"folder": func(p string) error { return os.Mkdir(p, 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := errors.Join(os.MkdirAll(filepath.Join(dir, "registry", "agents"), 0o755), os.Mkdir(filepath.Join(dir, "probes"), 0o755), spoil(filepath.Join(dir, "registry", "agents", "x.json"))); err != nil {
				t.Fatal(err)
			}
			if _, err := OpenCheckout(dir); err == nil || !strings.Contains(err.Error(), "agents/x.json") {
				t.Errorf("want an error that names the file, got %v", err)
			}
		})
	}
}
