// Package capture makes one observation of a real CLI: it installs or takes an executable, runs it in a place of its
// own against the scripted model server, records both sides, redacts, normalizes, checks what the probe must see, and
// writes the records as one transaction.
//
// Read it in the order of Capturer.Capture: prepare, version, drive, judge, observe, write.
package capture
