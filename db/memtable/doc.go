// Package memtable is a column family's memtable: point entries and range
// tombstones in ordered containers of package memtable (the lower one, named
// rep here), with what the flush needs to know of them.
//
// Main types:
//   - MemTable: takes writes while it is active, then waits for its flush.
//   - LookupState: one point lookup's input and result; Get fills it in, over
//     the active memtable, the immutable ones and the history in turn.
//   - MemTableIterator, TimestampStrippingIterator: for reads and for flushes.
//   - MemTablePostProcessInfo: counters gathered by concurrent writers.
//
// Invariants:
//   - References are counted under the DB mutex; whoever drops the last one
//     calls Free, without the mutex. All slices handed out point into the arena
//     and are good until then.
//   - A memtable is flushed at most once: notRequested → requested (any writer)
//     → scheduled (the writer that MarkFlushScheduled tells true).
//   - Range tombstones go into a skip list of their own, always by concurrent
//     insert, since reads may add redundant ones.
//   - first sequence number 0 means that nothing was inserted. The earliest
//     sequence number is a lower bound of all that is or will be inserted.
//
// Locks, all leaves: immutable (state against redundant tombstones), rangeDel
// (exchange of the tombstone cache).
//
// Read memtable.go first, then memtable_add.go and memtable_get.go.
package memtable
