// Package util holds what every layer uses and nothing knows about databases:
// encodings of integers, checksums, hashes, random numbers, bit arithmetic, the
// built-in comparators and prefix extractors, filters' bit arithmetic, a heap,
// queues.
//
// Main types and functions:
//   - coding.go: fixed and variable-length integers, length-prefixed slices;
//     decoders of disk bytes check bounds and never allocate.
//   - crc32c.go, hash.go, xxph3.go, xxhash.go: checksums and hashes. Those said
//     to be part of file formats never change their values.
//   - comparator.go, slice.go: built-in rocksdb.Comparator and
//     rocksdb.SliceTransform.
//   - bloom_impl.go, dynamic_bloom.go, ribbon_*.go: filters over hashes.
//   - random.go: generators with C++'s numbers for a seed.
//
// Invariants: no function keeps a slice it is given, unless it says so; appending
// functions return the extended slice. Types are not safe for concurrent use
// unless they say so; none calls out while holding a lock.
//
// Read coding.go first.
package util
