//go:build !unix

package scratch

// tryLock gives no lock: nothing is removed where nobody can tell whose it is.
func tryLock(string) (*Lock, error) { return &Lock{}, nil }

func mine(string) bool { return false }
