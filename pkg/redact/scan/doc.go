// Package scan is the second gate of redaction: it proves that a sanitized transcript, or any file about to be
// published, holds no secret, in whatever form the secret was written.
//
// A Scanner looks for four things: the canaries of a run, values known to be private (user, host, home, the
// values of secret variables), the default rules of gitleaks, and the rules of this package (see Rules). It looks
// in the data as it stands and in every decoded form of it, to a fixpoint: JSON and C escapes, percent encoding,
// terminal escape sequences, tokens wrapped over lines, UTF-16, and runs of base64, base64url and hexadecimal at
// any alignment.
//
// The scanner fails closed. Decoding is bounded (see MaxBytes, MaxDepth, Budget); data that goes beyond a bound
// is reported as a hit of RuleLimit, never passed over. There is no allow-list that a scanned text could invoke:
// the placeholders which the redactor emits are chosen so that no rule matches them, and the few exceptions of a
// rule must equal the whole matched value.
//
// A Hit says which rule matched, where and in which encoding. It never holds the value, so it is safe to print.
package scan
