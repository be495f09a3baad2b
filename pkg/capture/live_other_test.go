//go:build unix && !linux

package capture

func fakeLive(string) {}
