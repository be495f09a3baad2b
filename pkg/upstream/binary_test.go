package upstream

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

func TestHashFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "cli")
	content := strings.Repeat("0123456789", 10_000)
	write(t, path, content)
	before, err := HashFile(path)
	if err != nil || before != contract.HashBytes([]byte(content)) {
		t.Fatalf("HashFile = %s, %v", before, err)
	}
	write(t, path, content+"x")
	if after, err := HashFile(path); err != nil || after == before {
		t.Errorf("an updated file: %s, %v", after, err)
	}
	if _, err := HashFile(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an absent file: %v", err)
	}
	var wrong *BinaryError
	if _, err := HashFile(dir); !errors.As(err, &wrong) {
		t.Errorf("a folder: %v", err)
	}
}

func TestBinaryPlatform(t *testing.T) {
	tests := []struct{ name, head, want string }{
		{"ELF x64", "\x7fELF" + strings.Repeat("\x00", 14) + "\x3e\x00", "linux-x64"},
		{"ELF arm64", "\x7fELF" + strings.Repeat("\x00", 14) + "\xb7\x00", "linux-arm64"},
		{"ELF of another machine", "\x7fELF" + strings.Repeat("\x00", 14) + "\x08\x00", "linux"},
		{"ELF cut short", "\x7fELF\x00", ""},
		{"Mach-O x64", "\xcf\xfa\xed\xfe\x07\x00\x00\x01", "darwin-x64"},
		{"Mach-O arm64", "\xcf\xfa\xed\xfe\x0c\x00\x00\x01", "darwin-arm64"},
		{"Mach-O universal", "\xca\xfe\xba\xbe\x00\x00\x00\x02", ""},
		{"PE", "MZ\x90\x00", "win32"},
		{"script", "#!/usr/bin/env node\n", ""},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := binaryPlatform([]byte(tt.head)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCheckBinaryRefusesLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(dir, "cli")); err != nil {
		t.Skip("this system makes no links:", err)
	}
	var wrong *BinaryError
	if _, err := checkBinary(dir, "cli", "linux-x64"); !errors.As(err, &wrong) || wrong.Problem != "not a regular file" {
		t.Errorf("got %v", err)
	}
}
