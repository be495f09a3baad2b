package isolation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// owners lends directories to the child's user. The zero value lends nothing.
type owners struct {
	dirs   []string
	before map[string]syscall.Stat_t // of the directories themselves
}

// give makes nobody the owner of the directories and of all that is in them.
func (o *owners) give() error {
	for _, dir := range o.dirs {
		if _, known := o.before[dir]; !known {
			info, err := os.Stat(dir)
			if err != nil {
				return fmt.Errorf("giving a run folder to the child: %w", err)
			}
			if o.before == nil {
				o.before = map[string]syscall.Stat_t{}
			}
			o.before[dir] = *info.Sys().(*syscall.Stat_t)
		}
		err := chownTree(dir, nobody, nobody, func(s *syscall.Stat_t) bool { return s.Uid != nobody })
		if err != nil {
			return fmt.Errorf("giving the run folder %s to the child: %w", dir, err)
		}
	}
	return nil
}

// restore gives what belongs to nobody to the owner that its directory had before. The children must be dead.
func (o *owners) restore() error {
	var errs []error
	for dir, s := range o.before {
		err := chownTree(dir, int(s.Uid), int(s.Gid), func(s *syscall.Stat_t) bool { return s.Uid == nobody })
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the caller may have removed it
			errs = append(errs, fmt.Errorf("taking the run folder %s back from the child: %w", dir, err))
		}
	}
	return errors.Join(errs...)
}

// chownTree changes the owner of what which selects below and including dir. It follows no link and cannot
// leave dir, whatever a child has put there.
func chownTree(dir string, uid, gid int, which func(*syscall.Stat_t) bool) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // read only
	return fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !which(info.Sys().(*syscall.Stat_t)) {
			return nil
		}
		return root.Lchown(path, uid, gid)
	})
}
