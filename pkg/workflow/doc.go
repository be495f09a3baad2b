// Package workflow speaks the protocol of the GitHub Actions runner: inputs from the environment, commands on standard
// output, files for outputs, environment, path, state and summary, and the OIDC token endpoint.
//
// Names and meaning are those of sethvargo/go-githubactions, so that an import can replace this package. What differs:
//
//   - New reads nothing of the process by itself: pass WithWriter(os.Stdout) and WithGetenv(os.Getenv).
//   - A fault of a method without a result does not panic: it is kept, and Err returns it.
//   - The deprecated commands (set-output, set-env, add-path, save-state) are never printed, not even as a fallback.
//   - The delimiter of a multi-line value is random and proven not to occur in the value, so that no value can add an
//     output of its own; Infof breaks up anything in its text that the runner would read as a command.
//   - GetIDToken masks the token before it returns it.
package workflow
