// Package uniqueid gives table files identities that need no coordination.
//
// Main types: UniqueId64x2 and UniqueId64x3, the internal form, which cache
// keys and the MANIFEST use; its external form is what users see.
//
// Invariants: the values are stable for ever, being stored in MANIFESTs; the
// all-zero id is none; external and internal ids map one to one.
//
// Read GetSstInternalUniqueId in unique_id.go first.
package uniqueid
