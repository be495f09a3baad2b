//go:build !linux

package isolation

// LandlockABI is 0: only Linux has Landlock.
func LandlockABI() int { return 0 }
