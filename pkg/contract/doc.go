// Package contract defines the records of the registry: what each one holds, which values are legal, how a
// record is hashed, and how a file is validated against all of that.
//
// One Go definition per record is the source of everything else: the JSON Schemas under registry/schemas, the
// TypeScript types of the npm package, and the validation that this package runs. The package imports nothing
// else of this module, so every stage can speak in its types.
package contract

//go:generate go run ./schemagen/cmd
