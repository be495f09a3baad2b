//go:build !unix

package protocol

import "errors"

// readNow is for pipes with deadlines, which this system does not have.
func readNow(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }
