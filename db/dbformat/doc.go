// Package dbformat holds the format of internal keys and the small types that
// everything from the memtable to the tables speaks in.
//
// An internal key is the user key followed by 8 bytes, little endian:
// sequence number (56 bits) << 8 | value type. Internal keys are ordered by
// user key ascending, then by those 8 bytes descending, so that the newest
// version of a key comes first.
//
// Main types: ParsedInternalKey, InternalKeyComparator (concrete, with a
// direct path for bytewise order), LookupKey, IterKey, MergeContext,
// ReadCallback, SnapshotChecker.
//
// Invariant: the numbers of ValueType are on disk and frozen.
package dbformat
