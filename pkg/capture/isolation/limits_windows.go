package isolation

import "io/fs"

func allocated(info fs.FileInfo) int64 { return info.Size() }

// freeOf tells nothing: what the folders hold is counted all the same.
func freeOf([]string) free { return nil }
