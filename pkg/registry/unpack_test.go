package registry

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An entry of a test's archive.
type entry struct {
	name, content string
	mode          fs.FileMode // type bits
}

func zipped(t testing.TB, entries []entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(e.mode | 0o644)
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = io.WriteString(f, e.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func tarred(t testing.TB, entries []entry) []byte {
	t.Helper()
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	w := tar.NewWriter(gz)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o4755, Size: int64(len(e.content)), Typeflag: tar.TypeReg}
		switch e.mode {
		case fs.ModeDir:
			h.Typeflag = tar.TypeDir
		case fs.ModeSymlink:
			h.Typeflag, h.Linkname, h.Size, e.content = tar.TypeSymlink, e.content, 0, ""
		case fs.ModeIrregular: // stands for a hard link
			h.Typeflag, h.Linkname, h.Size, e.content = tar.TypeLink, e.content, 0, ""
		case fs.ModeNamedPipe:
			h.Typeflag = tar.TypeFifo
		case fs.ModeDevice:
			h.Typeflag = tar.TypeBlock
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// unpack puts an archive into a file, unpacks it, and returns what is there afterwards.
func unpack(t testing.TB, data []byte) (string, map[string]string, error) {
	t.Helper()
	parent := t.TempDir()
	archive, dir := filepath.Join(parent, "archive"), filepath.Join(parent, "out")
	if err := os.WriteFile(archive, data, 0o600); err != nil {
		t.Fatal(err)
	}
	err := Unpack(archive, dir)
	got := map[string]string{}
	_ = filepath.WalkDir(parent, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || p == archive {
			return err
		}
		info, _ := d.Info()
		if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 != 0 {
			t.Errorf("%s has mode %v", p, info.Mode())
		}
		content, _ := os.ReadFile(p)
		rel, _ := filepath.Rel(parent, p)
		got[filepath.ToSlash(rel)] = string(content)
		return nil
	})
	return dir, got, err
}

func TestUnpack(t *testing.T) {
	entries := []entry{
		{"observations/", "", fs.ModeDir},
		{"observations/codex/0.1.0/linux-x64/x.observation.json", "{}", 0},
		{"./shapes/a.json", "[]", 0},
		{"shapes/a.b/c+d_e@f.json", "", 0},
	}
	want := map[string]string{
		"out/observations/codex/0.1.0/linux-x64/x.observation.json": "{}", "out/shapes/a.json": "[]", "out/shapes/a.b/c+d_e@f.json": "",
	}
	for name, data := range map[string][]byte{"zip": zipped(t, entries), "tar": tarred(t, entries)} {
		_, got, err := unpack(t, data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestUnpackRefuses(t *testing.T) {
	good := entry{"shapes/good.json", "{}", 0}
	for _, tt := range []struct {
		name    string
		entries []entry
	}{
		{"a path upwards", []entry{{"../out2", "x", 0}}},
		{"a path upwards, later", []entry{{"a/../../b", "x", 0}}},
		{"a path without end", []entry{{strings.Repeat("a/", 200) + "x", "x", 0}}},
		{"a name without end", []entry{{strings.Repeat("a", 250) + "/" + strings.Repeat("b", 250) + "/" + strings.Repeat("c", 250), "x", 0}}},
		{"an absolute path", []entry{{"/etc/x", "x", 0}}},
		{"a drive", []entry{{"C:/x", "x", 0}}},
		{"a backslash", []entry{{`a\..\..\x`, "x", 0}}},
		{"a stream of Windows", []entry{{"a:b", "x", 0}}},
		{"a control character", []entry{{"a\x1b[31m", "x", 0}}},
		{"no text", []entry{{"a\xff", "x", 0}}},
		{"other letters that fold", []entry{{"ſ.json", "x", 0}}},
		{"an empty name", []entry{{"", "x", 0}}},
		{"a hidden file", []entry{{".pending-1/commit", "x", 0}}},
		{"a hidden folder below", []entry{{"shapes/.git/config", "x", 0}}},
		{"a device of Windows", []entry{{"shapes/nul.json", "x", 0}}},
		{"a folder with a dot at its end", []entry{{"shapes./a", "x", 0}}},
		{"a file with a dot at its end", []entry{{"shapes/a.", "x", 0}}},
		{"twice", []entry{{"a", "1", 0}, {"a", "2", 0}}},
		{"another case", []entry{{"shapes/a.json", "1", 0}, {"shapes/A.json", "2", 0}}},
		{"a folder in another case", []entry{{"shapes/a", "1", 0}, {"Shapes/b", "2", 0}}},
		{"a file in the place of a folder", []entry{{"a", "1", 0}, {"a/b", "2", 0}}},
		{"a folder in the place of a file", []entry{{"a/b", "1", 0}, {"a", "2", 0}}},
		{"a link", []entry{{"link", "/etc", fs.ModeSymlink}}},
		{"a path through a link", []entry{{"link", "/tmp", fs.ModeSymlink}, {"link/x", "x", 0}}},
		{"a hard link", []entry{{"hard", "../archive", fs.ModeIrregular}}},
		{"a pipe", []entry{{"pipe", "", fs.ModeNamedPipe}}},
		{"a device", []entry{{"disk", "", fs.ModeDevice}}},
	} {
		for form, pack := range map[string]func(testing.TB, []entry) []byte{"zip": zipped, "tar": tarred} {
			if form == "zip" && tt.entries[0].mode == fs.ModeIrregular {
				continue // zip has no hard links
			}
			dir, got, err := unpack(t, pack(t, append([]entry{good}, tt.entries...)))
			if err == nil || len(got) > 0 {
				t.Errorf("%s, %s: error %v, left %v", tt.name, form, err, got)
			} else if msg := err.Error(); strings.Contains(msg, "\x1b") || strings.Contains(msg, "\xff") {
				t.Errorf("%s, %s: the message quotes a name: %q", tt.name, form, err)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("%s, %s: the folder is left", tt.name, form)
			}
		}
	}
}

func TestUnpackBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 64 MB")
	}
	large := strings.Repeat("0", MaxFileSize+1)
	for form, data := range map[string][]byte{"zip": zipped(t, []entry{{"large", large, 0}}), "tar": tarred(t, []entry{{"large", large, 0}})} {
		if _, got, err := unpack(t, data); err == nil || len(got) > 0 {
			t.Errorf("%s: error %v, %d files", form, err, len(got))
		}
	}
	for name, data := range map[string][]byte{"empty": nil, "text": []byte("no archive"), "half": zipped(t, []entry{{"a", "b", 0}})[:30], "half of a tar": tarred(t, []entry{{"a", "b", 0}})[:40]} {
		if _, got, err := unpack(t, data); err == nil || len(got) > 0 {
			t.Errorf("%s: error %v, left %v", name, err, got)
		}
	}
}

// A directory of a zip archive, unlike its files, is read whole before anything is known of it.
func TestUnpackDirectoryBomb(t *testing.T) {
	one := make([]byte, 47)
	copy(one, "PK\x01\x02")
	one[28], one[46] = 1, 'a' // the name's length, and the name
	const entries = 10_000
	before, maxDirectoryWas := []byte("PK\x03\x04"), maxDirectory
	maxDirectory = 64 << 10
	defer func() { maxDirectory = maxDirectoryWas }()
	end := make([]byte, 22)
	copy(end, "PK\x05\x06")
	end[8], end[9], end[10], end[11] = entries&0xff, entries>>8, entries&0xff, entries>>8
	size := entries * len(one)
	end[12], end[13], end[14], end[16] = byte(size), byte(size>>8), byte(size>>16), byte(len(before))
	data := append(append(before, bytes.Repeat(one, entries)...), end...)
	if _, _, err := unpack(t, data); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("got error %v", err)
	}
	maxDirectory = 1 << 20 // it is the size that was refused
	if _, _, err := unpack(t, data); err == nil || strings.Contains(err.Error(), "directory") {
		t.Errorf("with room for it: %v", err)
	}
}

func FuzzUnpack(f *testing.F) {
	entries := []entry{{"shapes/a.json", "{}", 0}, {"link", "/etc", fs.ModeSymlink}}
	f.Add(zipped(f, entries))
	f.Add(tarred(f, entries))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, got, err := unpack(t, data); err != nil && len(got) > 0 {
			t.Errorf("error %v, left %v", err, got)
		}
	})
}

// No folder of a registry is far down; looking up what is costs the square of its depth.
func TestDeepFolders(t *testing.T) {
	dir := t.TempDir()
	deep := strings.Repeat("d/", maxDepth+5)
	if err := os.MkdirAll(filepath.Join(dir, deep), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, deep, "x.json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tree, err := OpenTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if len(tree.Strange) != 1 || strings.Count(tree.Strange[0], "/") != maxDepth || len(tree.Files("")) > 0 {
		t.Errorf("strange %q, files %q", tree.Strange, tree.Files(""))
	}
}

// Folders that differ only in case are one on some systems, and two here.
func TestStrangeFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"shapes/a/x.json", "shapes/A/y.json", "shapes/b/x.json"} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "shapes/a/y.json")); err == nil {
		t.Skip("this system takes them for one")
	}
	tree, err := OpenTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if diff := cmp.Diff([]string{"shapes/a/x.json"}, tree.Strange); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
