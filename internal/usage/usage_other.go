//go:build !unix

package usage

import "time"

// CPU is not known on this system.
func CPU() time.Duration { return 0 }

// Children is not known on this system.
func Children() time.Duration { return 0 }

// PeakRSS is not known on this system.
func PeakRSS() int64 { return 0 }
