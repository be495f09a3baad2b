//go:build !linux

package capture

// stamp would name the state of a file; here it cannot be told, and the file is hashed again.
func stamp(string) string { return "" }
