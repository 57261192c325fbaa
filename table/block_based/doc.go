// No upstream twin: package documentation.

// Package blockbased is the default table format: sorted key-value data in
// blocks of a few kilobytes, an index over them, filters, and meta blocks.
//
// A file is
//
//	data blocks        each followed by its trailer (compression type, checksum)
//	filter             one block, or partitions and their index
//	index              one block, or partitions and their index
//	dictionary         of compression, if there is one
//	range deletions    if there are any
//	properties
//	metaindex          names and handles of the blocks above
//	footer             see package table/format
//
// Main types:
//   - BlockBasedTableFactory: the options; makes readers and builders.
//   - BlockBasedTableBuilder: writes a file (builder*.go), with IndexBuilder and
//     FilterBlockBuilder.
//   - BlockBasedTable: reads a file (block_based_table_reader*.go); its blocks
//     come from the block cache or the file, in block_cache.go.
//   - BlockBasedTableIterator: index and data block iterators as one.
//   - BuiltinFilterPolicy and its kin: Bloom and Ribbon filters.
//
// Invariants:
//   - A block is verified against its checksum before a byte of it is used, and
//     a corruption names file and offset.
//   - A reader's open blocks are counted references: cache handles or owned
//     blocks. Close of an iterator gives its references back; a pinned value
//     takes its own.
//   - A file never changes, so readers need no lock; lookups with warm blocks
//     allocate nothing.
//
// The only lock is parallel compression's, in builder_write.go. Read
// block_based_table_builder.go for how a file is laid out, then
// block_based_table_reader.go.
package blockbased
