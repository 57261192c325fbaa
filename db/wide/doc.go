// Package wide serialises wide-column entities, the values of
// TypeWideColumnEntity entries.
//
// Main functions: Serialize and SerializeV2, Deserialize,
// GetValueOfDefaultColumn, ResolveEntityBlobColumns.
//
// Invariants: columns are in strictly ascending bytewise order of names; the
// default column, whose name is empty, is therefore the first where it is
// there at all. There are no locks.
//
// Read wide_column_serialization.go first.
package wide
