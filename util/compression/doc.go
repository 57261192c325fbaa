// No upstream twin: package documentation.

// Package compression holds the built-in compression of blocks: Snappy, zlib
// (raw deflate), bzip2, LZ4, LZ4HC and ZSTD, with dictionaries where
// the algorithms have them, and the streaming compression of the log.
//
// Main types: the built-in rocksdb.CompressionManager ("BuiltinV2"), of which
// GetBuiltinV2CompressionManager is the only one; Decompressor, its concrete
// decompressor, for callers that want no interface between; StreamingCompress
// and StreamingUncompress.
//
// A compressed block (compress_format_version 2) is
//
//	varint32   size of the uncompressed block; not for Snappy, whose own format
//	           begins with it
//	bytes      the algorithm's output: a raw LZ4 block, a raw deflate stream
//	           with a window of at most 16 KiB, a bzip2 file, a ZSTD frame
//
// Invariants: a decompressor fills exactly the size that the block declares or
// reports a corruption; a declared size that the algorithm cannot reach from
// the bytes present is refused before anything is allocated for it. LZ4 (fast)
// output is the same, byte for byte, as the C library's.
//
// Compressors and decompressors are safe for concurrent use; working areas
// belong to one goroutine. Encoders and decoders are pooled, so that blocks
// cost no allocation once warm. Read compression.go first.
package compression
