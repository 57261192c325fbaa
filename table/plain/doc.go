// Package plain is the plain table format: rows one after the other, without
// blocks, compression or checksums, found through an index of prefixes. It is
// made for files that are mapped from memory.
//
// Main types: PlainTableBuilder and PlainTableReader; PlainTableKeyEncoder and
// PlainTableKeyDecoder, which know the rows (their format is in
// plain_table_key_coding.go); PlainTableIndexBuilder and PlainTableIndex (format
// in plain_table_index.go); PlainTableBloomV1; PlainTableFactory.
//
// A reader works in one of three modes. With a prefix extractor, a lookup hashes
// the key's prefix to a bucket of the index and goes on from there; iterators
// stay among the keys of a prefix. Without one (total order), the index is one
// bucket that is searched by halving. In full-scan mode there is no index, and
// all that works is to iterate from the first row.
//
// Invariants:
//   - Rows are in the order of internal keys, below 2 GiB of the file.
//   - Every offset in the index is that of a row that can be decoded without the
//     rows before it.
//   - Mapped keys and values point into the mapping, which lives until the reader
//     is closed, or longer while a value of an immortal table is pinned.
//
// There are no locks: a reader does not change after it was opened.
//
// Read plain_table_key_coding.go first, then plain_table_reader.go.
package plain
