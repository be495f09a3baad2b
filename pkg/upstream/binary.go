package upstream

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/open-design/agent-cli-contracts/pkg/contract"
)

// HashFile gives the SHA-256 of a regular file, read as a stream. A capture takes it before and after a run: a CLI
// that replaced itself in between is not the release that the observation names.
func HashFile(path string) (contract.Hash, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("hashing an executable: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("hashing an executable: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", &BinaryError{Path: path, Problem: "not a regular file", Remedy: "name the executable itself"}
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("hashing an executable: %w", err)
	}
	return contract.HashSum([sha256.Size]byte(sum.Sum(nil))), nil
}

// checkBinary hashes a freshly installed executable, after checking that it is one for the platform and making sure
// that every user may execute it: npm marks only what a package lists as its commands. bin is relative to dir, a
// folder that will not outlive an error; so errors name bin alone.
func checkBinary(dir, bin string, platform contract.Platform) (contract.Hash, error) {
	path := filepath.Join(dir, filepath.FromSlash(bin))
	wrong := func(problem string) error {
		return &BinaryError{Path: bin, Problem: problem, Remedy: "correct install in the agent's file, or take another version"}
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", wrong("npm installed no such file")
	}
	if err != nil {
		return "", fmt.Errorf("checking the executable: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", wrong("not a regular file")
	}
	head, err := readHead(path, 20)
	if err != nil {
		return "", fmt.Errorf("checking the executable: %w", err)
	}
	if found := binaryPlatform(head); found != "" && !strings.HasPrefix(string(platform), found) {
		return "", wrong("an executable for " + found + ", not for " + string(platform))
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o111 != 0o111 {
		if err := os.Chmod(path, info.Mode().Perm()|0o111); err != nil {
			return "", fmt.Errorf("marking the executable as one: %w", err)
		}
	}
	return HashFile(path)
}

// readHead reads the first bytes of a file; binaryPlatform looks at 20.
func readHead(path string, size int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	head := make([]byte, size)
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
}

// binaryPlatform gives the start of the Platform that an executable's first bytes speak of; "" for a script, a
// universal binary and anything else without a system of its own.
func binaryPlatform(head []byte) string {
	const machO64 = 0xfeedfacf
	switch {
	case len(head) >= 20 && string(head[:4]) == elf.ELFMAG:
		switch elf.Machine(binary.LittleEndian.Uint16(head[18:])) {
		case elf.EM_X86_64:
			return "linux-x64"
		case elf.EM_AARCH64:
			return "linux-arm64"
		}
		return "linux"
	case len(head) >= 8 && binary.LittleEndian.Uint32(head) == machO64:
		switch binary.LittleEndian.Uint32(head[4:]) {
		case 0x01000007: // CPU_TYPE_X86_64
			return "darwin-x64"
		case 0x0100000c: // CPU_TYPE_ARM64
			return "darwin-arm64"
		}
		return "darwin"
	case len(head) >= 2 && string(head[:2]) == "MZ":
		return "win32"
	}
	return ""
}
