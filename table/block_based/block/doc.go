// No upstream twin: package documentation.

// Package block builds and reads the blocks of a block-based table that hold
// keys and values: data, index, metaindex, properties and range deletion
// blocks.
//
// Main types: BlockBuilder (block_builder.go describes the format), Block (a
// parsed block and its memory), DataBlockIter, IndexBlockIter and MetaBlockIter
// (concrete iterators over one core, blockIter), DataBlockHashIndex,
// BlockPrefixIndex, CachableEntry (a reference on a block, cached or owned).
//
// Invariants:
//   - A reader trusts no byte of a block: each length and offset is checked
//     where it is used, and what does not fit is a corruption that ends the
//     iterator. No loop runs without consuming bytes.
//   - Block bytes lie outside the Go heap. They live as long as the Block, and
//     that as long as its cache handle or owner; an iterator may be used only
//     while its block lives.
//   - The iterators are reusable: initialised again they keep their buffers, so
//     that a seek or a step allocates nothing.
//
// There are no locks; a Block may be read by many goroutines, an iterator by
// one. Read block_builder.go, then block_iter.go.
package block
