// Package rocksdb (include/rocksdb) is the contract of the engine: options,
// plug-in interfaces, enums, errors and plain value types.
//
// Programs import the module's root, which re-exports all of this by alias;
// the engine's packages import this one and never the root. A type belongs
// here when it is an interface, an enum, a plain struct, or a value whose
// methods need nothing above package util. Defaults that need higher packages
// (table factory, memtable factory, Env) are nil here and filled in by
// db.SanitizeOptions.
//
// Invariants:
//   - Enum values that reach the disk are frozen; they carry upstream's numbers.
//   - A []byte handed to a method belongs to the caller again when the method
//     returns; one handed out is valid as its method's comment says.
//   - Implementations of the interfaces are safe for concurrent use unless
//     their comment says otherwise.
//
// Read status.go first, then options.go, then the interface at hand.
package rocksdb
