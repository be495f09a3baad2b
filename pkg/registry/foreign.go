package registry

import (
	"fmt"
	"path"
	"strings"
)

// Caps of what a stage hands over, as a folder or as an archive. A capture of every probe of a release has some fifty files.
const (
	MaxForeignFiles = 20_000
	MaxForeignBytes = 1 << 30
)

// Foreign refuses a tree that is larger than what one stage hands to another. Its entries are lint's to judge.
func (t *Tree) Foreign() error {
	if len(t.files) > MaxForeignFiles {
		return fmt.Errorf("%s: more than %d files: hand it over in parts", t.Name, MaxForeignFiles)
	}
	var sum int64
	for _, p := range t.files {
		info, err := t.root.Lstat(t.at[p])
		if err != nil {
			return err
		}
		if sum += info.Size(); sum > MaxForeignBytes {
			return fmt.Errorf("%s: more than %d bytes: hand it over in parts", t.Name, MaxForeignBytes)
		}
	}
	return nil
}

// folded are the paths and folders that a tree has, by a spelling that ignores case.
type folded struct {
	names map[string]string
	dir   string // the folder of the last path: sorted paths share it
}

// add reports whether a path is new and neither it nor a folder above it differs from another one only in case, or is a
// file here and a folder there.
func (f *folded) add(p string) bool {
	if f.names == nil {
		f.names = map[string]string{}
	}
	lower := strings.ToLower(p)
	if _, taken := f.names[lower]; taken {
		return false
	}
	if dir := path.Dir(p); dir != f.dir {
		for d := dir; d != "."; d = path.Dir(d) {
			name := d + "/" // a folder is never equal to a file
			switch known, taken := f.names[strings.ToLower(d)]; {
			case taken && known != name:
				return false
			case taken:
				// Those above it were looked at with it.
			default:
				f.names[strings.ToLower(d)] = name
				continue
			}
			break
		}
		f.dir = dir
	}
	f.names[lower] = p
	return true
}
