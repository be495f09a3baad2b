// Package upstream knows where the agents' CLIs ship: it lists what was released and installs one exact version.
//
// Each release source has its files, named after it; npm is the first. A source lists releases as contract
// records, newest first, and installs into a cache that later runs read without network.
//
// npm's own client does all the talking, so mirrors, proxies and credentials are what the user has set up for npm.
// Of its settings those of the user, the machine and the environment count. A project's .npmrc does not: the
// working directory may be a foreign checkout, and that file can point npm anywhere.
//
// An install never runs code of the package: lifecycle scripts are off, and what was installed is checked against
// what was asked for before it enters the cache. The executable's SHA-256 stands in the cache's marker and is
// compared each time the install is used; HashFile lets a caller do the same after a run, because a CLI that
// updates itself is no longer the release that was asked for.
package upstream
