// Package rangedel answers which keys range tombstones cover.
//
// Main types:
//   - FragmentedRangeTombstoneList: a file's or memtable's tombstones cut at
//     each other's ends into fragments that do not overlap, each with the
//     sequence numbers of all tombstones over it.
//   - FragmentedRangeTombstoneIterator: a view of a list between two sequence
//     numbers (and below a timestamp).
//   - TruncatedRangeDelIterator: such a view within a file's key bounds.
//   - ReadRangeDelAggregator and CompactionRangeDelAggregator: many of these,
//     asked key by key in one direction.
//
// Invariants:
//   - Fragments are ordered by start key and do not overlap; the sequence
//     numbers of one are in descending order, and so are its timestamps.
//   - With user-defined timestamps, fragments' bounds carry the greatest
//     timestamp and tombstones' own timestamps stand beside their sequence
//     numbers.
//   - A finished list is immutable and shared without locks; iterators and
//     aggregators belong to one goroutine.
//
// Read range_tombstone_fragmenter.go first.
package rangedel
