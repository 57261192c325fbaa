// No upstream twin: package documentation.

// Package format describes what every table file shares: block handles, index
// values, the footer, block trailers and their checksums.
//
// Main types: BlockHandle (an extent of a file), IndexValue (what an index
// block says of a data block), Footer (the file's last bytes), BlockContents
// (a block's bytes with their owner).
//
// Invariants: every decoder checks bounds and returns a Corruption; nothing
// here keeps the bytes it is given, except IndexValue's first key and
// BlockContents, which point into them.
//
// There are no locks. Read format.go, then footer.go, where the footer is
// drawn byte by byte.
package format
